import { describe, expect, it, test } from 'vitest';
import type { JsonObject } from '../json/value.ts';
import { runGenerate } from './generate/generate.ts';
import { refOf, refTitle } from './object-identity.ts';
import { evaluation, object, policyWith, requestOf, trigger } from './policy.testing.ts';
import { createMemoryStore } from './store/memory-store.ts';
import { mutateTargets } from './targets/mutate-existing.ts';
import { stillTriggers } from './triggers/triggered-rules.ts';

const definition = (kind: string, scope: string): JsonObject =>
  object('CustomResourceDefinition', `${kind.toLowerCase()}s.example.com`, {
    apiVersion: 'apiextensions.k8s.io/v1',
    spec: { group: 'example.com', names: { kind }, scope },
  });
const objects = [
  definition('Hive', 'Cluster'),
  definition('Bee', 'Namespaced'),
  object('Secret', 'ns/own', { data: { a: 'b' } }),
  object('Secret', 'other/foreign', { data: { a: 'secret' } }),
  object('ClusterRole', 'admin', { apiVersion: 'rbac.authorization.k8s.io/v1' }),
  object('Bee', 'ns/bee', { apiVersion: 'example.com/v1' }),
  object('Hive', 'hive', { apiVersion: 'example.com/v1' }),
];
const before = objects.map((each) => refTitle(refOf(each)));

/** The three ways to state a value: as it is, by a variable, and by an expression. */
const forms = (value: string) => [
  value,
  `"{{ '${value}' }}"`,
  `"{{ request.object.data.none || '${value}' }}"`,
];

async function generate(text: string) {
  const policy = policyWith(`generate: {${text}}`, '{}', 'Policy');
  const [rule] = policy.generateRules;
  if (rule === undefined) throw new Error('no rule');
  const store = createMemoryStore(objects);
  const result = await runGenerate({ policy, rule, request: requestOf(trigger), store, ...evaluation });
  const made = store.objects().map((each) => refTitle(refOf(each)));
  return {
    results: result.objects.map(({ action, code = '' }) => `${action} ${code}`.trim()),
    made: made.filter((title) => !before.includes(title)),
  };
}

const refused = { results: ['failed KYM_NAMESPACE_BOUNDARY'], made: [] };
const rbac = 'rbac.authorization.k8s.io/v1';

describe('a namespaced Policy generates only in its namespace', () => {
  test.each([
    ...forms('ClusterRoleBinding')
      .slice(1)
      .map((kind) => [rbac, kind, '""']),
    ...forms('ClusterRoleBinding')
      .slice(1)
      .map((kind) => [rbac, kind, 'ns']),
    ...forms('Namespace')
      .slice(1)
      .map((kind) => ['v1', kind, '""']),
    ...forms('Hive').map((kind) => ['example.com/v1', kind, 'ns']),
    ...forms('Unknown').map((kind) => ['v1', kind, 'ns']),
    ...forms('Secret').map((kind) => ['v1', kind, `"{{ 'other' }}"`]),
    ...forms('Bee').map((kind) => ['example.com/v1', kind, `"{{ 'other' }}"`]),
    ['v1', 'Secret', `"{{ 'o*' }}"`],
    ['v1', `"{{ 'Secr*' }}"`, 'ns'],
    [`"{{ 'rbac*/v1' }}"`, `"{{ 'ClusterRoleBinding' }}"`, 'ns'],
    ['"*"', 'Secret', 'ns'],
  ])('data: %s %s in %s is refused', async (apiVersion, kind, namespace) => {
    const text = `apiVersion: ${apiVersion}, kind: ${kind}, name: made, namespace: ${namespace}, data: {x: y}`;
    expect(await generate(text)).toEqual(refused);
  });

  test.each([
    ...forms('Secret').flatMap((kind) => [
      ['v1', kind, '""'],
      ['v1', kind, 'ns'],
      ['v1', kind, `"{{ '*' }}"`],
    ]),
    ...forms('Bee').map((kind) => ['example.com/v1', kind, `"{{ request.namespace }}"`]),
  ])('data: %s %s in %s is made in its namespace', async (apiVersion, kind, namespace) => {
    const text = `apiVersion: ${apiVersion}, kind: ${kind}, name: made, namespace: ${namespace}, data: {metadata: {namespace: other}}`;
    const { results, made } = await generate(text);
    expect(results).toEqual(['created']);
    expect(made).toEqual([expect.stringMatching(/^(Secret|Bee) ns\/made$/)]);
  });

  test.each([
    ['v1', 'Secret', `"{{ 'other' }}"`],
    ['v1', 'Secret', `"{{ request.object.data.none || 'other' }}"`],
    ['v1', 'Secret', `"{{ 'o*' }}"`],
    [rbac, `"{{ 'ClusterRole' }}"`, '""'],
    ['example.com/v1', 'Hive', '""'],
  ])('clone: %s %s from %s is refused', async (apiVersion, kind, namespace) => {
    const text = `apiVersion: ${apiVersion}, kind: ${kind}, name: made, namespace: ns, clone: {namespace: ${namespace}, name: foreign}`;
    expect(await generate(text)).toEqual(refused);
  });

  it('clone from its own namespace works', async () => {
    const text = 'apiVersion: v1, kind: Secret, name: made, namespace: ns, clone: {namespace: ns, name: own}';
    expect(await generate(text)).toEqual({ results: ['created'], made: ['Secret ns/made'] });
  });

  test.each([
    ['v1/Secret', `"{{ 'other' }}"`, 'ns'],
    ['Secret', `"{{ 'other' }}"`, 'ns'],
    ['"*"', `"{{ 'other' }}"`, 'ns'],
    ['v1/Secret', 'ns', `"{{ 'other' }}"`],
    [`"{{ '${rbac}/ClusterRole' }}"`, '""', '""'],
    ['example.com/v1/Hive', 'ns', '""'],
  ])('cloneList: %s from %s to %s is refused', async (kind, from, to) => {
    expect(await generate(`namespace: ${to}, cloneList: {namespace: ${from}, kinds: [${kind}]}`)).toEqual(
      refused,
    );
  });

  it('cloneList with a wildcard kind reads only its namespace', async () => {
    const { results, made } = await generate('namespace: ns, cloneList: {namespace: ns, kinds: ["*"]}');
    expect(results).toEqual(['skipped', 'skipped']);
    expect(made).toEqual([]);
  });
});

