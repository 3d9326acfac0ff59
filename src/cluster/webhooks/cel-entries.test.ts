import { describe, expect, it } from 'vitest';
import { mutatingPolicyEnvironment } from '../../cel/environments.ts';
import { compileCel } from '../../cel/expression.ts';
import { type Json, type JsonObject, valueAt } from '../../json/value.ts';
import { loadCelCompilers } from '../../policy/cel-documents.ts';
import type { CompiledPolicy } from '../../policy/compiled.ts';
import { systemEnvironment } from '../../system-environment.ts';
import { smallCluster } from '../api/served-kinds.testing.ts';
import { mutatingPolicyDocument, kinds as ofKinds, policy, rule } from '../policies/policy.testing.ts';
import { mutatingConfiguration } from './configuration.ts';
import type { WebhookSettings } from './settings.ts';

const cel = await loadCelCompilers();
const settings: WebhookSettings = {
  target: { service: { namespace: 'kymera', name: 'kymera', port: 443 }, caBundle: 'Q0E=' },
  namespace: 'kymera',
};
const left = {
  key: 'kubernetes.io/metadata.name',
  operator: 'NotIn',
  values: ['kube-system', 'kymera'],
};

function compiled(name: string, spec: JsonObject = {}, metadata: JsonObject = {}): CompiledPolicy {
  const result = cel.compileMutatingPolicy(
    mutatingPolicyDocument(name, spec, metadata),
    { file: 'test' },
    { strict: false },
  );
  if (result.policy === undefined) throw new Error(result.problems.map(({ message }) => message).join('\n'));
  return result.policy;
}

function matching(rules: readonly JsonObject[], more: JsonObject = {}): JsonObject {
  const common = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] };
  return { matchConstraints: { resourceRules: rules.map((each) => ({ ...common, ...each })), ...more } };
}

function webhooks(
  policies: readonly CompiledPolicy[],
  more: Partial<WebhookSettings> = {},
): readonly Readonly<Record<string, Json>>[] {
  const { document } = mutatingConfiguration(policies, smallCluster, { ...settings, ...more });
  return document['webhooks'] as readonly JsonObject[];
}

const pathOf = (entry: Readonly<Record<string, Json>> | undefined) =>
  valueAt(entry ?? {}, ['clientConfig', 'service', 'path']);

