import { expect, test } from 'vitest';
import { kymera } from './in-process.testing.ts';

const policy = (match: string) =>
  `apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {name: p}\nspec:\n  rules:\n  - name: r\n    match: {${match}}\n    mutate: {patchStrategicMerge: {metadata: {labels: {a: b}}}}\n`;
const current = policy('any: [{resources: {kinds: [Pod, Deployment]}}]');
const old = policy('resources: {kinds: [Pod]}');
const pod =
  'apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: a, image: nginx}]}\n';
const files = {
  'policy.yaml': current,
  'policies/policy.yaml': current,
  'old-policy.yaml': old,
  'pod.yaml': pod,
  'manifests/pod.yaml': pod,
  'objects/pod.yaml': pod,
  'deployment.yaml': 'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n',
  'query.txt': 'metadata.name\n',
  'values.yaml':
    'apiVersion: cli.kyverno.io/v1alpha1\nkind: Values\nglobalValues: {request.operation: CREATE}\n',
};

interface Example {
  readonly argv: readonly string[];
  readonly stdin: string;
}

/** The command lines in a help text: what is piped in becomes standard input, where output goes to is left out. */
function examplesIn(help: string): Example[] {
  return help
    .split('\n')
    .filter((line) => line.includes('$ '))
    .map((line) => {
      const piped = /cat (\S+) \|/.exec(line)?.[1] ?? '';
      const command = line.replace(/^.*?\bkymera /, '').replace(/ {2,}.*$| > .*$/, '');
      const argv = (command.match(/'[^']*'|\S+/g) ?? []).map((word) => word.replaceAll("'", ''));
      return { argv, stdin: (files as Record<string, string>)[piped] ?? '' };
    });
}

test.each([
  [['validate']],
  [['convert']],
  [['gitops', 'hints']],
  [['migrate', 'check']],
  [['jp', 'query']],
  [['jp', 'parse']],
  [['jp', 'functions']],
  [['cel', 'eval']],
  [['cel', 'check']],
  [['create', 'test']],
  [['create', 'policy']],
  [['create', 'exception']],
  [['completion']],
])('the examples in the help of %j work', async (command) => {
  const { stdout, exitCode } = await kymera([...command, '--help']);
  expect(exitCode).toBe(0);
  const examples = examplesIn(stdout);
  expect(examples.length).toBeGreaterThan(1);
  for (const { argv, stdin } of examples) {
    expect(argv.slice(0, command.length)).toEqual(command);
    // Others do not end, or need a cluster.
    if (argv.includes('--watch') || argv.includes('--cluster')) continue;
    const finished = await kymera(argv, { files, stdin });
    expect(finished, argv.join(' ')).toMatchObject({ exitCode: 0 });
    expect(finished.stdout + finished.stderr, argv.join(' ')).not.toBe('');
  }
});

test.each([[['jp']], [['cel']], [['create']]])('%j alone shows what there is', async (argv) => {
  const { exitCode, stderr } = await kymera(argv);
  expect(exitCode).toBe(2);
  expect(stderr).toContain('Commands:');
});
