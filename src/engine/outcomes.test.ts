import { describe, expect, it } from 'vitest';
import { explain } from '../index.ts';
import { clusterPolicy, configMap, configMapRule, policySet } from './policies.testing.ts';

const anyPatch = '{patchStrategicMerge: {metadata: {labels: {a: b}}}}';

async function reasonFor(rule: string, data: Record<string, string> = {}): Promise<unknown> {
  const [outcome] = await explain(configMap('game', data), policySet(clusterPolicy('p', rule)));
  return outcome?.status === 'skipped' ? outcome.reason : outcome?.status;
}

const matching = (resources: string, exclude = '') => `- name: r
  match: {any: [{resources: ${resources}}]}
  ${exclude}
  mutate: ${anyPatch}
`;

describe('why a rule did not apply', () => {
  it.each([
    ['kinds', '{kinds: [Pod]}', 'Pod', 'v1/ConfigMap'],
    ['names', '{kinds: [ConfigMap], names: ["prod-*"]}', 'prod-*', 'game'],
    ['namespaces', '{kinds: [ConfigMap], namespaces: [staging]}', 'staging', 'default'],
    ['operations', '{kinds: [ConfigMap], operations: [UPDATE]}', 'UPDATE', 'CREATE'],
  ])('names the match clause: %s', async (attribute, resources, expected, actual) => {
    expect(await reasonFor(matching(resources))).toEqual({
      type: 'match',
      clauses: [{ path: ['match', 'any', 0, 'resources', attribute], attribute, expected, actual }],
    });
  });

  it('names the exclude block', async () => {
    const rule = matching(
      '{kinds: [ConfigMap]}',
      'exclude: {any: [{resources: {names: [other]}}, {resources: {names: [g*]}}]}',
    );
    expect(await reasonFor(rule)).toEqual({ type: 'exclude', clause: ['exclude', 'any', 1] });
  });

  it('shows both operands of the precondition that failed', async () => {
    const rule = configMapRule(
      'r',
      anyPatch,
      `preconditions: {all: [{key: "{{ request.object.data.tier }}", operator: Equals, value: gold, message: only gold}]}`,
    );
    expect(await reasonFor(rule, { tier: 'silver' })).toMatchObject({
      type: 'preconditions',
      conditions: [{ operator: 'Equals', key: 'silver', value: 'gold', passed: false, message: 'only gold' }],
    });
  });

  it('names the anchor, its path and both values', async () => {
    const rule = configMapRule('r', '{patchStrategicMerge: {data: {(tier): "g*", x: y}}}');
    expect(await reasonFor(rule, { tier: 'silver' })).toEqual({
      type: 'anchor',
      misses: [{ anchor: '(tier)', path: ['data', 'tier'], expected: 'g*', actual: 'silver' }],
    });
  });

  it('reports the outcome of each foreach element', async () => {
    const rule = `- name: r
  match: {any: [{resources: {kinds: [ConfigMap]}}]}
  mutate:
    foreach:
    - list: "split(request.object.data.names, ',')"
      preconditions: {all: [{key: "{{ element }}", operator: NotEquals, value: skip}]}
      patchesJson6902: |-
        - {op: add, path: "/data/{{ element }}", value: "{{ elementIndex }}"}
`;
    const [outcome] = await explain(
      configMap('game', { names: 'a,skip,b' }),
      policySet(clusterPolicy('p', rule)),
    );
    expect(outcome).toMatchObject({
      status: 'applied',
      elements: [
        { index: [0], status: 'applied' },
        { index: [1], status: 'skipped', reason: { type: 'preconditions' } },
        { index: [2], status: 'applied' },
      ],
    });
  });

  it('gives the patch of just that rule', async () => {
    const rules =
      configMapRule('one', '{patchStrategicMerge: {data: {one: "1"}}}') +
      configMapRule('two', '{patchStrategicMerge: {data: {two: "2"}}}');
    const outcomes = await explain(configMap('game'), policySet(clusterPolicy('p', rules)));
    expect(outcomes.map((outcome) => outcome.status === 'applied' && outcome.patch)).toEqual([
      [{ op: 'add', path: '/data/one', value: '1' }],
      [{ op: 'add', path: '/data/two', value: '2' }],
    ]);
  });
});
