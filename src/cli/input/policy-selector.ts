import { checkPolicySelector } from '../../cluster/policies/choice.ts';
import { FieldPathError } from '../../patch/field-path/field-path.ts';
import { inputError } from '../../problem.ts';

/** Throws InputError for a --policy-selector that cannot be read. */
export function checkSelector(selector: string): void {
  try {
    checkPolicySelector(selector);
  } catch (error) {
    if (!(error instanceof FieldPathError)) throw error;
    throw inputError('KYM_USAGE', `--policy-selector: ${error.message}`);
  }
}
