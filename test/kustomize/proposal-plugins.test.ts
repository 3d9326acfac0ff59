import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { build, configMap, deployment, failureOf, objectsOf, yaml } from './build-fixture.ts';

const flags = ['--enable-plugins'];
const env = { XDG_CONFIG_HOME: '{HERE}/config' };
const plugin = 'config/kustomize/plugins/team.example.com';
const resources = yaml(configMap('c'), deployment('d'));

/** A kustomization with one program for the group team.example.com. */
const withPlugin = (program: string, fields: string, more: Readonly<Record<string, string>> = {}) => ({
  files: {
    'kustomization.yaml': `resources: [r.yaml]\n${fields}`,
    'r.yaml': resources,
    'app.yaml': yaml({
      apiVersion: 'team.example.com/v1',
      kind: 'App',
      metadata: { name: 'app' },
      spec: { n: 1 },
    }),
    [plugin]: `#!/bin/sh\n${program}\n`,
    ...more,
  },
  flags,
  env,
});

const generated = `printf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: made}\\ndata: {command: "%s"}\\n' "$1"`;
const generatesOnly = `[ "$1" = generate ] || exit 127\ncat > seen-$1\n${generated}`;

it('K-01 K-02 K-03 K-04 K-05 N-05: a generator is found by its group and generates, with its configs as input', async () => {
  const { objects, folder } = await build(withPlugin(generatesOnly, 'generators: [app.yaml]'));
  expect(objects.find(({ metadata }) => (metadata as { name: string }).name === 'made')).toMatchObject({
    data: { command: 'generate' },
  });
  expect(readFileSync(`${folder}/seen-generate`, 'utf8')).toBe(
    'apiVersion: team.example.com/v1\nkind: App\nmetadata:\n  name: app\nspec:\n  "n": 1\n',
  );
});

it('K-06: a transformer gets its configs and all resources, and prints the new set', async () => {
  const program = `[ "$1" = transform ] || exit 127\ncat | tee seen | sed 's/replicas: 1/replicas: 4/'`;
  const { objects, folder } = await build(withPlugin(program, 'transformers: [app.yaml]'));
  expect(objects).toEqual([configMap('c'), deployment('d', { replicas: 4 })]);
  const seen = readFileSync(`${folder}/seen`, 'utf8');
  expect(seen).toContain('kind: App');
  expect(seen).toContain('kind: ConfigMap');
  expect(seen).toContain('kind: Deployment');
});

it('K-07 K-17 N-06: one run for all configs of a group, whatever their kinds and places', async () => {
  const program = `[ "$1" = generate ] && { echo run >> generate-runs; cat > /dev/null; exit 0; }\necho run >> transform-runs\ncat`;
  const other = yaml({ apiVersion: 'team.example.com/v2', kind: 'Other', metadata: { name: 'other' } });
  const { folder, exitCode } = await build(
    withPlugin(program, 'generators: [app.yaml, other.yaml]\ntransformers: [third.yaml]', {
      'other.yaml': other,
      'third.yaml': yaml({ apiVersion: 'team.example.com/v1', kind: 'App', metadata: { name: 'third' } }),
    }),
  );
  expect(exitCode).toBe(0);
  expect(readFileSync(`${folder}/generate-runs`, 'utf8')).toBe('run\n');
  expect(readFileSync(`${folder}/transform-runs`, 'utf8')).toBe('run\n');
});

it('K-08: generators also transform', async () => {
  const program = `if [ "$1" = generate ]; then cat > /dev/null; ${generated}; else sed 's/command: generate/command: transformed/'; fi`;
  expect(await objectsOf(withPlugin(program, 'generators: [app.yaml]'))).toContainEqual(
    configMap('made', { data: { command: 'transformed' } }),
  );
});

it('K-09: a config without a plugin fails, naming every path tried', async () => {
  const { [plugin]: _, ...files } = withPlugin('', 'generators: [app.yaml]').files;
  const message = await failureOf({ files, flags, env });
  expect(message).toContain('KYM_PLUGIN_NOT_FOUND');
  for (const path of [
    'kustomize/plugin/team.example.com/v1/app/App',
    'kustomize/plugins/team.example.com',
    'kustomize/plugins/generators/team.example.com',
    'kustomize/plugins/transformers/team.example.com',
  ]) {
    expect(message).toContain(path);
  }
});

