import { expect, test } from 'vitest';
import { kymera } from './in-process.testing.ts';

const policy =
  'apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {name: p}\nspec:\n  rules:\n  - name: r\n    match: {any: [{resources: {kinds: [Pod]}}]}\n    mutate: {patchStrategicMerge: {metadata: {labels: {a: b}}}}\n';
const pod = 'apiVersion: v1\nkind: Pod\nmetadata: {name: web}\n';
const suite =
  'apiVersion: cli.kyverno.io/v1alpha1\nkind: Test\nmetadata: {name: t}\npolicies: [policy.yaml]\nresources: [pod.yaml]\nresults:\n- {policy: p, rule: r, resources: [web], kind: Pod, result: pass}\n';
const files = {
  'policy.yaml': policy,
  'policies/policy.yaml': policy,
  'pod.yaml': pod,
  'deployment.yaml': pod,
  'manifests/a/pod.yaml': pod,
  'objects/pod.yaml': pod,
  'values.yaml':
    'apiVersion: cli.kyverno.io/v1alpha1\nkind: Values\nglobalValues: {request.operation: UPDATE}\n',
  'user.yaml': 'apiVersion: cli.kyverno.io/v1alpha1\nkind: UserInfo\nuserInfo: {username: u}\n',
  ...Object.fromEntries(
    ['tests', 'kyverno-policies'].flatMap((folder) => [
      [`${folder}/policy.yaml`, policy],
      [`${folder}/pod.yaml`, pod],
      [`${folder}/kyverno-test.yaml`, suite],
    ]),
  ),
};

/** The command lines in a help text, without what stands before a pipe and what explains them. */
function examplesIn(help: string): string[][] {
  return help
    .split('\n')
    .filter((line) => line.includes('$ '))
    .map((line) => line.replace(/^.*\bkymera /, '').replace(/ {2,}.*$/, ''))
    .map((line) => line.split(' ').map((word) => word.replaceAll("'", '')));
}

test.each([
  [[]],
  [['apply']],
  [['explain']],
  [['test']],
  [['existing', 'plan']],
  [['existing', 'apply']],
  [['rbac']],
])('the examples in the help of %j work', async (command) => {
  const { stdout } = await kymera([...command, '--help']);
  const examples = examplesIn(stdout);
  expect(examples.length).toBeGreaterThan(1);
  // A cluster is asked elsewhere.
  for (const argv of examples.filter((words) => !words.includes('--cluster'))) {
    const finished = await kymera(argv, { files, stdin: pod });
    expect(finished, argv.join(' ')).toMatchObject({ exitCode: 0 });
    expect(finished.stdout, argv.join(' ')).not.toBe('');
  }
});
