import { describe, expect, it } from 'vitest';
import { celCompilers } from '../../policy/cel/language.ts';
import { loadDocuments } from '../../policy/load.ts';
import { generateObjects } from '../proof/generate-objects.ts';
import { prove } from '../proof/prove.ts';
import { convertForm } from './convert-form.ts';

const mutatingPolicy = `# about
apiVersion: policies.kyverno.io/v1
kind: MutatingPolicy
metadata:
  name: labels # its name
spec:
  autogen: {podControllers: {controllers: []}}
  failurePolicy: Fail
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [pods]}
  variables:
  # the labels
  - {name: labels, expression: 'object.metadata.?labels.orValue({})'}
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration:
      expression: |
        Object{metadata: Object.metadata{labels: {?"env": "env" in variables.labels ? optional.none() : optional.of("dev")}}}
`;
const admissionPolicy = `apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: labels}
spec:
  reinvocationPolicy: IfNeeded
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], operations: ["*"], resources: [pods]}
  matchConditions:
  - {name: not-system, expression: 'request.namespace != "kube-system"'}
  mutations:
  - patchType: JSONPatch
    jsonPatch:
      expression: '[JSONPatch{op: "add", path: "/spec/priority", value: 7}]'
`;

function load(text: string) {
  const { policies, problems } = loadDocuments([{ file: 'p.yaml', text }], { cel: celCompilers });
  expect(problems).toEqual([]);
  return { policies };
}

function texts(source: string, to: 'mutatingpolicy' | 'map'): string {
  const conversion = convertForm(source, to);
  expect(conversion?.refusals).toEqual([]);
  return (conversion?.documents ?? []).map(({ text }) => text).join('---\n');
}

async function differenceOf(old: string, converted: string) {
  const forms = [load(old), load(converted)] as const;
  const proof = await prove(
    forms[0],
    forms[1],
    generateObjects([...forms[0].policies, ...forms[1].policies]),
  );
  expect(proof.changed).toBeGreaterThan(10);
  return proof.difference;
}

describe('a policy in CEL', () => {
  it('becomes a MutatingAdmissionPolicy with a binding, keeps its comments and does the same', async () => {
    const converted = texts(mutatingPolicy, 'map');
    expect(converted).toContain(
      '# about\napiVersion: admissionregistration.k8s.io/v1\nkind: MutatingAdmissionPolicy',
    );
    expect(converted).toContain('  # the labels\n');
    expect(converted).toContain('reinvocationPolicy: Never');
    expect(converted).toContain('policyName: labels');
    expect(converted).not.toContain('autogen');
    expect(await differenceOf(mutatingPolicy, converted)).toBeUndefined();
  });

  it('becomes a MutatingPolicy that does not see deletions and controllers', async () => {
    const bound = `${admissionPolicy}---\n${binding('spec: {policyName: labels}')}`;
    const converted = texts(admissionPolicy, 'mutatingpolicy');
    expect(converted).toContain('operations: [ CREATE, UPDATE, CONNECT ]');
    expect(converted).toContain('controllers: []');
    expect(converted).toContain('reinvocationPolicy: IfNeeded');
    expect(await differenceOf(bound, converted)).toBeUndefined();
  });

  it('of a namespace keeps to it', async () => {
    const source = mutatingPolicy
      .replace('kind: MutatingPolicy', 'kind: NamespacedMutatingPolicy')
      .replace('name: labels # its name', 'name: labels\n  namespace: default');
    const converted = texts(source, 'map');
    expect(converted).not.toContain('namespace: default');
    expect(await differenceOf(source, converted)).toBeUndefined();
  });

  it.each([
    ['  evaluation: {useServerSideApply: true}', 'spec.evaluation.useServerSideApply'],
    ['  evaluation: {mutateExisting: {enabled: true}}', 'spec.evaluation.mutateExisting.enabled'],
    ['  evaluation: {mode: JSON}', 'spec.evaluation.mode'],
    ['  auditAnnotations: [{key: a, valueExpression: \'"b"\'}]', 'spec.auditAnnotations'],
    [
      '  matchConditions: [{name: a, expression: "variables.labels.size() > 0"}]',
      'spec.matchConditions[0].expression',
    ],
    [
      '  matchConditions: [{name: a, expression: "oldObject == object"}]',
      'spec.matchConditions[0].expression',
    ],
    [
      '  matchConditions: [{name: a, expression: "request.object == object"}]',
      'spec.matchConditions[0].expression',
    ],
  ])('is not converted if something would be lost: %s', (field, path) => {
    const conversion = convertForm(mutatingPolicy.replace('  variables:', `${field}\n  variables:`), 'map');
    expect(conversion?.documents).toEqual([]);
    expect(conversion?.refusals.map((refusal) => refusal.path)).toContain(path);
  });

  it.each([
    [mutatingPolicy.replace('  autogen: {podControllers: {controllers: []}}\n', ''), 'spec.autogen'],
    [mutatingPolicy.replace('CREATE, UPDATE', 'CREATE, DELETE'), 'spec.matchConstraints.resourceRules'],
    [
      mutatingPolicy.replace('Fail', 'Ignore').replace(/( {2}- patchType[\s\S]*)/, '$1$1'),
      'spec.failurePolicy',
    ],
  ])('is not converted if it runs in another way', (source, path) => {
    expect(convertForm(source, 'map')?.refusals.map((refusal) => refusal.path)).toEqual([path]);
  });

  it.each([
    [
      admissionPolicy.replace('spec:\n', 'spec:\n  paramKind: {apiVersion: v1, kind: ConfigMap}\n'),
      [],
      'spec.paramKind',
    ],
    [
      admissionPolicy,
      [{ policyName: 'labels', matchResources: { namespaceSelector: { matchLabels: { a: 'b' } } } }],
      'spec.matchResources',
    ],
    [admissionPolicy, [{ policyName: 'labels' }, { policyName: 'labels' }], 'spec'],
  ])('of Kubernetes is not converted if a MutatingPolicy cannot express it', (source, specs, path) => {
    const bindings = specs.map((spec) => ({ metadata: { name: 'b' }, spec }));
    const conversion = convertForm(source, 'mutatingpolicy', bindings);
    expect(conversion?.documents).toEqual([]);
    expect(conversion?.refusals.map((refusal) => refusal.path)).toEqual([path]);
  });

  it('of another kind is not touched', () => {
    expect(convertForm('kind: ConfigMap\napiVersion: v1\n', 'map')).toBeUndefined();
    expect(convertForm(mutatingPolicy, 'mutatingpolicy')).toBeUndefined();
  });
});

function binding(spec: string): string {
  return `apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: labels}
${spec}
`;
}
