import { Budget, BudgetError, spendSize, withBudget } from '../../json/budget.ts';
import type { Json } from '../../json/value.ts';

/** Several times the largest resource that an API server stores. */
const limits = { steps: 400_000, bytes: 1 << 24 };

/** What to say about a value that is too large. */
export const tooLargeToCopy = 'the value to copy has more data than any resource may have';

/**
 * Whether a value is too large to be copied to another field. A copy shares its parts, so that thirty copies of a map into itself
 * stand for more fields than there is memory.
 */
export function isTooLargeToCopy(value: Json): boolean {
  try {
    withBudget(new Budget(limits), () => spendSize(value));
    return false;
  } catch (error) {
    if (error instanceof BudgetError) return true;
    throw error;
  }
}