it('K-10 K-11: a plugin that fails fails the build, with what it said', async () => {
  const message = await failureOf(withPlugin('echo broken chart >&2; exit 3', 'generators: [app.yaml]'));
  expect(message).toMatch(/generate exited with code 3: broken chart.*KYM_PLUGIN_FAILED/s);
});

it('K-12 N-06: exit code 127 of the implicit transform passes, elsewhere it is an error', async () => {
  expect((await build(withPlugin(generatesOnly, 'generators: [app.yaml]'))).exitCode).toBe(0);
  expect(await failureOf(withPlugin('exit 127', 'generators: [app.yaml]'))).toMatch(
    /does not support 'generate'/,
  );
  expect(await failureOf(withPlugin('exit 127', 'transformers: [app.yaml]'))).toMatch(
    /does not support 'transform'/,
  );
  const both = withPlugin(generatesOnly, 'generators: [app.yaml]\ntransformers: [t.yaml]', {
    't.yaml': yaml({ apiVersion: 'team.example.com/v1', kind: 'Tx', metadata: { name: 't' } }),
  });
  expect(await failureOf(both)).toMatch(/does not support 'transform'/);
});

it('K-13 K-14: plugins run in the folder of the kustomization that lists them, with the environment', async () => {
  const program = `[ "$1" = generate ] || exit 127\nprintf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: where}\\ndata: {sibling: "%s", inherited: "%s"}\\n' "$(cat sibling.txt)" "$OWN"`;
  const base = withPlugin(program, '');
  const files = {
    'kustomization.yaml': 'resources: [inner]',
    'inner/kustomization.yaml': 'generators: [app.yaml]',
    'inner/app.yaml': base.files['app.yaml'] ?? '',
    'inner/sibling.txt': 'inside',
    [plugin]: base.files[plugin] ?? '',
  };
  expect(await objectsOf({ files, flags, env: { ...env, OWN: 'mine' } })).toEqual([
    configMap('where', { data: { sibling: 'inside', inherited: 'mine' } }),
  ]);
});

it.each([
  [
    'add',
    `cat; printf -- '---\\napiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: extra}\\n'`,
    /added ConfigMap \(v1\) "extra"/,
  ],
  ['remove', `sed '/kind: Deployment/,$d; s/apiVersion: apps.*//'`, /removed Deployment/],
  [
    'rename',
    `sed 's/name: c$/name: changed/'`,
    /removed ConfigMap \(v1\) "c" and added ConfigMap \(v1\) "changed"/,
  ],
  ['move', `sed 's/  name: c$/  name: c\\n  namespace: other/'`, /removed .* and added .*namespace "other"/],
])('K-15 N-09: a transformer may not %s resources', async (_what, program, message) => {
  const finished = await failureOf(withPlugin(program, 'transformers: [app.yaml]'));
  expect(finished).toContain('KYM_PLUGIN_CHANGED');
  expect(finished).toMatch(message);
});

it('K-15: a config with a generate of its own under transformers may add resources, the only such case', async () => {
  const config = yaml({
    groupVersion: 'team.example.com/v1beta1',
    kind: 'CommonApp',
    generate: { image: 'foo' },
  });
  const add = `cat; printf -- '---\\napiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: extra}\\n'`;
  const files = { 'app.yaml': config };
  expect(await objectsOf(withPlugin(add, 'transformers: [app.yaml]', files))).toContainEqual(
    configMap('extra'),
  );
  const remove = `printf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: extra}\\n'`;
  expect(await failureOf(withPlugin(remove, 'transformers: [app.yaml]', files))).toContain(
    'KYM_PLUGIN_CHANGED',
  );
});

it('K-16: a plugin that hands its input on changes nothing', async () => {
  expect(await objectsOf(withPlugin('cat', 'transformers: [app.yaml]'))).toEqual([
    configMap('c'),
    deployment('d'),
  ]);
});

