import { stringifyJson } from '../json/json-text.ts';
import { formatPointer } from '../json/pointer.ts';
import { readObject, readObjects } from '../json/read-field.ts';
import { isArray, isObject, type Json, type JsonObject, type Path } from '../json/value.ts';
import type { Problem } from '../problem.ts';
import type { PolicySource } from './problem-collector.ts';

export interface PolicyLimits {
  readonly rules: number;
  /** Of the spec as JSON. */
  readonly bytes: number;
  /** Of one rule, including those of its loops and targets. */
  readonly contextEntries: number;
}

/**
 * Compiling blocks the event loop of a server, so the policies that it compiles have a limited size: any tenant may write one, and
 * reviews and the renewal of the Lease have to wait. At these limits compiling takes about a second.
 */
export const defaultPolicyLimits: PolicyLimits = { rules: 250, bytes: 256 * 1024, contextEntries: 100 };

/** Returns the limit that a policy or exception exceeds. */
export function sizeProblem(
  object: JsonObject,
  limits: PolicyLimits = defaultPolicyLimits,
  source?: PolicySource,
): Problem | undefined {
  const spec = readObject(object, 'spec') ?? {};
  const tooLarge = (path: Path, what: string, hint: string): Problem => ({
    code: 'KYM_INPUT_TOO_LARGE',
    severity: 'error',
    pointer: formatPointer(path),
    message: `${what}, the limit of a server`,
    hint,
    file: source?.file,
    ...source?.positionOf?.(path),
  });
  const rules = readObjects(spec, 'rules');
  if (rules.length > limits.rules)
    return tooLarge(
      ['spec', 'rules'],
      `the policy has ${rules.length} rules, more than ${limits.rules}`,
      'Split it into several policies, or raise --policy-rule-limit.',
    );
  const bytes = new TextEncoder().encode(stringifyJson(spec)).length;
  if (bytes > limits.bytes)
    return tooLarge(
      ['spec'],
      `the spec has ${bytes} bytes, more than ${limits.bytes}`,
      'Split it into several policies, or raise --policy-size-limit.',
    );
  for (const [index, rule] of rules.entries()) {
    const count = contextEntries(rule);
    if (count > limits.contextEntries)
      return tooLarge(
        ['spec', 'rules', index, 'context'],
        `the rule has ${count} context entries, more than ${limits.contextEntries}`,
        'Split it into several rules.',
      );
  }
  return undefined;
}

/** The context entries of a rule, including those of its loops and targets. */
function contextEntries(value: Json): number {
  if (isArray(value)) return value.reduce<number>((sum, item) => sum + contextEntries(item), 0);
  if (!isObject(value)) return 0;
  return Object.entries(value).reduce(
    (sum, [name, inner]) =>
      sum + (name === 'context' && isArray(inner) ? inner.length : contextEntries(inner)),
    0,
  );
}
