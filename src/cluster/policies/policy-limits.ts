import { Buffer } from 'node:buffer';
import { stringifyJson } from '../../json/json-text.ts';
import { readObject, readObjects } from '../../json/read-field.ts';
import { isArray, isObject, type Json, type JsonObject } from '../../json/value.ts';
import type { Problem } from '../../problem.ts';

/**
 * Compiling blocks the event loop, so the policies of a cluster have a limited size: any tenant may write one, and reviews
 * and the renewal of the Lease have to wait. At these limits compiling takes about a second.
 */
export const policyLimits = { bytes: 256 * 1024, rules: 250, contextEntries: 100 } as const;

/** Returns the limit that a policy or exception exceeds. */
export function sizeProblem(object: JsonObject): Problem | undefined {
  const spec = readObject(object, 'spec') ?? {};
  const tooLarge = (pointer: string, what: string, hint: string): Problem => ({
    code: 'KYM_INPUT_TOO_LARGE',
    severity: 'error',
    pointer,
    message: `${what}, the limit in a cluster`,
    hint,
  });
  const rules = readObjects(spec, 'rules');
  const hint = 'Split it into several policies.';
  if (rules.length > policyLimits.rules)
    return tooLarge(
      '/spec/rules',
      `the policy has ${rules.length} rules, more than ${policyLimits.rules}`,
      hint,
    );
  const bytes = Buffer.byteLength(stringifyJson(spec));
  if (bytes > policyLimits.bytes)
    return tooLarge('/spec', `the spec has ${bytes} bytes, more than ${policyLimits.bytes}`, hint);
  for (const [index, rule] of rules.entries()) {
    const count = contextEntries(rule);
    if (count > policyLimits.contextEntries)
      return tooLarge(
        `/spec/rules/${index}/context`,
        `the rule has ${count} context entries, more than ${policyLimits.contextEntries}`,
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
