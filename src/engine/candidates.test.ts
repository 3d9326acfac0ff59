import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { requestFor } from '../admission/resource-request.ts';
import { labelsOf } from '../json/metadata.ts';
import { loadDocuments } from '../policy/load.ts';
import { createSnapshot } from '../policy/registry.ts';
import { mutateSync } from './mutate.ts';
import { clusterPolicy, configMap, policySet } from './policies.testing.ts';

const labelRule = (name: string, clause: string, label: string): string => `- name: ${name}
  match: {any: [{resources: {kinds: [ConfigMap], ${clause}}}]}
  mutate: {patchStrategicMerge: {metadata: {labels: {${label}: "yes"}}}}
`;
const labelled = (label: string) => `selector: {matchLabels: {${label}: "yes"}}`;

function labelsAfter(...policies: readonly string[]): readonly string[] {
  const { object } = mutateSync(requestFor(configMap('x')), policySet(...policies).snapshot);
  return Object.keys(labelsOf(object ?? {}));
}

describe('a label that a policy adds', () => {
  it('selects later policies, and not earlier ones', () => {
    expect(
      labelsAfter(
        clusterPolicy('a', labelRule('r', labelled('one'), 'early')),
        clusterPolicy('b', labelRule('r', 'names: [x]', 'one')),
        clusterPolicy('c', labelRule('r', labelled('one'), 'two')),
        clusterPolicy(
          'd',
          labelRule('r', labelled('two'), 'three') + labelRule('s', labelled('three'), 'four'),
        ),
      ),
    ).toEqual(['one', 'two', 'three', 'four']);
  });

  it('selects none when a later rule of its policy fails', () => {
    const failing = `- name: fails
  match: {any: [{resources: {kinds: [ConfigMap]}}]}
  mutate: {patchStrategicMerge: {metadata: {name: other}}}
`;
    expect(
      labelsAfter(
        clusterPolicy('a', labelRule('r', 'names: [x]', 'one') + failing),
        clusterPolicy('b', labelRule('r', labelled('one'), 'two')),
        clusterPolicy('c', labelRule('r', 'names: [x]', 'three')),
      ),
    ).toEqual(['three']);
  });
});

it('the index loses no rule: results equal those of a run over all rules', () => {
  const word = fc.constantFrom('a', 'b', 'c', '*', 'a*', '?');
  const resources = fc.record(
    {
      kinds: fc.constantFrom(['ConfigMap'], ['*'], ['Secret', 'ConfigMap'], ['Secret']),
      names: fc.array(word, { minLength: 1, maxLength: 2 }),
      namespaces: fc.array(word, { minLength: 1, maxLength: 2 }),
      selector: fc.oneof(
        fc
          .dictionary(fc.constantFrom('k', 'l'), word, { minKeys: 1 })
          .map((matchLabels) => ({ matchLabels })),
        fc
          .record({
            key: fc.constantFrom('k', 'l'),
            operator: fc.constantFrom('In', 'NotIn'),
            values: fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 2 }),
          })
          .map((expression) => ({ matchExpressions: [expression] })),
      ),
    },
    { requiredKeys: ['kinds'] },
  );
  const blocks = fc.array(resources, { minLength: 1, maxLength: 2 });
  const rule = fc.record({
    mode: fc.constantFrom('any', 'all'),
    blocks,
    key: fc.constantFrom('k', 'l'),
    value: word,
  });
  const letter = fc.constantFrom('a', 'b', 'c');
  fc.assert(
    fc.property(
      fc.array(fc.array(rule, { minLength: 1, maxLength: 2 }), { minLength: 1, maxLength: 6 }),
      fc.record({
        name: letter,
        namespace: letter,
        labels: fc.dictionary(fc.constantFrom('k', 'l'), letter),
      }),
      (policies, metadata) => {
        const documents = policies.map((rules, index) =>
          JSON.stringify({
            apiVersion: 'kyverno.io/v1',
            kind: 'ClusterPolicy',
            metadata: { name: `p${index}` },
            spec: {
              rules: rules.map(({ mode, blocks: matched, key, value }, position) => ({
                name: `r${position}`,
                match: { [mode]: matched.map((each) => ({ resources: each })) },
                mutate: {
                  patchStrategicMerge: { metadata: { labels: { [key]: value.replaceAll(/[*?]/g, 'c') } } },
                },
              })),
            },
          }),
        );
        const loaded = loadDocuments([{ file: 'p.yaml', text: documents.join('\n---\n') }]);
        const snapshot = createSnapshot(loaded.policies);
        const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata };
        const request = requestFor(object);
        const indexed = mutateSync(request, snapshot);
        const all = mutateSync(request, {
          ...snapshot,
          candidates: () =>
            snapshot.policies.map((policy, position) => ({ policy, position, rules: policy.rules })),
        });
        expect(indexed.object).toEqual(all.object);
        expect(indexed.outcomes.map(({ policy, rule: { name } }) => `${policy.key} ${name}`)).toEqual(
          all.outcomes.map(({ policy, rule: { name } }) => `${policy.key} ${name}`),
        );
      },
    ),
    { numRuns: 100 },
  );
});
