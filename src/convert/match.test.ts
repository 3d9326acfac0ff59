import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringifyJson } from '../json/json-text.ts';
import type { Json, JsonObject } from '../json/value.ts';
import { celCompilers } from '../policy/cel/language.ts';
import { loadDocuments } from '../policy/load.ts';
import { translateMatch } from './match/match.ts';
import { prove } from './proof/prove.ts';
import type { Sample } from './proof/sample.ts';
import { createScope, Variables } from './scope.ts';
import type { ConversionTarget } from './types.ts';

function load(document: Json) {
  const { policies, problems } = loadDocuments([{ file: 'policy.yaml', text: stringifyJson(document) }], {
    cel: celCompilers,
  });
  expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  return policies;
}

function oldPolicy(rule: JsonObject): Json {
  const annotations = { 'pod-policies.kyverno.io/autogen-controllers': 'none' };
  const mutate = { patchStrategicMerge: { matched: 'yes' } };
  return {
    apiVersion: 'kyverno.io/v1',
    kind: 'ClusterPolicy',
    metadata: { name: 'test', annotations },
    spec: { background: false, rules: [{ name: 'rule', ...rule, mutate }] },
  };
}

const expression = '[JSONPatch{op: "add", path: "/matched", value: "yes"}]';

function newPolicy(rule: JsonObject, target: ConversionTarget): Json {
  const scope = createScope(target, new Variables());
  const { matchConstraints, matchConditions } = translateMatch(rule, 'spec.rules[0]', scope);
  const spec = {
    matchConstraints,
    matchConditions,
    mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression } }],
  };
  if (target === 'map') {
    const body = { ...spec, reinvocationPolicy: 'Never', failurePolicy: 'Fail' };
    return {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingAdmissionPolicy',
      metadata: { name: 'test' },
      spec: body,
    } as unknown as Json;
  }
  return {
    apiVersion: 'policies.kyverno.io/v1',
    kind: 'MutatingPolicy',
    metadata: { name: 'test' },
    spec: { ...spec, autogen: { podControllers: { controllers: [] } } },
  } as unknown as Json;
}

const name = fc.constantFrom('web', 'web-1', 'db', 'api');
const label = fc.dictionary(
  fc.constantFrom('app', 'team', 'x.io/a'),
  fc.constantFrom('', 'web', 'web-1', 'db'),
  { maxKeys: 2 },
);
const pattern = fc.constantFrom('web', 'web-*', '*', '?*', 'd?', '*-1', '*e*');
const patterns = fc.array(pattern, { minLength: 1, maxLength: 2 });
const kinds = fc.uniqueArray(
  fc.constantFrom(
    'Pod',
    'ConfigMap',
    'v1/Secret',
    'apps/v1/Deployment',
    'Deployment',
    'Namespace',
    'example.com/v1/Widget',
    'Node',
  ),
  {
    minLength: 1,
    maxLength: 3,
  },
);
const selector = fc.oneof(
  fc.record({
    matchLabels: fc.dictionary(fc.constantFrom('app', 'team', '*', 'x.io/*'), pattern, {
      minKeys: 1,
      maxKeys: 2,
    }),
  }),
  fc.record({
    matchExpressions: fc.array(
      fc.oneof(
        fc.record({
          key: fc.constantFrom('app', 'team'),
          operator: fc.constantFrom('In', 'NotIn'),
          values: fc.array(fc.constantFrom('web', 'db', ''), { minLength: 1, maxLength: 2 }),
        }),
        fc.record({
          key: fc.constantFrom('app', 'team'),
          operator: fc.constantFrom('Exists', 'DoesNotExist'),
        }),
      ),
      { minLength: 1, maxLength: 2 },
    ),
  }),
);
const subjects = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constantFrom('User', 'Group'), name: fc.constantFrom('alice', 'a*', 'system:*') }),
    fc.record({
      kind: fc.constant('ServiceAccount'),
      name: fc.constantFrom('ci', '*'),
      namespace: fc.constantFrom('web', '*'),
    }),
  ),
  { minLength: 1, maxLength: 2 },
);
const operations = fc.uniqueArray(fc.constantFrom('CREATE', 'UPDATE'), { minLength: 1, maxLength: 2 });

