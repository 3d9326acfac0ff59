import { expect, test } from 'vitest';
import { kymera } from './in-process.testing.ts';

const policy = (name: string, patch: string) => `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: ${name}}
spec:
  rules:
  - name: write
    match: {any: [{resources: {kinds: [Pod, Secret]}}]}
    mutate: ${patch}
`;
const files = {
  'first.yaml': policy(
    'first',
    '{patchStrategicMerge: {metadata: {labels: {team: a, tier: web}}, spec: {containers: [{name: log, image: "log:1"}]}}}',
  ),
  'second.yaml': policy(
    'second',
    `{patchesJson6902: '[{"op": "add", "path": "/metadata/labels/team", "value": "b"}, {"op": "add", "path": "/spec/containers/0", "value": {"name": "zero", "image": "zero:1"}}, {"op": "remove", "path": "/spec/hostNetwork"}]'}`,
  ),
  'pod.yaml':
    'apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n  hostNetwork: true\n  containers:\n  - {name: app, image: "app:1"}\n',
};
const argv = ['first.yaml', 'second.yaml', '-r', 'pod.yaml'];

test('apply -o blame names the rule that wrote each changed line', async () => {
  const { stdout, exitCode } = await kymera(['apply', ...argv, '-o', 'blame'], { files });
  expect(exitCode).toBe(0);
  expect(stdout).toBe(`Pod default/web
                                  kind: Pod
                                  metadata:
                                    name: web
first/write                     +   labels:
second/write (over first/write) +     team: b
first/write                     +     tier: web
                                  spec:
second/write                    -   hostNetwork: true
                                    containers:
second/write                    +   - name: zero
second/write                    +     image: zero:1
first/write                     +   - name: log
first/write                     +     image: log:1
                                    - name: app
                                      image: app:1
1 object: 1 changed, 0 unchanged, 0 failed; rules: 2 applied, 0 skipped, 0 failed
`);
});

test('explain -o json names the rule of each changed field', async () => {
  const { stdout } = await kymera(['explain', ...argv, '-o', 'json'], { files });
  const [explained] = JSON.parse(stdout) as [{ blame: unknown }];
  expect(explained.blame).toEqual([
    { op: 'add', path: '/metadata/labels', policy: 'first', rule: 'write' },
    {
      op: 'add',
      path: '/metadata/labels/team',
      policy: 'second',
      rule: 'write',
      earlier: [{ policy: 'first', rule: 'write' }],
    },
    { op: 'add', path: '/spec/containers/0', policy: 'second', rule: 'write' },
    { op: 'add', path: '/spec/containers/1', policy: 'first', rule: 'write' },
    { op: 'remove', path: '/spec/hostNetwork', policy: 'second', rule: 'write' },
  ]);
});

test('blame shows no values of Secrets', async () => {
  const secret =
    'apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nspec: {hostNetwork: true, containers: []}\nstringData: {a: hunter2}\n';
  const { stdout } = await kymera(['apply', 'first.yaml', '-r', 'pod.yaml', '-o', 'blame'], {
    files: { ...files, 'pod.yaml': secret },
  });
  expect(stdout).toContain('team: a');
  expect(stdout).not.toContain('hunter2');
});