describe('a namespaced Policy changes only targets in its namespace', () => {
  async function targets(text: string, store = createMemoryStore(objects)) {
    const policy = policyWith(
      `mutate: {targets: [${text}], patchStrategicMerge: {metadata: {labels: {a: b}}}}`,
      '{}',
      'Policy',
    );
    const [rule] = policy.rules;
    if (rule === undefined) throw new Error('no rule');
    const results = await mutateTargets({
      policy,
      rule,
      request: requestOf(trigger),
      reader: store,
      ...evaluation,
    });
    return results.map(({ ref, outcome }) =>
      outcome.status === 'failed' ? `failed ${outcome.failure.code}` : `${outcome.status} ${refTitle(ref)}`,
    );
  }

  test.each([
    ...forms('ClusterRole').map((kind) => `{apiVersion: ${rbac}, kind: ${kind}}`),
    ...forms('Hive').map((kind) => `{apiVersion: example.com/v1, kind: ${kind}, name: hive}`),
    `{apiVersion: v1, kind: Secret, namespace: "{{ 'other' }}"}`,
    `{apiVersion: v1, kind: Secret, namespace: "{{ 'o*' }}", name: foreign}`,
    `{apiVersion: v1, kind: "{{ 'Secret' }}", namespace: "{{ request.object.data.none || 'other' }}", name: foreign}`,
  ])('%s is refused', async (text) => {
    expect(await targets(text)).toEqual(['failed KYM_NAMESPACE_BOUNDARY']);
  });

  it('a kind of unknown scope is refused', async () => {
    const store = createMemoryStore(objects, () => undefined);
    expect(await targets('{apiVersion: v1, kind: Secret}', store)).toEqual(['failed KYM_NAMESPACE_BOUNDARY']);
    expect(await targets('{apiVersion: v1, kind: "*"}', store)).toEqual([]);
  });

  test.each([
    ['{apiVersion: v1, kind: Secret}', ['applied Secret ns/own']],
    ['{apiVersion: v1, kind: Secret, namespace: "{{ \'*\' }}"}', ['applied Secret ns/own']],
    ['{apiVersion: "*", kind: "*"}', ['applied Secret ns/own', 'applied Bee ns/bee']],
    ['{kind: "*", namespace: "{{ \'*\' }}"}', ['applied Secret ns/own', 'applied Bee ns/bee']],
    [
      '{apiVersion: "*", kind: "{{ \'*\' }}", namespace: "{{ \'n?\' }}"}',
      ['applied Secret ns/own', 'applied Bee ns/bee'],
    ],
  ])('%s selects objects of its namespace', async (text, expected) => {
    expect(await targets(text)).toEqual(expected);
  });
});

it('labels cannot name a trigger that the rule does not match', async () => {
  const rule = 'generate: {apiVersion: v1, kind: Secret, name: made, namespace: ns, data: {x: y}}';
  const policy = policyWith(rule, '{}', 'Policy');
  const [generateRule] = policy.generateRules;
  if (generateRule === undefined) throw new Error('no rule');
  const matches = async (candidate: JsonObject) =>
    (await stillTriggers(candidate, policy, generateRule, evaluation)).status === 'passed';
  expect(await matches(trigger)).toBe(true);
  expect(await matches(object('ConfigMap', 'other/trigger'))).toBe(false);
  expect(await matches(object('Secret', 'ns/trigger'))).toBe(false);
});
