import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../json/value.ts';
import { defaultPolicyLimits, sizeProblem } from './policy-limits.ts';

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

describe('the size of a policy', () => {
  it.each<[string, JsonObject, RegExp | undefined]>([
    ['as many rules as allowed', policy(rules(defaultPolicyLimits.rules)), undefined],
    ['one more rule', policy(rules(defaultPolicyLimits.rules + 1)), /251 rules, more than 250/],
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

  it('can be raised', () => {
    expect(sizeProblem(policy(rules(251)), { ...defaultPolicyLimits, rules: 251 })).toBeUndefined();
  });

  it('is reported with the location of a file', () => {
    const source = { file: 'p.yaml', positionOf: () => ({ line: 7, column: 3 }) };
    const problem = sizeProblem(policy(rules(251)), defaultPolicyLimits, source);
    expect(problem).toMatchObject({ file: 'p.yaml', line: 7, pointer: '/spec/rules' });
  });
});
