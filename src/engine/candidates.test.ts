import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { requestFor } from '../admission/resource-request.ts';
import { labelsOf, metadataOf } from '../json/metadata.ts';
import type { JsonObject } from '../json/value.ts';
import { celCompilers } from '../policy/cel/language.ts';
import { loadDocuments } from '../policy/load.ts';
import { createSnapshot } from '../policy/registry/registry.ts';
import { mutateSync } from './mutate.ts';
import type { Outcome } from './outcome.ts';
import { clusterPolicy, configMap, configMapRule, policySet } from './policies.testing.ts';

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

it('an annotation that a policy adds selects later policies', () => {
  const annotated = (name: string, clause: string, annotation: string): string =>
    clusterPolicy(
      name,
      `- name: r
  match: {any: [{resources: {kinds: [ConfigMap], ${clause}}}]}
  mutate: {patchStrategicMerge: {metadata: {annotations: {${annotation}: "yes"}}}}
`,
    );
  const { object } = mutateSync(
    requestFor(configMap('x')),
    policySet(
      annotated('a', 'annotations: {one: "yes"}', 'early'),
      annotated('b', 'names: [x]', 'one'),
      annotated('c', 'annotations: {one: "yes"}', 'two'),
    ).snapshot,
  );
  expect(Object.keys(metadataOf(object ?? {})['annotations'] ?? {})).toEqual(['one', 'two']);
});

it('an annotation that no policy selects by leaves the candidates as they are', () => {
  const { snapshot } = policySet(
    clusterPolicy('a', configMapRule('r', '{patchStrategicMerge: {metadata: {annotations: {one: "yes"}}}}')),
  );
  let searches = 0;
  const candidates: typeof snapshot.candidates = (key) => {
    searches += 1;
    return snapshot.candidates(key);
  };
  const { outcomes } = mutateSync(requestFor(configMap('x')), { ...snapshot, candidates });
  expect(outcomes.map(({ status }) => status)).toEqual(['applied']);
  expect(searches).toBe(1);
});

it('a MutatingAdmissionPolicy is selected by the object before all of them', () => {
  const policy = (name: string, value: string): string =>
    JSON.stringify({
      apiVersion: 'admissionregistration.k8s.io/v1beta1',
      kind: 'MutatingAdmissionPolicy',
      metadata: { name },
      spec: {
        reinvocationPolicy: 'Never',
        matchConstraints: {
          objectSelector: { matchLabels: { app: value } },
          resourceRules: [
            { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] },
          ],
        },
        mutations: [
          {
            patchType: 'ApplyConfiguration',
            applyConfiguration: {
              expression: `Object{metadata: Object.metadata{labels: {"app": "after", "${name}": "yes"}}}`,
            },
          },
        ],
      },
    });
  const metadata = { name: 'x', namespace: 'default', labels: { app: 'before' } };
  const { object } = mutateSync(
    requestFor({ apiVersion: 'v1', kind: 'ConfigMap', metadata }),
    policySet(policy('a', 'before'), policy('b', 'before'), policy('c', 'after')).snapshot,
  );
  expect(Object.keys(labelsOf(object ?? {}))).toEqual(['app', 'a', 'b']);
});

const word = fc.constantFrom('a', 'b', 'c', '*', 'a*', '?');
const letter = fc.constantFrom('a', 'b', 'c');
const key = fc.constantFrom('k', 'l');
const labels = fc.dictionary(key, letter);
const listOf = <Item>(item: fc.Arbitrary<Item>) => fc.array(item, { minLength: 1, maxLength: 2 });
const expression = fc.oneof(
  fc.record({ key, operator: fc.constantFrom('In', 'NotIn'), values: listOf(letter) }),
  fc.record({ key, operator: fc.constantFrom('Exists', 'DoesNotExist') }),
);
const selectorOf = (value: fc.Arbitrary<string>) =>
  fc.oneof(
    fc.record({ matchLabels: fc.dictionary(key, value, { minKeys: 1 }) }),
    fc.record({ matchExpressions: listOf(expression) }),
  );

