import { describe, expect, test } from 'vitest';
import { kymera } from './in-process.testing.ts';

const addLabel = (name: string, label: string, value: string, kinds = '[Pod]') => `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: ${name}}
spec:
  rules:
  - name: add-${label}
    match: {any: [{resources: {kinds: ${kinds}}}]}
    mutate:
      patchStrategicMerge:
        metadata:
          labels:
            ${label}: ${JSON.stringify(value)}
`;

const pod = `# the web server
apiVersion: v1
kind: Pod
metadata:
  name: web
spec:
  containers:
  - name: nginx
    image: nginx:1.25 # pinned
`;

const service = '# kept\napiVersion: v1\nkind: Service\nmetadata: {name: web}\n';

const files = {
  'policy.yaml': addLabel('label', 'team', 'web'),
  'pod.yaml': pod,
  'all.yaml': `${service}---\n${pod}`,
};

describe('output', () => {
  test('changed and unchanged objects keep Windows line endings', async () => {
    const windows = (text: string) => text.replaceAll('\n', '\r\n');
    const without = pod.replaceAll(/ ?#.*$/gm, '').trimStart();
    const argv = ['apply', 'policy.yaml', '-r', 'all.yaml', '-o', 'yaml', '-q'];
    const run = async (text: string) =>
      (await kymera(argv, { files: { ...files, 'all.yaml': text } })).stdout;
    const texts = `${service}---\n${pod}---\n${without}---\n${service.trimEnd()}`;
    expect(await run(windows(texts))).toBe(windows(await run(texts)));
    expect(await run(windows(texts))).toContain('  labels:\r\n    team: web\r\n');
  });

  test('the default is a unified diff with a summary', async () => {
    expect(await kymera(['apply', 'policy.yaml', '-r', 'all.yaml'], { files })).toEqual({
      exitCode: 0,
      stderr: '',
      stdout: `--- Pod default/web
+++ Pod default/web (mutated)
@@ -2,6 +2,8 @@
 kind: Pod
 metadata:
   name: web
+  labels:
+    team: web
 spec:
   containers:
   - name: nginx
2 objects: 1 changed, 1 unchanged, 0 failed; rules: 1 applied, 0 skipped, 0 failed
`,
    });
  });

  test('-o yaml prints every object in input order, unchanged ones as they were written, and nothing else', async () => {
    const { stdout, exitCode } = await kymera(['apply', 'policy.yaml', '-r', 'all.yaml', '-o', 'yaml'], {
      files,
    });
    expect(exitCode).toBe(0);
    expect(stdout).toBe(`${service}---
# the web server
apiVersion: v1
kind: Pod
metadata:
  name: web
  labels:
    team: web
spec:
  containers:
  - name: nginx
    image: nginx:1.25 # pinned
`);
  });

  test('-o json prints one List', async () => {
    const { stdout } = await kymera(['apply', 'policy.yaml', '-r', 'all.yaml', '-o', 'json'], { files });
    expect(JSON.parse(stdout)).toMatchObject({
      apiVersion: 'v1',
      kind: 'List',
      items: [{ kind: 'Service' }, { kind: 'Pod', metadata: { name: 'web', labels: { team: 'web' } } }],
    });
    const empty = await kymera(['apply', 'policy.yaml', '-r', '-', '-o', 'json'], { files });
    expect(JSON.parse(empty.stdout)).toEqual({ apiVersion: 'v1', kind: 'List', items: [] });
  });

  test('-o patch prints one patch for each changed object', async () => {
    const { stdout } = await kymera(['apply', 'policy.yaml', '-r', 'all.yaml', '-o', 'patch'], { files });
    expect(stdout).toBe(`apiVersion: v1
kind: Pod
name: web
namespace: default
patch:
- op: add
  path: /metadata/labels
  value:
    team: web
`);
  });

  test('colour goes to terminals only, and NO_COLOR, FORCE_COLOR and --no-color are heard', async () => {
    const argv = ['apply', 'policy.yaml', '-r', 'pod.yaml'];
    const hasColor = async (more: string[], setup: object) =>
      (await kymera([...argv, ...more], { files, ...setup })).stdout.includes('\u001b[');
    expect(await hasColor([], {})).toBe(false);
    expect(await hasColor([], { isTTY: true })).toBe(true);
    expect(await hasColor([], { isTTY: true, env: { NO_COLOR: '1' } })).toBe(false);
    expect(await hasColor([], { env: { FORCE_COLOR: '1' } })).toBe(true);
    expect(await hasColor(['--no-color'], { isTTY: true, env: { FORCE_COLOR: '1' } })).toBe(false);
  });
});

describe('input', () => {
  test('folders, globs and standard input', async () => {
    const many = {
      'p/one.yaml': files['policy.yaml'],
      'r/a/pod.yml': pod,
      'r/b.json': '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"b"}}',
      'r/notes.txt': 'x',
    };
    const count = async (argv: string[], stdin = '') =>
      (await kymera(['apply', ...argv], { files: many, stdin })).stdout.split('\n').at(-2)?.split(':')[0];
    expect(await count(['p', '-r', 'r'])).toBe('2 objects');
    expect(await count(['p/*.yaml', '-r', 'r/**/*.y*ml', 'r/*.json'])).toBe('2 objects');
    expect(await count(['p', '-r', 'r/a/pod.yml,r/b.json'])).toBe('2 objects');
    expect(await count(['p', '-r', '-'], pod)).toBe('1 object');
    expect(await count(['-', '-r', 'r'], files['policy.yaml'])).toBe('2 objects');
  });

  test('a policy among the resources is printed but not mutated', async () => {
    const all = {
      'policy.yaml': addLabel('label', 'team', 'web', '["*"]'),
      'x/policy.yaml': files['policy.yaml'],
      'x/pod.yaml': pod,
    };
    const { stdout, stderr } = await kymera(['apply', 'policy.yaml', '-r', 'x', '-o', 'yaml'], {
      files: all,
    });
    expect(stderr).toContain('1 object: 1 changed');
    expect(stdout.match(/team: web/g)).toHaveLength(1);
    expect(stdout).toContain('kind: ClusterPolicy');
  });

  test('policies run in the order given, each on what the one before it left', async () => {
    const chain = {
      'b.yaml': addLabel('b-first', 'team', 'b'),
      'a.yaml': addLabel('a-second', 'team', 'a'),
      'pod.yaml': pod,
    };
    const { stdout } = await kymera(['apply', 'b.yaml', 'a.yaml', '-r', 'pod.yaml', '-o', 'yaml'], {
      files: chain,
    });
    expect(stdout).toContain('team: a');
    const other = await kymera(['apply', 'a.yaml', 'b.yaml', '-r', 'pod.yaml', '-o', 'yaml'], {
      files: chain,
    });
    expect(other.stdout).toContain('team: b');
  });

  test('an object without a namespace is matched as one of default, and printed without', async () => {
    const policy = addLabel('p', 'team', 'x').replace('kinds: [Pod]', 'kinds: [Pod], namespaces: [default]');
    const { stdout } = await kymera(['apply', 'policy.yaml', '-r', 'pod.yaml', '-o', 'yaml'], {
      files: { 'policy.yaml': policy, 'pod.yaml': pod },
    });
    expect(stdout).toContain('team: x');
    expect(stdout).not.toContain('namespace');
  });
});

describe('values', () => {
  const fromConfigMap = `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: p}
spec:
  rules:
  - name: r
    match: {any: [{resources: {kinds: [Pod]}}]}
    context:
    - name: cm
      configMap: {name: settings, namespace: default}
    mutate:
      patchStrategicMerge:
        metadata:
          labels:
            env: "{{ cm.data.env }}"
            operation: "{{ request.operation }}"
`;
  const run = (argv: string[], more: Record<string, string>) =>
    kymera(['apply', 'p.yaml', '-r', 'pod.yaml', '-o', 'yaml', ...argv], {
      files: { 'p.yaml': fromConfigMap, 'pod.yaml': pod, ...more },
    });

  test('a ConfigMap among the resources answers a context entry', async () => {
    const map = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {env: from-input}\n';
    const { stdout, exitCode } = await run(['-r', 'pod.yaml', 'map.yaml'], { 'map.yaml': map });
    expect(exitCode).toBe(0);
    expect(stdout).toContain('env: from-input');
    expect(stdout).toContain('operation: CREATE');
  });

  test('values of the rule answer it, --set wins over globalValues', async () => {
    const values = `kind: Values
apiVersion: cli.kyverno.io/v1alpha1
globalValues: {request.operation: UPDATE}
policies:
- name: p
  rules: [{name: r, values: {cm.data.env: from-values}}]
`;
    const first = await run(['--values', 'values.yaml'], { 'values.yaml': values });
    expect(first.stdout).toContain('env: from-values');
    expect(first.stdout).toContain('operation: UPDATE');
    const second = await run(['--values', 'values.yaml', '--set', 'request.operation=CREATE'], {
      'values.yaml': values,
    });
    expect(second.stdout).toContain('operation: CREATE');
  });

  test('values of one resource hold for it alone', async () => {
    const values = `kind: Values
apiVersion: cli.kyverno.io/v1alpha1
globalValues: {cm.data.env: everywhere}
policies:
- name: p
  resources: [{name: web, values: {cm.data.env: for-web}}]
`;
    const two = {
      'values.yaml': values,
      'two.yaml': `${pod}---\n${pod.replace('name: web', 'name: other')}`,
    };
    const { stdout } = await run(['-f', 'values.yaml', '-r', 'two.yaml'], two);
    expect(stdout.match(/env: .*/g)).toEqual(['env: for-web', 'env: for-web', 'env: everywhere']);
  });

  test('a missing ConfigMap fails the rule: the object is printed without the changes of its policy, exit 1', async () => {
    const { stdout, stderr, exitCode } = await run([], {});
    expect(exitCode).toBe(1);
    expect(stdout).toBe(pod);
    expect(stderr).toContain('failed: Pod default/web: policy p, rule r: ');
    expect(stderr).toContain('ConfigMap default/settings');
    expect(stderr).toContain(
      '1 object: 0 changed, 0 unchanged, 1 failed; rules: 0 applied, 0 skipped, 1 failed',
    );
  });

  test('userinfo says who makes the request', async () => {
    const policy = addLabel('p', 'team', 'x')
      .replace('[{resources: {kinds: [Pod]}}]', '[{resources: {kinds: [Pod]}, clusterRoles: [admin]}]')
      .replace('spec:', 'spec:\n  background: false');
    const user = (role: string) =>
      `apiVersion: cli.kyverno.io/v1alpha1\nkind: UserInfo\nclusterRoles: [${role}]\nuserInfo: {username: u}\n`;
    const setup = {
      files: {
        'policy.yaml': policy,
        'pod.yaml': pod,
        'admin.yaml': user('admin'),
        'view.yaml': user('view'),
      },
    };
    const argv = ['apply', 'policy.yaml', '-r', 'pod.yaml', '-o', 'yaml', '--userinfo'];
    expect((await kymera([...argv, 'admin.yaml'], setup)).stdout).toContain('team: x');
    expect((await kymera([...argv, 'view.yaml'], setup)).stdout).not.toContain('team: x');
  });

  test('an exception lifts a rule', async () => {
    const exception = `apiVersion: kyverno.io/v2
kind: PolicyException
metadata: {name: e, namespace: default}
spec:
  exceptions: [{policyName: label, ruleNames: [add-team]}]
  match: {any: [{resources: {kinds: [Pod], names: [web]}}]}
`;
    const { stdout, exitCode } = await kymera(
      ['apply', 'policy.yaml', '-r', 'pod.yaml', '-o', 'yaml', '--exceptions', 'e.yaml'],
      { files: { ...files, 'e.yaml': exception } },
    );
    expect(exitCode).toBe(0);
    expect(stdout).toBe(pod);
  });

  test('namespace labels come from values, else from Namespace objects', async () => {
    const policy = addLabel('p', 'team', 'x').replace(
      'kinds: [Pod]',
      'kinds: [Pod], namespaceSelector: {matchLabels: {tier: gold}}',
    );
    const namespace = 'apiVersion: v1\nkind: Namespace\nmetadata: {name: default, labels: {tier: gold}}\n';
    const values =
      'namespaceSelector: [{name: default, labels: {tier: lead}}]\napiVersion: cli.kyverno.io/v1alpha1\nkind: Values\n';
    const setup = {
      files: { 'policy.yaml': policy, 'pod.yaml': pod, 'ns.yaml': namespace, 'values.yaml': values },
    };
    const argv = ['apply', 'policy.yaml', '-r', 'pod.yaml', '-o', 'yaml'];
    expect((await kymera(argv, setup)).stdout).not.toContain('team: x');
    expect((await kymera([...argv, '-r', 'pod.yaml', 'ns.yaml'], setup)).stdout).toContain('team: x');
    expect(
      (await kymera([...argv, '-r', 'pod.yaml', 'ns.yaml', '--values', 'values.yaml'], setup)).stdout,
    ).not.toContain('team: x');
  });
});

test('a replacement takes its value from another object of the input, at any position', async () => {
  const policy = `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: p}
spec:
  rules:
  - name: r
    match: {any: [{resources: {kinds: [Pod]}}]}
    mutate:
      replacements:
      - source: {kind: ConfigMap, name: settings, fieldPath: data.host}
        targets:
        - select: {kind: Pod}
          fieldPaths: [metadata.annotations.host]
          options: {create: true}
`;
  const map = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {host: example.com}\n';
  const setup = { files: { 'policy.yaml': policy }, stdin: `${pod}---\n${map}` };
  const { stdout, stderr, exitCode } = await kymera(['apply', 'policy.yaml', '-r', '-', '-o', 'yaml'], setup);
  expect(stderr).toContain('2 objects: 1 changed, 1 unchanged, 0 failed');
  expect(exitCode).toBe(0);
  expect(stdout).toContain('  annotations:\n    host: example.com\n');
  expect(stdout.endsWith(map)).toBe(true);
});

describe('bad input ends with 2 and prints nothing half', () => {
  test.each([
    [
      'no such file',
      ['apply', 'policy.yaml', '-r', 'nope.yaml'],
      'nope.yaml: error: there is no file or folder nope.yaml [KYM_INPUT_NOT_FOUND]',
    ],
    ['a glob that fits nothing', ['apply', 'policy.yaml', '-r', '*.nope'], 'no file matches *.nope'],
    ['no policy', ['apply', 'pod.yaml', '-r', 'pod.yaml'], 'pod.yaml contains a Pod and no policy'],
    ['a broken policy', ['apply', 'broken.yaml', '-r', 'pod.yaml'], 'broken.yaml:'],
    [
      'a broken resource after a good one',
      ['apply', 'policy.yaml', '-r', 'half.yaml', '-o', 'yaml'],
      'half.yaml:12:1: error',
    ],
    ['standard input twice', ['apply', '-', '-r', '-'], 'only once'],
    ['no resource', ['apply', 'policy.yaml'], 'error: no resource is named'],
    ['an unknown option', ['apply', 'policy.yaml', '-r', 'pod.yaml', '--nope'], "unknown option '--nope'"],
    [
      'an unknown format',
      ['apply', 'policy.yaml', '-r', 'pod.yaml', '-o', 'xml'],
      '-o xml: the formats are diff, blame, yaml, json, patch, table',
    ],
    ['an unknown command', ['aply'], "unknown command 'aply'"],
    [
      'broken values',
      ['apply', 'policy.yaml', '-r', 'pod.yaml', '--values', 'pod.yaml'],
      'kind is Pod, not Values',
    ],
  ])('%s', async (_, argv, message) => {
    const broken = { ...files, 'broken.yaml': 'a: [\n', 'half.yaml': `${pod}---\na: [\n` };
    const { exitCode, stdout, stderr } = await kymera(argv, { files: broken });
    expect(stderr).toContain(message);
    expect(stdout).toBe('');
    expect(exitCode).toBe(2);
  });
});

test('--version and --help', async () => {
  expect(await kymera(['--version'])).toMatchObject({
    exitCode: 0,
    stdout: expect.stringMatching(/^\S+\n$/),
  });
  const help = await kymera(['apply', '--help']);
  expect(help.exitCode).toBe(0);
  expect(help.stdout).toContain('Examples:');
});
