import { expect, it } from 'vitest';
import { build, configMap, deployment, failureOf, objectsOf, yaml } from './build-fixture.ts';

const flags = ['--enable-plugins'];
const withFunction = (
  spec: unknown,
  program: string,
  field = 'transformers',
  annotation = 'config.kubernetes.io/function',
) => ({
  files: {
    'kustomization.yaml': `resources: [r.yaml]\n${field}: [f.yaml]`,
    'r.yaml': yaml(configMap('c'), deployment('d')),
    'f.yaml': yaml({
      apiVersion: 'fn.example.com/v1',
      kind: 'Fn',
      metadata: { name: 'f', annotations: { [annotation]: JSON.stringify(spec) } },
    }),
    'bin/fn.sh': `#!/bin/sh\n${program}\n`,
  },
  flags,
});
const exec = { exec: { path: './bin/fn.sh' } };
const scaleUp = `sed 's/replicas: 1/replicas: 2/'`;

it.each(['config.kubernetes.io/function', 'config.k8s.io/function'])(
  'F-01: a function is named by %s',
  async (annotation) => {
    expect(await objectsOf(withFunction(exec, scaleUp, 'transformers', annotation))).toEqual([
      configMap('c'),
      deployment('d', { replicas: 2 }),
    ]);
  },
);

it('F-01: unknown keys are refused, and containers are not run', async () => {
  expect(await failureOf(withFunction({ exec: { path: 'x', shell: true } }, ''))).toMatch(
    /unknown field "shell"/,
  );
  expect(await failureOf(withFunction({ container: { image: 'x' } }, ''))).toMatch(
    /container functions are not supported/,
  );
});

it('F-04: a function runs in the folder of the kustomization, with the environment and its own', async () => {
  const program = `cat > /dev/null\nprintf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: made}\\ndata: {here: "%s", own: "%s", inherited: "%s", args: "%s"}\\n' "$(ls | tr "\\n" " ")" "$OWN" "$GIVEN" "$*"`;
  const spec = { exec: { path: './bin/fn.sh', args: ['-a', 'b c'], envs: ['OWN=mine'] } };
  const objects = await objectsOf({
    ...withFunction(spec, program, 'generators'),
    env: { GIVEN: 'from outside' },
  });
  expect(objects).toContainEqual(
    configMap('made', {
      data: {
        here: 'bin f.yaml kustomization.yaml r.yaml ',
        own: 'mine',
        inherited: 'from outside',
        args: '-a b c',
      },
    }),
  );
});

it('F-05: a function that fails fails the build, with what it said', async () => {
  expect(await failureOf(withFunction(exec, 'echo sorry >&2; exit 4'))).toMatch(/exited with code 4: sorry/);
});

it('F-07: without leave nothing runs; with the flag of kustomize for plugins alone it is skipped, not silently', async () => {
  expect(await failureOf({ ...withFunction(exec, scaleUp), flags: [] })).toContain('KYM_PLUGIN_DISABLED');
  const skipped = await build({ ...withFunction(exec, scaleUp), flags: ['--enable-alpha-plugins'] });
  expect(skipped.objects).toEqual([configMap('c'), deployment('d')]);
  expect(skipped.stderr).toMatch(/is skipped.*--enable-exec/);
  const both = await build({
    ...withFunction(exec, scaleUp),
    flags: ['--enable-alpha-plugins', '--enable-exec'],
  });
  expect(both.objects).toEqual([configMap('c'), deployment('d', { replicas: 2 })]);
});

it('F-08: mounts are of containers, which are refused', async () => {
  const spec = { container: { image: 'x', mounts: [{ type: 'bind', src: '/etc', dst: '/etc' }] } };
  expect(await failureOf(withFunction(spec, ''))).toMatch(/container functions are not supported/);
});

it.each([
  ['hands everything on', 'cat', 0],
  ['leaves its mark', `sed 's/^    name: c$/    name: c\\n    labels: {validated-by: me}/'`, 0],
  ['changes something', scaleUp, 2],
  ['removes something', 'cat > /dev/null; echo "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}"', 2],
  ['fails', 'exit 1', 2],
])('F-09 X-17: a validator that %s: exit code %3$s', async (_what, program, code) => {
  const { exitCode, stdout, stderr } = await build(withFunction(exec, program, 'validators'));
  expect(exitCode, stderr).toBe(code);
  expect(stdout === '').toBe(code !== 0);
});

it('X-14: a generator of the layout by kind, and a function, do not transform', async () => {
  const made = `cat > /dev/null\necho run >> runs\necho '{apiVersion: v1, kind: ConfigMap, metadata: {name: made}}'`;
  const plugin = await build({
    files: {
      'kustomization.yaml': 'generators: [g.yaml]',
      'g.yaml': yaml({ apiVersion: 'team.example.com/v1', kind: 'App', metadata: { name: 'g' } }),
      'plugins/team.example.com/v1/app/App': `#!/bin/sh\n${made}\n`,
    },
    flags,
    env: { KUSTOMIZE_PLUGIN_HOME: '{HERE}/plugins' },
  });
  expect(plugin.objects).toEqual([configMap('made')]);
  expect(await objectsOf(withFunction(exec, made, 'generators'))).toEqual([
    configMap('c'),
    configMap('made'),
    deployment('d'),
  ]);
  const { readFileSync } = await import('node:fs');
  expect(readFileSync(`${plugin.folder}/runs`, 'utf8')).toBe('run\n');
});