it("K-18 N-07: the kustomization's own patches reach configs before plugins run", async () => {
  const program = `[ "$1" = generate ] || exit 127\nn=$(sed -n 's/.*"n": //p')\nprintf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: made}\\ndata: {n: "%s"}\\n' "$n"`;
  const byId = 'apiVersion: team.example.com/v1\nkind: App\nmetadata: {name: app}\nspec: {n: 7}\n';
  const made = (n: string) => configMap('made', { data: { n } });
  const cases: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
    ['patches: [{path: p.yaml}]', { 'p.yaml': byId }],
    ['patchesStrategicMerge: [p.yaml]', { 'p.yaml': byId }],
    [
      'patches: [{target: {kind: App}, patch: "[{\\"op\\": \\"replace\\", \\"path\\": \\"/spec/n\\", \\"value\\": 7}]"}]',
      {},
    ],
    [
      'patches: [{target: {group: team.example.com}, patch: "{kind: x, metadata: {name: x}, spec: {n: 7}}"}]',
      {},
    ],
  ];
  for (const [fields, files] of cases) {
    expect(await objectsOf(withPlugin(program, `generators: [app.yaml]\n${fields}`, files))).toContainEqual(
      made('7'),
    );
  }
  const unaddressed =
    'patches: [{target: {labelSelector: "a=b"}, patch: "{kind: x, metadata: {name: x}, spec: {n: 7}}"}]';
  expect(await objectsOf(withPlugin(program, `generators: [app.yaml]\n${unaddressed}`))).toContainEqual(
    made('1'),
  );
});

it('K-18 K-19 N-08: transformers run before the built-in ones, and what they set is transformed further', async () => {
  const program = `sed 's/replicas: 1/replicas: 2/'`;
  const fields = 'transformers: [app.yaml]\nnamePrefix: x-\nreplicas: [{name: d, count: 9}]';
  const { objects, folder } = await build(withPlugin(`cat | tee seen | ${program}`, fields));
  expect(objects).toEqual([configMap('x-c'), deployment('x-d', { replicas: 9 })]);
  expect(readFileSync(`${folder}/seen`, 'utf8')).toContain('name: d\n');
});

it('N-10: configs outside the folder are refused', async () => {
  const files = {
    'kustomization.yaml': 'resources: [inner]',
    'inner/kustomization.yaml': 'generators: [../app.yaml]',
    'app.yaml': yaml({ apiVersion: 'team.example.com/v1', kind: 'App', metadata: { name: 'app' } }),
    [plugin]: '#!/bin/sh\ncat\n',
  };
  expect(await failureOf({ files, flags, env })).toContain('KYM_KUSTOMIZE_OUTSIDE');
});

it.each(['team.example.com/v1beta1', 'team.example.com'])(
  'N-11: groupVersion: %s names the group, and no name is needed',
  async (groupVersion) => {
    const files = { 'app.yaml': `groupVersion: ${groupVersion}\nkind: CommonApp\ngenerate: {size: big}\n` };
    expect(await objectsOf(withPlugin(generatesOnly, 'generators: [app.yaml]', files))).toContainEqual(
      configMap('made', { data: { command: 'generate' } }),
    );
  },
);

it.each([
  ['generators', 'generators', generatesOnly],
  ['transformers', 'transformers', `sed 's/replicas: 1/replicas: 5/'`],
])('K-02: a plugin is found in the folder plugins/%s too', async (folder, field, program) => {
  const { [plugin]: _, ...files } = withPlugin('', `${field}: [app.yaml]`).files;
  const own = { [`config/kustomize/plugins/${folder}/team.example.com`]: `#!/bin/sh\n${program}\n` };
  const { exitCode, stdout } = await build({ files: { ...files, ...own }, flags, env });
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/made|replicas: 5/);
});

it('runs no plugin without leave', async () => {
  const message = await failureOf({ ...withPlugin(generatesOnly, 'generators: [app.yaml]'), flags: [] });
  expect(message).toContain('KYM_PLUGIN_DISABLED');
});
