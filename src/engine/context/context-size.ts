import { EvaluationError } from '../../expression/scope.ts';
import { spendSteps } from '../../json/budget.ts';
import { isArray, isNumber, isObject, type Json } from '../../json/value.ts';

/** The current and maximum total size of the context entries of a request. */
export interface ContextBudget {
  used: number;
  /** In bytes. */
  readonly limit: number;
}

/** Adds the size of a context entry's value; throws when the limit is exceeded. */
export function chargeContext(budget: ContextBudget, value: Json): void {
  const total = budget.used + sizeOf(value, 0);
  if (total > budget.limit) {
    throw new EvaluationError(
      'KYM_CONTEXT_FAILED',
      `context size limit exceeded: ${total} bytes exceeds limit of ${budget.limit} bytes`,
    );
  }
  budget.used = total;
}

/** Shared data is the same object in every request, so its size is cached. */
const measured = new WeakMap<object, number>();
const measuredLevels = 2;

/** The length of the value as JSON; an escaped character counts as one. */
function sizeOf(value: Json, level: number): number {
  spendSteps(1);
  if (typeof value === 'string') return textSize(value) + 2;
  if (isNumber(value)) return String(value).length;
  if (!isArray(value) && !isObject(value)) return value === false ? 5 : 4;
  if (level >= measuredLevels) return sizeOfParts(value, level);
  const known = measured.get(value);
  if (known !== undefined) return known;
  const size = sizeOfParts(value, level);
  measured.set(value, size);
  return size;
}

function sizeOfParts(value: Extract<Json, object>, level: number): number {
  let size = 2;
  if (isArray(value)) {
    for (const item of value) size += sizeOf(item, level + 1) + 1;
    return size;
  }
  for (const key in value)
    size += key.length + 4 + sizeOf((value as Record<string, Json>)[key] ?? null, level + 1);
  return size;
}

function textSize(text: string): number {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
  if (/^[\x00-\x7f]*$/.test(text)) return text.length;
  let size = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    size += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return size;
}