const clauses = {
  names: patterns,
  namespaces: patterns,
  annotations: fc.dictionary(fc.constantFrom('app', 'x.io/a', 'x*'), pattern, { minKeys: 1, maxKeys: 2 }),
  selector,
  namespaceSelector: selector,
  operations,
};
const sparse = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 1 });

function block(kind: fc.Arbitrary<string[] | undefined>): fc.Arbitrary<JsonObject> {
  return fc
    .record({
      resources: fc.record({
        kinds: kind,
        ...Object.fromEntries(
          Object.entries(clauses).map(([key, value]) => [key, sparse(value as fc.Arbitrary<unknown>)]),
        ),
      }),
      subjects: fc.option(subjects, { nil: undefined, freq: 4 }),
    })
    .map((value) => JSON.parse(JSON.stringify(value)) as JsonObject);
}

const rule: fc.Arbitrary<JsonObject> = fc
  .record({
    match: fc.oneof(
      fc.array(block(kinds), { minLength: 1, maxLength: 2 }).map((any) => ({ any })),
      block(kinds).map((only) => ({ all: [only] })),
    ),
    exclude: sparse(
      fc
        .array(block(fc.option(kinds, { nil: undefined })), { minLength: 1, maxLength: 2 })
        .map((any) => ({ any })),
    ),
  })
  .map((value) => JSON.parse(JSON.stringify(value)) as JsonObject);

const sample: fc.Arbitrary<Sample> = fc
  .record({
    type: fc.constantFrom<readonly [string, string]>(
      ['v1', 'Pod'],
      ['v1', 'ConfigMap'],
      ['v1', 'Secret'],
      ['apps/v1', 'Deployment'],
      ['v1', 'Namespace'],
      ['v1', 'Node'],
      ['example.com/v1', 'Widget'],
      ['example.com/v1', 'Other'],
    ),
    named: fc.option(name, { nil: undefined, freq: 5 }),
    generateName: fc.constantFrom('web-', 'db'),
    namespace: name,
    labels: fc.option(label, { nil: undefined }),
    annotations: fc.option(label, { nil: undefined }),
    namespaceLabels: label,
    operation: fc.constantFrom('CREATE', 'UPDATE'),
    user: fc.constantFrom('alice', 'system:serviceaccount:web:ci', 'bob'),
  })
  .map(({ type, named, generateName, namespace, labels, annotations, namespaceLabels, operation, user }) => {
    const [apiVersion, kind] = type;
    const isCluster = kind === 'Namespace' || kind === 'Node';
    const head = {
      ...(named === undefined ? { generateName } : { name: named }),
      ...(isCluster ? {} : { namespace }),
      labels,
      annotations,
    };
    const object = JSON.parse(JSON.stringify({ apiVersion, kind, metadata: head })) as JsonObject;
    const groups = user === 'alice' ? ['admins', 'system:masters'] : ['all'];
    return {
      origin: 'test',
      object,
      operation,
      oldObject: operation === 'UPDATE' ? object : undefined,
      user: { info: { username: user, groups }, roles: [], clusterRoles: [] },
      namespaceLabels,
    } as unknown as Sample;
  });

describe.each(['mutatingpolicy', 'map'] as const)('translateMatch for %s', (target) => {
  it('matches the same requests', async () => {
    let changed = 0;
    await fc.assert(
      fc.asyncProperty(
        rule,
        fc.array(sample, { minLength: 12, maxLength: 12 }),
        async (document, samples) => {
          const before = load(oldPolicy(document));
          const converted = newPolicy(document, target);
          const proof = await prove({ policies: before }, { policies: load(converted) }, samples);
          changed += proof.changed;
          expect({ difference: proof.difference, converted }).toEqual({ difference: undefined, converted });
        },
      ),
      { numRuns: 100, seed: 1 },
    );
    expect(changed).toBeGreaterThan(20);
  }, 300_000);
});