describe('webhook entries of MutatingPolicies', () => {
  it('have the rules of the policy as written, after the entries of other policies', () => {
    const rules = [
      {
        apiGroups: ['apps', 'batch'],
        apiVersions: ['*'],
        resources: ['deployments/scale'],
        scope: 'Namespaced',
      },
      { resources: ['pods/*'], operations: ['CREATE', 'CONNECT'] },
    ];
    const older = policy('z', [rule(ofKinds('ConfigMap'))], {
      spec: { webhookConfiguration: { matchConditions: [{ name: 'c', expression: 'true' }] } },
    });
    const entries = webhooks([compiled('a', matching(rules)), older]);
    expect(entries.map(({ name }) => name)).toEqual([
      'z.cluster-policy.fail.mutate.kymera.io',
      expect.stringMatching(/^[0-9a-f]{16}\.mpols\.fail\.mutate\.kymera\.io$/),
    ]);
    expect(entries[1]).toMatchObject({
      failurePolicy: 'Fail',
      matchPolicy: 'Equivalent',
      reinvocationPolicy: 'Never',
      timeoutSeconds: 10,
      namespaceSelector: { matchExpressions: [left] },
      objectSelector: {},
      rules: [
        {
          apiGroups: ['apps', 'batch'],
          apiVersions: ['*'],
          operations: ['CREATE'],
          resources: ['deployments/scale'],
          scope: 'Namespaced',
        },
        {
          apiGroups: [''],
          apiVersions: ['v1'],
          operations: ['CREATE', 'CONNECT'],
          resources: ['pods/*'],
          scope: '*',
        },
      ],
    });
    expect(entries[1]).not.toHaveProperty('matchConditions');
  });

  it('take the operations as written, and leave out policies for existing objects', () => {
    const [entry] = webhooks([compiled('a', matching([{ operations: ['*'] }, { operations: ['DELETE'] }]))]);
    expect(entry?.['rules']).toMatchObject([{ operations: ['*'] }, { operations: ['DELETE'] }]);
    const evaluation = { admission: { enabled: false }, mutateExisting: { enabled: true } };
    expect(webhooks([compiled('b', { evaluation })])).toEqual([]);
  });

  it('are shared by policies with the same selectors, failure and reinvocation policy', () => {
    const selected = matching([{}], { objectSelector: { matchLabels: { a: 'b' } } });
    const entries = webhooks([
      compiled('a'),
      compiled('b', matching([{ resources: ['secrets'] }])),
      compiled('c', { failurePolicy: 'Ignore' }),
      compiled('d', { reinvocationPolicy: 'IfNeeded' }),
      compiled('e', selected),
      compiled('f', selected),
    ]);
    expect(entries).toHaveLength(4);
    const byRules = entries.map(({ rules }) => (rules as readonly JsonObject[]).length).sort();
    expect(byRules).toEqual([1, 1, 1, 2]);
    expect(new Set(entries.map(pathOf)).size).toBe(4);
    expect(entries.find(({ failurePolicy }) => failurePolicy === 'Ignore')).toMatchObject({
      clientConfig: { service: { path: expect.stringMatching(/^\/mutate\/ignore\/mpols\/[0-9a-f]{16}$/) } },
    });
    expect(entries.filter(({ reinvocationPolicy }) => reinvocationPolicy === 'IfNeeded')).toHaveLength(1);
  });

  it.each<[string, JsonObject, JsonObject]>([
    [
      'conditions',
      { matchConditions: [{ name: 'c', expression: 'request.name != "x"' }] },
      { matchConditions: [{ name: 'c', expression: 'request.name != "x"' }] },
    ],
    ['a timeout', { webhookConfiguration: { timeoutSeconds: 25 } }, { timeoutSeconds: 25 }],
    ['exact versions', matching([{}], { matchPolicy: 'Exact' }), { matchPolicy: 'Exact' }],
  ])('belong to one policy with %s', (_, spec, expected) => {
    const [shared, own] = webhooks([compiled('own', spec), compiled('a')]);
    expect(shared).toMatchObject({ name: expect.stringContaining('.mpols.') });
    expect(own).toMatchObject({ name: 'own.mpol.fail.mutate.kymera.io', ...expected });
    expect(pathOf(own)).toBe('/mutate/fail/mpol/own');
  });

  it('of a namespaced policy are for namespaced objects of its namespace', () => {
    const spec = {
      ...matching([{}, { scope: 'Cluster' }], { namespaceSelector: { matchLabels: { team: 'x' } } }),
      webhookConfiguration: { timeoutSeconds: 5 },
    };
    const [entry] = webhooks([compiled('p', spec, { namespace: 'ns' })]);
    expect(entry).toMatchObject({
      name: 'p.ns.nmpol.fail.mutate.kymera.io',
      namespaceSelector: {
        matchLabels: { team: 'x' },
        matchExpressions: [left, { key: 'kubernetes.io/metadata.name', operator: 'In', values: ['ns'] }],
      },
      rules: [{ scope: 'Namespaced' }],
    });
    expect(entry?.['rules']).toHaveLength(1);
    expect(pathOf(entry)).toBe('/mutate/fail/nmpol/ns/p');
  });

  it('require the configured selectors and conditions too', () => {
    const spec = {
      ...matching([{}], { objectSelector: { matchLabels: { a: 'policy', b: 'c' } } }),
      matchConditions: [
        { name: 'mine', expression: 'true' },
        { name: 'theirs', expression: 'false' },
      ],
    };
    const theirs = { name: 'theirs', expression: 'request.name != ""' };
    const [entry] = webhooks([compiled('p', spec)], {
      objectSelector: { matchLabels: { a: 'setting' } },
      matchConditions: [theirs],
    });
    expect(entry).toMatchObject({
      objectSelector: {
        matchLabels: { a: 'setting', b: 'c' },
        matchExpressions: [{ key: 'a', operator: 'In', values: ['policy'] }],
      },
      matchConditions: [theirs, { name: 'mine', expression: 'true' }],
    });
  });

  it('with wildcards spare the kinds that a cluster depends on, unless one is named', () => {
    const [entry] = webhooks([
      compiled('p', matching([{ apiGroups: ['*'], resources: ['*'] }, { resources: ['nodes/status'] }])),
    ]);
    const [condition] = (entry?.['matchConditions'] ?? []) as readonly { name: string; expression: string }[];
    expect(condition?.name).toBe('kymera.io/protected-kinds');
    expect(condition?.expression).toContain("'coordination.k8s.io'");
    expect(condition?.expression).toMatch(
      /\|\| \(request\.resource\.group == '' && request\.resource\.resource == 'nodes'\)$/,
    );
    expect(webhooks([compiled('p', matching([{ resources: ['nodes'] }]))])[0]).not.toHaveProperty(
      'matchConditions',
    );
  });

  it('keep the resource of a rule a string of the condition, whatever it contains', () => {
    const resource = "mutatingpolicies' || true || 'x";
    const rules = [
      { apiGroups: ['*'], resources: ['*'] },
      { apiGroups: ['policies.kyverno.io'], resources: [resource] },
    ];
    const [entry] = webhooks([compiled('p', matching(rules))]);
    const [condition] = (entry?.['matchConditions'] ?? []) as readonly { expression: string }[];
    const { expression } = compileCel(condition?.expression ?? '', mutatingPolicyEnvironment());
    const request = { resource: { group: 'coordination.k8s.io', resource: 'leases' } };
    const lookup = (name: string) => (name === 'request' ? request : undefined);
    expect(expression?.evaluate({ lookup, effects: systemEnvironment })).toBe(false);
  });

  it('have names that the API server accepts, however long the policy is named', () => {
    const long = 'n'.repeat(250);
    const special = { webhookConfiguration: { timeoutSeconds: 5 } };
    const names = webhooks([
      compiled(`${long}a`, special),
      compiled(`${long}b`, special),
      compiled(long, special, { namespace: 's'.repeat(63) }),
    ]).map(({ name }) => String(name));
    expect(new Set(names).size).toBe(3);
    for (const name of names) expect(name.length).toBeLessThanOrEqual(253);
  });

  it('are reported with the resources that the API server does not serve', () => {
    const { unknownKinds } = mutatingConfiguration(
      [compiled('p', matching([{ apiGroups: ['example.com'], resources: ['things', '*'] }, {}]))],
      smallCluster,
      settings,
    );
    expect([...unknownKinds]).toEqual([['mpol:p', ['example.com/v1/things']]]);
  });
});