/** Few clauses: with many, hardly an object matches. */
const resources = fc
  .tuple(
    fc.constantFrom(['ConfigMap'], ['Secret', 'v1/ConfigMap'], ['*'], ['Namespace', 'ConfigMap'], ['Secret']),
    fc.array(
      fc.oneof(
        fc.record({ names: listOf(word) }),
        fc.record({ namespaces: listOf(word) }),
        fc.record({ operations: fc.constantFrom(['CREATE'], ['UPDATE']) }),
        fc.record({ annotations: fc.dictionary(key, word, { minKeys: 1 }) }),
        fc.record({ selector: selectorOf(word) }),
        fc.record({ namespaceSelector: selectorOf(word) }),
      ),
      { maxLength: 2 },
    ),
  )
  .map(([kinds, clauses]) => ({ kinds, ...Object.assign({}, ...clauses) }));
const userClauses = fc.oneof(
  { arbitrary: fc.constant({}), weight: 6 },
  fc.record({ subjects: listOf(fc.record({ kind: fc.constantFrom('User', 'Group'), name: word })) }),
  fc.record({ roles: listOf(letter.map((name) => `a:${name}`)) }),
  fc.record({ clusterRoles: listOf(letter) }),
);
const block = fc.tuple(resources, userClauses).map(([clauses, user]) => ({ resources: clauses, ...user }));
const filter = fc
  .tuple(fc.constantFrom('any', 'any', 'all'), listOf(block))
  .map(([mode, blocks]) => ({ [mode]: blocks }));

/** A change that may select other policies. */
const change = fc.record({ field: fc.constantFrom('labels', 'annotations'), key, value: letter });
/** Mostly one block, which may decide alone. */
const exclusion = fc.oneof(fc.constant({}), fc.record({ exclude: filter }));
const rule = fc
  .record({ match: filter, exclusion, change })
  .map(({ match, exclusion: excluded, change: { field, key: changed, value } }) => ({
    match,
    ...excluded,
    mutate: { patchStrategicMerge: { metadata: { [field]: { [changed]: value } } } },
  }));
const kyvernoPolicy = listOf(rule).map((rules) => ({
  apiVersion: 'kyverno.io/v1',
  kind: 'ClusterPolicy',
  spec: { background: false, rules: rules.map((each, index) => ({ name: `r${index}`, ...each })) },
}));
const namespacedPolicy = fc
  .record({ namespace: letter, selector: selectorOf(word), change })
  .map(({ namespace, selector, change: { field, key: changed, value } }) => ({
    apiVersion: 'kyverno.io/v1',
    kind: 'Policy',
    metadata: { namespace },
    spec: {
      rules: [
        {
          name: 'r',
          match: {
            any: [{ resources: { kinds: ['ConfigMap'], selector } }, { resources: { kinds: ['Secret'] } }],
          },
          mutate: { patchStrategicMerge: { metadata: { [field]: { [changed]: value } } } },
        },
      ],
    },
  }));

const resourceRule = fc
  .tuple(
    fc.record({
      apiGroups: fc.constant(['']),
      apiVersions: fc.constant(['v1']),
      operations: fc.constantFrom(['CREATE', 'UPDATE'], ['UPDATE']),
      resources: fc.constantFrom(['configmaps'], ['*'], ['secrets'], ['namespaces', 'configmaps']),
    }),
    fc.option(fc.uniqueArray(letter, { minLength: 1, maxLength: 2 }), { freq: 2 }),
  )
  .map(([own, names]) => (names === null ? own : { ...own, resourceNames: names }));
const constraints = fc
  .tuple(
    listOf(resourceRule),
    fc.oneof(
      fc.constant({}),
      fc.record({ objectSelector: selectorOf(letter) }),
      fc.record({ namespaceSelector: selectorOf(letter) }),
    ),
  )
  .map(([resourceRules, selectors]) => ({ resourceRules, ...selectors }));
