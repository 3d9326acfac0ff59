import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../json/value.ts';
import { createPolicyCatalog } from './catalog.ts';
import { policyKinds } from './kinds.ts';
import { policyLimits, sizeProblem } from './policy-limits.ts';

const rule = (name: string, more: JsonObject = {}): JsonObject => ({
  name,
  match: { any: [{ resources: { kinds: ['ConfigMap'] } }] },
  mutate: { patchStrategicMerge: { metadata: { labels: { a: 'b' } } } },
  ...more,
});
const policy = (rules: readonly JsonObject[], more: JsonObject = {}): JsonObject => ({
  apiVersion: 'kyverno.io/v1',
  kind: 'Policy',
  metadata: { name: 'big', namespace: 'team', uid: 'u', generation: 1, ...more },
  spec: { rules: [...rules] },
});
const rules = (count: number) => Array.from({ length: count }, (_, index) => rule(`r${index}`));
const entries = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ name: `v${index}`, variable: { value: 1 } }));

describe('the size of a policy in a cluster', () => {
  it.each<[string, JsonObject, RegExp | undefined]>([
    ['as many rules as allowed', policy(rules(policyLimits.rules)), undefined],
    ['one more rule', policy(rules(policyLimits.rules + 1)), /251 rules, more than 250/],
    ['a long string', policy([rule('r', { preconditions: 'x'.repeat(300_000) })]), /bytes, more than 262144/],
    [
      'a long annotation, which is not compiled',
      policy(rules(1), { annotations: { a: 'x'.repeat(300_000) } }),
      undefined,
    ],
    ['many context entries', policy([rule('r', { context: entries(101) })]), /101 context entries/],
    [
      'many context entries in loops',
      policy([rule('r', { mutate: { foreach: [{ context: entries(60) }, { context: entries(60) }] } })]),
      /120 context entries/,
    ],
  ])('%s', (_, document, message) => {
    const problem = sizeProblem(document);
    if (message === undefined) expect(problem).toBeUndefined();
    else
      expect(problem).toMatchObject({ code: 'KYM_INPUT_TOO_LARGE', message: expect.stringMatching(message) });
  });

  it('keeps a policy with 4,000 rules from being compiled, and says so', () => {
    const catalog = createPolicyCatalog({ kinds: policyKinds });
    const kind = policyKinds.find((each) => each.kind === 'Policy') ?? policyKinds[0];
    if (kind === undefined) throw new Error('no kind');
    const startedAt = performance.now();
    catalog.set(kind, 'team/big', policy(rules(4_000)));
    expect(catalog.policies()).toEqual([]);
    expect(catalog.records()[0]?.problems[0]?.message).toMatch(/4000 rules/);
    expect(performance.now() - startedAt).toBeLessThan(1_000);
  });
});
