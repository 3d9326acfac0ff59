import { describe, expect, it, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { kymera } from './in-process.testing.ts';

const policy = (rule: string, kind = 'ConfigMap') => `
apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: p}
spec:
  rules:
  - name: r
    match: {any: [{resources: {kinds: [${kind}]}}]}
    ${rule}
`;
const label = 'patchStrategicMerge: {metadata: {labels: {a: b}}}';

async function rulesFor(text: string): Promise<readonly string[]> {
  const { exitCode, stdout } = await kymera(['rbac', 'p.yaml'], { files: { 'p.yaml': text } });
  expect(exitCode).toBe(0);
  const role = parseAllDocuments(stdout).at(-1)?.toJS() as {
    rules: { apiGroups: string[]; resources: string[]; verbs: string[] }[];
  };
  return role.rules.map(
    ({ apiGroups, resources, verbs }) => `${apiGroups.join()}: ${resources.join()}: ${verbs.join()}`,
  );
}

describe('the role that a policy needs', () => {
  it('has the label by which the background takes it in', async () => {
    const mutate = `mutate: {targets: [{apiVersion: apps/v1, kind: Deployment}], ${label}}`;
    const { stdout } = await kymera(['rbac', 'p.yaml', '--name', 'extra'], {
      files: { 'p.yaml': policy(mutate) },
    });
    expect(stdout).toBe(`apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: extra
  labels:
    rbac.kymera.io/aggregate-to-background-controller: "true"
rules:
- apiGroups:
  - apps
  resources:
  - deployments
  verbs:
  - get
  - list
  - patch
- apiGroups:
  - ""
  resources:
  - configmaps
  verbs:
  - get
  - list
`);
  });

  test.each([
    [
      'targets and triggers of one kind',
      `mutate: {targets: [{apiVersion: v1, kind: ConfigMap}, {apiVersion: v1, kind: Secret}], ${label}}`,
      [': configmaps,secrets: get,list,patch'],
    ],
    [
      'a subresource',
      'mutate: {targets: [{apiVersion: apps/v1, kind: Deployment/scale}], patchStrategicMerge: {spec: {replicas: 1}}}',
      ['apps: deployments: get,list', 'apps: deployments/scale: get,patch', ': configmaps: get,list'],
    ],
    [
      'what is made',
      'generate: {apiVersion: v1, kind: Secret, name: s, namespace: ns, data: {data: {}}}',
      [': secrets: get,create', ': configmaps: get,list'],
    ],
    [
      'what is kept as it should be',
      'generate: {synchronize: true, apiVersion: v1, kind: Secret, name: s, namespace: ns, data: {data: {}}}',
      [': secrets: get,list,watch,create,patch,delete', ': configmaps: get,list'],
    ],
    [
      'what is copied',
      'generate: {namespace: ns, cloneList: {namespace: default, kinds: [v1/Secret, v1/ConfigMap]}}',
      [': configmaps,secrets: get,list,create'],
    ],
    [
      'a custom kind',
      `mutate: {targets: [{apiVersion: example.com/v1, kind: Gadget}], ${label}}`,
      ['example.com: gadgets: get,list,patch', ': configmaps: get,list'],
    ],
    [
      'a ConfigMap of the context',
      `context: [{name: c, configMap: {name: a, namespace: b}}]\n    mutate: {targets: [{apiVersion: v1, kind: Secret}], ${label}}`,
      [': secrets: get,list,patch', ': configmaps: get,list'],
    ],
    ['nothing, for rules that act on requests', `mutate: {${label}}`, []],
  ])('%s', async (_, rule, expected) => {
    expect(await rulesFor(policy(rule))).toEqual(expected);
  });

  it('names what it cannot know', async () => {
    const mutate = `mutate: {targets: [{apiVersion: v1, kind: "{{ request.object.data.kind }}"}], ${label}}`;
    const { stdout } = await kymera(['rbac', 'p.yaml'], { files: { 'p.yaml': policy(mutate) } });
    expect(stdout).toMatch(/^# policy p, rule r: add the kinds of \{\{ request.object.data.kind \}\}\n/);
  });
});
