import { describe, expect, test } from 'vitest';
import { kymera } from './in-process.testing.ts';

const policy = `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata:
  name: demo
  annotations: {pod-policies.kyverno.io/autogen-controllers: none}
spec:
  rules:
  - name: applied
    match: {any: [{resources: {kinds: [Pod]}}]}
    mutate:
      patchStrategicMerge: {metadata: {labels: {team: web}}}
  - name: other-kind
    match: {any: [{resources: {kinds: [Service]}}]}
    mutate:
      patchStrategicMerge: {metadata: {labels: {team: web}}}
  - name: precondition
    match: {any: [{resources: {kinds: [Pod]}}]}
    preconditions:
      all: [{key: "{{ request.object.metadata.name }}", operator: Equals, value: db}]
    mutate:
      patchStrategicMerge: {metadata: {labels: {x: "y"}}}
  - name: anchor
    match: {any: [{resources: {kinds: [Pod]}}]}
    mutate:
      patchStrategicMerge: {spec: {containers: [{(image): "*:latest", imagePullPolicy: Always}]}}
  - name: each
    match: {any: [{resources: {kinds: [Pod]}}]}
    mutate:
      foreach:
      - list: request.object.spec.containers
        preconditions:
          all: [{key: "{{ element.name }}", operator: Equals, value: a}]
        patchStrategicMerge: {spec: {containers: [{(name): "{{ element.name }}", tty: true}]}}
`;
const pod =
  'apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n  containers:\n  - {name: a, image: "a:1"}\n  - {name: b, image: "b:1"}\n';
const files = { 'policy.yaml': policy, 'pod.yaml': pod };

test('the tree names the clause, both operands, the anchor and the elements', async () => {
  const { stdout, exitCode } = await kymera(['explain', 'policy.yaml', '-r', 'pod.yaml'], { files });
  expect(exitCode).toBe(0);
  expect(stdout).toBe(`Pod default/web (pod.yaml:1)
└─ policy demo
   ├─ ✓ rule applied: applied: mutated Pod/web in namespace default
   │  └─ add /metadata/labels {"team":"web"}
   ├─ - rule other-kind: skipped: the object does not match
   │  └─ match.any[0].resources.kinds: the policy selects Service, the object has v1/Pod
   ├─ - rule precondition: skipped: preconditions not met
   │  ├─ preconditions.all[0]: "web" Equals "db": false
   │  └─ variables
   │     └─ {{ request.object.metadata.name }} is "web"
   ├─ - rule anchor: unchanged: no patches applied
   │  ├─ anchor (image) at /spec/containers/0/image expects "*:latest": the object has "a:1"
   │  └─ anchor (image) at /spec/containers/1/image expects "*:latest": the object has "b:1"
   └─ ✓ rule each: applied: mutated Pod/web in namespace default
      ├─ add /spec/containers/0/tty true
      ├─ anchor (name) at /spec/containers/1/name expects "a": the object has "b"
      ├─ mutate.foreach[0], element 1: skipped
      │  └─ mutate.foreach[0].preconditions.all[0]: "b" Equals "a": false
      ├─ mutate.foreach[0], element 0: applied
      └─ variables
         ├─ {{ element.name }} is "b"
         └─ {{ element.name }} is "a"
`);
});

test('-o json holds the same as data', async () => {
  const { stdout } = await kymera(['explain', 'policy.yaml', '-r', 'pod.yaml', '-o', 'json'], { files });
  const [explained] = JSON.parse(stdout);
  expect(explained).toMatchObject({
    resource: { apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: 'web', file: 'pod.yaml', line: 1 },
    changed: true,
    failedPolicies: [],
  });
  expect(
    explained.outcomes.map((outcome: { rule: string; status: string }) => [outcome.rule, outcome.status]),
  ).toEqual([
    ['applied', 'applied'],
    ['other-kind', 'skipped'],
    ['precondition', 'skipped'],
    ['anchor', 'unchanged'],
    ['each', 'applied'],
  ]);
  expect(explained.outcomes[0].patch).toEqual([
    { op: 'add', path: '/metadata/labels', value: { team: 'web' } },
  ]);
  expect(explained.outcomes[2].reason.conditions[0]).toMatchObject({
    key: 'web',
    operator: 'Equals',
    value: 'db',
    passed: false,
  });
});

test('a failed rule ends with 1 and says where', async () => {
  const failing = policy.replace(
    '{labels: {team: web}}}\n  - name: other-kind',
    '{labels: {team: "{{ request.object.nope }}"}}}\n  - name: other-kind',
  );
  const { stdout, exitCode } = await kymera(['explain', 'policy.yaml', '-r', 'pod.yaml'], {
    files: { ...files, 'policy.yaml': failing },
  });
  expect(exitCode).toBe(1);
  expect(stdout).toContain('policy demo: a rule failed, so none of its changes are kept');
  expect(stdout).toContain('✗ rule applied: failed:');
  expect(stdout).toContain('[KYM_VARIABLE_UNRESOLVED]');
});

describe('variables and width', () => {
  const policy = `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: p}
spec:
  rules:
  - name: r
    match: {any: [{resources: {kinds: [ConfigMap]}}]}
    preconditions: {all: [{key: "{{ request.object.metadata.name }}", operator: Equals, value: web}]}
    mutate: {patchStrategicMerge: {metadata: {labels: {name: "{{ request.object.metadata.name }}"}}}}
`;
  const files = {
    'policy.yaml': policy,
    'pod.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n',
  };

  test('the variables that a rule read are shown with what they yielded', async () => {
    const { stdout } = await kymera(['explain', 'policy.yaml', '-r', 'pod.yaml'], { files });
    expect(stdout).toBe(`ConfigMap default/web (pod.yaml:1)
└─ policy p
   └─ ✓ rule r: applied: mutated ConfigMap/web in namespace default
      ├─ add /metadata/labels {"name":"web"}
      └─ variables
         └─ {{ request.object.metadata.name }} is "web"
`);
    const json = await kymera(['explain', 'policy.yaml', '-r', 'pod.yaml', '-o', 'json'], { files });
    expect(JSON.parse(json.stdout)).toHaveProperty('0.outcomes.0.variables', [
      { text: 'request.object.metadata.name', value: 'web' },
    ]);
  });

  test('a terminal gets no line that is wider than itself', async () => {
    const argv = ['explain', 'policy.yaml', '-r', 'pod.yaml', '--no-color'];
    const { stdout } = await kymera(argv, { files, isTTY: true, columns: 40 });
    expect(stdout).toContain(`   └─ ✓ rule r: applied: mutated
      │ ConfigMap/web in namespace
      │ default
      ├─ add /metadata/labels
      │    {"name":"web"}
`);
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(40);
  });
});
