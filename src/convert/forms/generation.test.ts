import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../json/value.ts';
import { adviseOnGeneration, generatedSpec, refusalText, requestsGeneration } from './generation.ts';

const rule = {
  apiGroups: [''],
  apiVersions: ['v1'],
  operations: ['CREATE', 'UPDATE'],
  resources: ['configmaps'],
};
const apply = (expression: string) => ({
  patchType: 'ApplyConfiguration',
  applyConfiguration: { expression },
});
const policy = (spec: JsonObject = {}, kind = 'MutatingPolicy'): JsonObject => ({
  apiVersion: 'policies.kyverno.io/v1',
  kind,
  metadata: { name: 'stamp', uid: '1', annotations: { a: 'b' } },
  spec: {
    matchConstraints: { resourceRules: [rule] },
    mutations: [apply('Object{metadata: Object.metadata{labels: {"a": "b"}}}')],
    autogen: { mutatingAdmissionPolicy: { enabled: true } },
    ...spec,
  },
});
const reasonOf = (spec: JsonObject, kind?: string) => {
  const result = generatedSpec(policy(spec, kind));
  return 'refusals' in result ? refusalText(result.refusals) : undefined;
};

describe('a MutatingAdmissionPolicy', () => {
  it('is requested by a field', () => {
    expect(requestsGeneration(policy())).toBe(true);
    expect(requestsGeneration(policy({ autogen: {} }))).toBe(false);
    expect(requestsGeneration({ ...policy(), apiVersion: 'kyverno.io/v1', kind: 'ClusterPolicy' })).toBe(
      false,
    );
  });

  it('has the constraints, conditions, variables and mutations of the policy', () => {
    const spec = {
      matchConstraints: {
        resourceRules: [{ ...rule, resourceNames: ['x'] }],
        objectSelector: { matchLabels: { yes: 'true' } },
        excludeResourceRules: [{ ...rule, resourceNames: ['y'] }],
        matchPolicy: 'Exact',
      },
      matchConditions: [{ name: 'c', expression: 'request.name != "z"\n&& true' }],
      variables: [{ name: 'v', expression: '"b"' }],
      mutations: [apply('Object{metadata: Object.metadata{labels: {"a": variables.v}}}')],
      failurePolicy: 'Ignore',
    };
    const evaluation = { admission: { enabled: true } };
    const webhookConfiguration = { timeoutSeconds: 7 };
    expect(generatedSpec(policy({ ...spec, evaluation, webhookConfiguration }))).toEqual({
      spec: { ...spec, reinvocationPolicy: 'Never' },
    });
  });

  it.each<[string, JsonObject, string]>([
    ['pods', { matchConstraints: { resourceRules: [{ ...rule, resources: ['pods'] }] } }, 'spec.autogen'],
    ['DELETE', { matchConstraints: { resourceRules: [{ ...rule, operations: ['DELETE'] }] } }, 'DELETE'],
    ['functions of Kyverno', { variables: [{ name: 'v', expression: 'http.Get("http://a")' }] }, 'http'],
    ['existing objects', { evaluation: { mutateExisting: { enabled: true } } }, 'existing objects'],
    ['server-side apply', { evaluation: { useServerSideApply: true } }, 'atomic'],
    ['audit annotations', { auditAnnotations: [{ key: 'k', valueExpression: '"v"' }] }, 'audit annotations'],
  ])('is refused if %s would be lost', (_, spec, reason) => {
    expect(reasonOf(spec)).toContain(reason);
  });

  it('is refused for a namespaced policy', () => {
    expect(reasonOf({}, 'NamespacedMutatingPolicy')).toContain('cannot own a MutatingAdmissionPolicy');
  });

  it('is the subject of a warning if it is requested in vain', () => {
    const evaluation = { useServerSideApply: true };
    expect(adviseOnGeneration(policy(), { file: 'a.yaml' })).toEqual([]);
    expect(adviseOnGeneration(policy({ evaluation, autogen: {} }), { file: 'a.yaml' })).toEqual([]);
    expect(adviseOnGeneration(policy({ evaluation }), { file: 'a.yaml' })).toMatchObject([
      {
        severity: 'warning',
        code: 'KYM_NOT_CONVERTED',
        policy: 'stamp',
        pointer: '/spec/autogen/mutatingAdmissionPolicy/enabled',
        message: expect.stringContaining('spec.evaluation.useServerSideApply: '),
      },
    ]);
  });
});
