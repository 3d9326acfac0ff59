import { describe, expect, it } from 'vitest';
import { defaultRequestSettings } from '../../admission/policy-provider.ts';
import { readObject } from '../../json/read-field.ts';
import type { JsonObject } from '../../json/value.ts';
import { loadCelCompilers } from '../../policy/cel-documents.ts';
import { mutatingPolicyDocument } from '../policies/policy.testing.ts';
import { type GenerationContext, generatedPolicy } from './generated-policy.ts';

const cel = await loadCelCompilers();
const context: GenerationContext = {
  webhooks: { target: { url: 'https://kymera.example.com', caBundle: 'Q0E=' }, namespace: 'kymera' },
  request: defaultRequestSettings,
  exceptions: [],
};

function generate(spec: JsonObject = {}, more: Partial<GenerationContext> = {}, metadata: JsonObject = {}) {
  const object = mutatingPolicyDocument('stamp', spec, { uid: 'u1', ...metadata });
  const { policy, problems } = cel.compileMutatingPolicy(object, { file: '' }, { strict: false });
  if (policy === undefined) throw new Error(JSON.stringify(problems));
  return generatedPolicy(object, policy, { ...context, ...more });
}

function specOf(...given: Parameters<typeof generate>): JsonObject {
  const result = generate(...given);
  if ('reason' in result) throw new Error(result.reason);
  // The API server would not load it otherwise.
  expect(cel.compileAdmissionPolicy(result.policy, { file: '' }).problems).toEqual([]);
  return readObject(result.policy, 'spec') ?? {};
}

const ownNamespaces = {
  key: 'kubernetes.io/metadata.name',
  operator: 'NotIn',
  values: ['kube-system', 'kymera'],
};

describe('the generated policy', () => {
  it('is named and owned as in Kyverno, and has all defaults of the API server', () => {
    const owner = { apiVersion: 'policies.kyverno.io/v1', kind: 'MutatingPolicy', name: 'stamp', uid: 'u1' };
    const metadata = {
      labels: { 'app.kubernetes.io/managed-by': 'kymera' },
      ownerReferences: [owner],
      finalizers: ['kymera.io/admission-policy'],
    };
    const document = mutatingPolicyDocument('stamp');
    const { mutations = [] } = readObject(document, 'spec') ?? {};
    expect(generate()).toEqual({
      policy: {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'MutatingAdmissionPolicy',
        metadata: { name: 'mpol-stamp', ...metadata },
        spec: {
          failurePolicy: 'Fail',
          reinvocationPolicy: 'Never',
          matchConstraints: {
            matchPolicy: 'Equivalent',
            namespaceSelector: { matchExpressions: [ownNamespaces] },
            objectSelector: {},
            resourceRules: [
              {
                apiGroups: [''],
                apiVersions: ['v1'],
                operations: ['CREATE', 'UPDATE'],
                resources: ['configmaps'],
                scope: '*',
              },
            ],
          },
          mutations,
        },
      },
      binding: {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'MutatingAdmissionPolicyBinding',
        metadata: { name: 'mpol-stamp-binding', ...metadata },
        spec: { policyName: 'mpol-stamp' },
      },
    });
  });

  it('applies where the webhook would be called', () => {
    const webhooks = {
      ...context.webhooks,
      objectSelector: { matchLabels: { all: 'yes' } },
      matchConditions: [{ name: 'all', expression: 'request.name != "none"' }],
    };
    const constraints = {
      objectSelector: { matchLabels: { own: 'yes' } },
      resourceRules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['CREATE'], resources: ['*'] }],
    };
    const own = { name: 'own', expression: 'request.name != "mine"' };
    const spec = specOf({ matchConstraints: constraints, matchConditions: [own] }, { webhooks });
    expect(spec['matchConstraints']).toMatchObject({
      objectSelector: { matchLabels: { own: 'yes', all: 'yes' } },
    });
    expect(spec['matchConditions']).toEqual([
      webhooks.matchConditions[0],
      { name: 'kymera.io/protected-kinds', expression: expect.any(String) },
      own,
    ]);
  });

  it('excludes the users and objects of the settings', () => {
    const request = {
      ...defaultRequestSettings,
      excludeUsernames: ['admin', '!system:*:boss?'],
      excludeGroups: ['system:nodes'],
      resourceFilters: '[Event,*,*][*/*,kube-*,*][ConfigMap,a,b]',
    };
    const [users, filters] = specOf({}, { request })['matchConditions'] as JsonObject[];
    expect(users).toEqual({
      name: 'kymera.io/excluded-users',
      expression:
        '!((request.userInfo.?username.orValue("") == "admin" || request.userInfo.?groups.orValue([]).exists(group, group == "system:nodes")) && !(request.userInfo.?username.orValue("").matches("^(?s:system:.*:boss.)$")))',
    });
    expect(filters?.['name']).toBe('kymera.io/resource-filters');
    expect(filters?.['expression']).toContain('request.kind.kind == "Event"');
    expect(filters?.['expression']).toContain('request.?namespace.orValue("").matches("^(?s:kube-.*)$")');
  });

  it('treats failures as the server does', () => {
    const object = mutatingPolicyDocument('stamp');
    const { policy } = cel.compileMutatingPolicy(object, { file: '' }, { strict: false });
    if (policy === undefined) throw new Error('invalid');
    const result = generatedPolicy(object, { ...policy, failurePolicy: 'Ignore' }, context);
    expect(result).toMatchObject({ policy: { spec: { failurePolicy: 'Ignore' } } });
  });

  it.each<[string, Parameters<typeof generate>, string]>([
    ['exceptions', [{}, { exceptions: ['a/b'] }], 'a/b'],
    ['audit mode', [{}, {}, { annotations: { 'kymera.io/mode': 'audit' } }], 'audit mode'],
    ['roles', [{}, { request: { ...defaultRequestSettings, excludeRoles: ['a:b'] } }], 'excludeRoles'],
    ['functions of Kyverno', [{ variables: [{ name: 'v', expression: 'http.Get("http://a")' }] }], 'http'],
    ['a long name', [{}, {}, { name: 'a'.repeat(250) }], 'too long'],
  ])('is refused for %s', (_, given, reason) => {
    expect(generate(...given)).toEqual({ reason: expect.stringContaining(reason) });
  });
});