const mutations = change.map(({ field, key: changed, value }) => [
  {
    patchType: 'ApplyConfiguration',
    applyConfiguration: {
      expression: `Object{metadata: Object.metadata{${field}: {"${changed}": "${value}"}}}`,
    },
  },
]);
const celPolicy = fc
  .record({ matchConstraints: constraints, mutations, namespace: fc.constantFrom(undefined, 'a') })
  .map(({ namespace, ...spec }) => ({
    apiVersion: 'policies.kyverno.io/v1beta1',
    kind: namespace === undefined ? 'MutatingPolicy' : 'NamespacedMutatingPolicy',
    metadata: { namespace },
    spec,
  }));
const admissionPolicy = fc.record({
  apiVersion: fc.constant('admissionregistration.k8s.io/v1beta1'),
  kind: fc.constant('MutatingAdmissionPolicy'),
  spec: fc.record({
    matchConstraints: constraints,
    mutations,
    reinvocationPolicy: fc.constantFrom('Never', 'IfNeeded'),
  }),
});
const binding = fc.tuple(fc.nat(5), constraints).map(([policy, matchResources]) => ({
  apiVersion: 'admissionregistration.k8s.io/v1beta1',
  kind: 'MutatingAdmissionPolicyBinding',
  spec: { policyName: `p${policy}`, matchResources },
}));
const exception = fc.tuple(fc.nat(5), filter).map(([policy, match]) => ({
  apiVersion: 'kyverno.io/v2',
  kind: 'PolicyException',
  metadata: { namespace: 'a' },
  spec: { exceptions: [{ policyName: `p${policy}`, ruleNames: ['*'] }], match },
}));
const documents = fc.array(
  fc.oneof(
    { arbitrary: kyvernoPolicy, weight: 3 },
    namespacedPolicy,
    celPolicy,
    { arbitrary: admissionPolicy, weight: 2 },
    binding,
    exception,
  ),
  { minLength: 1, maxLength: 8 },
);

const metadata = fc.record({ labels, annotations: labels });
const identity = fc.record(
  { name: letter, generateName: fc.constantFrom('a', 'ab-'), namespace: letter },
  { requiredKeys: [] },
);
const request = fc.record({
  kind: fc.constantFrom('ConfigMap', 'Namespace'),
  identity,
  metadata,
  old: fc.option(metadata),
  user: fc.option(
    fc.record({
      info: fc.record({ username: letter, groups: fc.array(letter, { maxLength: 2 }) }),
      roles: fc.array(
        letter.map((name) => `a:${name}`),
        { maxLength: 2 },
      ),
      clusterRoles: fc.array(letter, { maxLength: 2 }),
    }),
  ),
  namespaceLabels: labels,
});

it('the index loses no rule and no exception: results equal those of a run over all of them', () => {
  fc.assert(
    fc.property(
      documents,
      request,
      (given, { kind, identity: ids, metadata: own, old, user, namespaceLabels }) => {
        const { policies, exceptions } = loadDocuments(
          given.map((document, index) => ({
            file: `${index}.yaml`,
            text: JSON.stringify({
              ...document,
              metadata: { ...('metadata' in document ? document.metadata : {}), name: `p${index}` },
            }),
          })),
          { cel: celCompilers },
        );
        const snapshot = createSnapshot(policies, exceptions);
        const objectWith = (more: JsonObject) => ({ apiVersion: 'v1', kind, metadata: { ...ids, ...more } });
        const asked = requestFor(objectWith(own), {
          user: user ?? undefined,
          ...(old === null ? {} : { operation: 'UPDATE', oldObject: objectWith(old) }),
        });
        const options = { dataSource: { read: () => ({ found: true, value: namespaceLabels }) as const } };
        const indexed = mutateSync(asked, snapshot, options);
        const all = mutateSync(
          asked,
          {
            ...snapshot,
            exceptionsFor: (policyKey) => snapshot.exceptionsFor(policyKey),
            candidates: () =>
              snapshot.policies.map((policy, position) => ({ policy, position, rules: policy.rules })),
          },
          options,
        );
        expect(indexed.object).toEqual(all.object);
        expect(indexed.outcomes.map(textOfOutcome)).toEqual(all.outcomes.map(textOfOutcome));
      },
    ),
    { numRuns: 500 },
  );
});

function textOfOutcome({ policy, rule: { name }, status }: Outcome): string {
  return `${policy.key} ${name} ${status}`;
}
