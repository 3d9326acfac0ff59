import { describe, expect, it } from 'vitest';
import { explain, mutate } from '../index.ts';
import { clusterPolicy, configMap, configMapRule, policySet } from './policies.testing.ts';

const label =
  '{patchStrategicMerge: {metadata: {labels: {seen: "{{ request.operation || \'BACKGROUND\' }}"}}}}';

describe('a run without a request', () => {
  it('B31: has no operation, so the usual guard yields BACKGROUND', async () => {
    const { object } = await mutate(
      configMap('a'),
      policySet(clusterPolicy('p', configMapRule('r', label))),
      {
        operation: null,
      },
    );
    expect(object?.['metadata']).toMatchObject({ labels: { seen: 'BACKGROUND' } });
  });

  it('does not match a block that lists operations', async () => {
    const rule = `- name: r
  match: {any: [{resources: {kinds: [ConfigMap], operations: [CREATE, UPDATE]}}]}
  mutate: ${label}
`;
    const [outcome] = await explain(configMap('a'), policySet(clusterPolicy('p', rule)), { operation: null });
    expect(outcome).toMatchObject({
      status: 'skipped',
      reason: { type: 'match', clauses: [{ attribute: 'operations', actual: 'none' }] },
    });
  });

  it.each([
    ['match', 'applied'],
    ['exclude', 'applied'],
  ])('has no user: subjects in %s do not decide', async (where, status) => {
    const subjects = '[{kind: User, name: somebody}]';
    const rule =
      where === 'match'
        ? `- name: r
  match: {any: [{resources: {kinds: [ConfigMap]}, subjects: ${subjects}}]}
  mutate: ${label}
`
        : configMapRule('r', label, `exclude: {any: [{subjects: ${subjects}}]}`);
    const [outcome] = await explain(
      configMap('a'),
      policySet(clusterPolicy('p', rule, 'background: false')),
      {
        operation: null,
      },
    );
    expect(outcome?.status).toBe(status);
  });
});
