import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { parse } from 'yaml';
import { loadPolicies } from '../../src/index.ts';
import { kymera } from './in-process.testing.ts';

const policy = (name: string, patch: string, more = '') => `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: ${name}}
spec:
  background: false
  rules:
  - name: r
    match: {any: [{resources: {kinds: [Pod]}}]}
    ${more}
    mutate: {patchStrategicMerge: ${patch}}
`;
const files = {
  'labels.yaml': policy('labels', '{metadata: {labels: {a: b}}}'),
  'pull.yaml': policy('pull', '{spec: {containers: [{(image): "*:latest", imagePullPolicy: Always}]}}'),
  'user.yaml': policy(
    'user',
    '{metadata: {labels: {by: "{{ request.userInfo.username }}", env: "{{ cm.data.env }}"}}}',
    'context: [{name: cm, configMap: {name: c, namespace: d}}]',
  ),
  'broken.yaml': policy('broken', '{metadata: {labels: {a: "{{ request.object.spec.nothing }}"}}}'),
  'pods.yaml':
    'apiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: a}\nspec: {containers: [{name: c, image: "x:latest"}]}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: c, image: "x:1"}]}\n',
  'deployment.yaml':
    'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {template: {spec: {containers: [{name: c, image: "x:latest"}]}}}\n',
  'service.yaml': 'apiVersion: v1\nkind: Service\nmetadata: {name: web}\n',
  'values.yaml':
    'apiVersion: cli.kyverno.io/v1alpha1\nkind: Values\npolicies: [{name: user, rules: [{name: r, values: {cm.data.env: prod}}]}]\n',
  'userinfo.yaml': 'apiVersion: cli.kyverno.io/v1alpha1\nkind: UserInfo\nuserInfo: {username: jane}\n',
};

function folder(): string {
  return mkdtempSync(join(tmpdir(), 'kymera-create-'));
}

describe('kymera create test', () => {
  it('names the objects of the cluster that policies read', async () => {
    const cwd = folder();
    const config = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: d}\ndata: {env: prod}\n';
    const argv =
      'create test user.yaml -r pods.yaml --target-resource config.yaml --userinfo userinfo.yaml -o t'.split(
        ' ',
      );
    const made = await kymera(argv, { files: { ...files, 'config.yaml': config }, folder: cwd });
    expect(made).toMatchObject({ exitCode: 0, stderr: '' });
    const text = readFileSync(join(cwd, 't/kyverno-test.yaml'), 'utf8');
    expect(text).toContain('targetResources:\n- ../config.yaml\n');
    expect(readFileSync(join(cwd, 't/patched.yaml'), 'utf8')).toContain('env: prod');
  });

  it('covers rules that change existing objects and rules that generate objects', async () => {
    const cwd = folder();
    const background = {
      'background.yaml': `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: background}
spec:
  rules:
  - name: existing
    match: {any: [{resources: {kinds: [Namespace]}}]}
    mutate:
      targets: [{apiVersion: v1, kind: Secret, name: regcred, namespace: d}]
      patchStrategicMerge: {metadata: {labels: {a: b}}}
  - name: generate
    match: {any: [{resources: {kinds: [Namespace]}}]}
    generate: {apiVersion: v1, kind: ConfigMap, name: made, namespace: "{{ request.object.metadata.name }}", data: {data: {k: v}}}
  - name: own
    match: {any: [{resources: {kinds: [Namespace]}}]}
    mutate:
      targets: [{apiVersion: v1, kind: ConfigMap, name: shared, namespace: d}]
      patchStrategicMerge: {data: {last: "{{ request.object.metadata.name }}"}}
`,
      'namespaces.yaml':
        'apiVersion: v1\nkind: Namespace\nmetadata: {name: one}\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: two}\n',
      'targets.yaml':
        'apiVersion: v1\nkind: Secret\nmetadata: {name: regcred, namespace: d}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: shared, namespace: d}\n',
    };
    const argv = 'create test background.yaml -r namespaces.yaml --target-resource targets.yaml -o t'.split(
      ' ',
    );
    const made = await kymera(argv, { files: background, folder: cwd });
    expect(made).toMatchObject({ exitCode: 0, stderr: '' });
    const { results } = parse(readFileSync(join(cwd, 't/kyverno-test.yaml'), 'utf8')) as { results: unknown };
    expect(results).toEqual([
      {
        policy: 'background',
        rule: 'existing',
        kind: 'Secret',
        resources: ['regcred'],
        patchedResources: 'patched.yaml',
        result: 'pass',
      },
      {
        policy: 'background',
        rule: 'generate',
        kind: 'Namespace',
        resources: ['one', 'two'],
        generatedResource: 'generated.yaml',
        result: 'pass',
      },
      // Each trigger writes another value: the rule is tested by its triggers.
      { policy: 'background', rule: 'own', kind: 'Namespace', resources: ['one', 'two'], result: 'pass' },
    ]);
    // A test that was made notices a changed policy.
    const changed = background['background.yaml'].replace('{a: b}', '{a: c}').replace('{k: v}', '{k: w}');
    writeFileSync(join(cwd, 'background.yaml'), changed);
    const again = await kymera(['test', 't'], { folder: cwd });
    expect(again.exitCode).toBe(1);
    expect(again.stdout).toContain('✗ background  existing');
    expect(again.stdout).toContain('✗ background  generate');
  });

  it('writes a test of what happens now, and it passes', async () => {
    const cwd = folder();
    const argv = [
      'create',
      'test',
      'labels.yaml',
      'pull.yaml',
      '-r',
      'pods.yaml',
      'deployment.yaml',
      '-o',
      'tests/one',
    ];
    const made = await kymera(argv, { files, folder: cwd });
    expect(made).toMatchObject({ exitCode: 0, stderr: '' });
    expect(made.stdout).toMatch(/^wrote tests\/one\/kyverno-test.yaml\n/);
    expect(made.stdout).toMatch(/\n6 passed, 0 failed\n$/);
    const text = readFileSync(join(cwd, 'tests/one/kyverno-test.yaml'), 'utf8');
    expect(text).toContain('policies:\n- ../../labels.yaml\n- ../../pull.yaml\n');
    expect(text).toContain(
      '- policy: pull\n  rule: r\n  kind: Pod\n  resources:\n  - a/web\n  patchedResources: patched-pull.yaml\n  result: pass\n- policy: pull\n  rule: r\n  kind: Pod\n  resources:\n  - default/web\n  result: skip\n',
    );
    expect(readdirSync(join(cwd, 'tests/one')).sort()).toEqual([
      'kyverno-test.yaml',
      'patched-labels.yaml',
      'patched-pull.yaml',
    ]);
    expect(await kymera(['test', 'tests'], { folder: cwd })).toMatchObject({ exitCode: 0 });
    writeFileSync(join(cwd, 'labels.yaml'), files['labels.yaml'].replace('a: b', 'a: c'));
    expect(await kymera(['test', 'tests'], { folder: cwd })).toMatchObject({ exitCode: 1 });
  });

  it('takes values and user along', async () => {
    const cwd = folder();
    const argv = [
      'create',
      'test',
      'user.yaml',
      '-r',
      'pods.yaml',
      '-f',
      'values.yaml',
      '-u',
      'userinfo.yaml',
      '-o',
      't',
    ];
    expect(await kymera(argv, { files, folder: cwd })).toMatchObject({ exitCode: 0 });
    const patched = readFileSync(join(cwd, 't/patched.yaml'), 'utf8');
    expect(patched).toContain('by: jane\n    env: prod\n');
  });

  it('expects an error where a rule fails', async () => {
    const cwd = folder();
    const argv = [
      'create',
      'test',
      'broken.yaml',
      '-r',
      'deployment.yaml',
      'pods.yaml',
      '-n',
      'it-fails',
      '-o',
      't',
    ];
    expect(await kymera(argv, { files, folder: cwd })).toMatchObject({ exitCode: 0 });
    expect(readdirSync(join(cwd, 't'))).toEqual(['kyverno-test.yaml']);
    const text = readFileSync(join(cwd, 't/kyverno-test.yaml'), 'utf8');
    expect(text).toContain('name: it-fails\n');
    expect(text).toContain('result: error\n');
  });

  it('overwrites nothing without --force', async () => {
    const cwd = folder();
    const argv = ['create', 'test', 'labels.yaml', '-r', 'pods.yaml'];
    const there = { ...files, 'patched.yaml': 'mine\n' };
    const refused = await kymera(argv, { files: there, folder: cwd });
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toContain('patched.yaml: error: the file exists [KYM_FILE_EXISTS]');
    expect(readFileSync(join(cwd, 'patched.yaml'), 'utf8')).toBe('mine\n');
    expect(readdirSync(cwd)).not.toContain('kyverno-test.yaml');
    expect(await kymera([...argv, '--force'], { folder: cwd })).toMatchObject({ exitCode: 0 });
  });

  test.each([
    [['labels.yaml', '-r', 'service.yaml'], 'there is nothing to test'],
    [['-', '-r', 'pods.yaml'], 'standard input'],
    [['labels.yaml', '-r', 'pods.yaml', '-o', 'pods.yaml/x'], 'KYM_FILE_NOT_WRITTEN'],
  ])('%j is refused', async (argv, message) => {
    const { exitCode, stderr } = await kymera(['create', 'test', ...argv], { files });
    expect(exitCode).toBe(2);
    expect(stderr).toContain(message);
  });
});

describe('kymera create policy', () => {
  test.each([
    [[]],
    [['--kind', 'Deployment', 'apps/v1/StatefulSet']],
    [['--kind', '*']],
    [['--kind', 'ConfigMap', '--namespace', 'team-a']],
  ])('with %j it is sound', async (flags) => {
    const { exitCode, stdout } = await kymera(['create', 'policy', 'mine', ...flags]);
    expect(exitCode).toBe(0);
    const strict = ['validate', '-', '--strict', '--ignore', 'KYM_AUTOGEN_NARROWED'];
    expect(await kymera(strict, { stdin: stdout })).toMatchObject({ exitCode: 0 });
  });

  it('applies, and adds to what is there', async () => {
    const { stdout } = await kymera(['create', 'policy', 'mine']);
    const result = await kymera(['apply', '-', '-r', 'pods.yaml', '-o', 'yaml'], { files, stdin: stdout });
    expect(result.stdout).toContain('owner: nobody');
  });

  test.each([
    [['Upper'], 'KYM_USAGE'],
    [['mine', '--kind', 'ClusterRole', '--namespace', 'a'], 'KYM_NAMESPACE_SCOPE'],
    [['mine', '-o', 'labels.yaml'], 'KYM_FILE_EXISTS'],
  ])('%j is refused', async (argv, code) => {
    const { exitCode, stdout, stderr } = await kymera(['create', 'policy', ...argv], { files });
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain(code);
  });
});

describe('kymera create exception', () => {
  it('lifts the rules of a policy file, those for pod controllers too', async () => {
    const { exitCode, stdout } = await kymera(['create', 'exception', 'pull.yaml', '--namespace', 'legacy'], {
      files,
    });
    expect(exitCode).toBe(0);
    const set = loadPolicies({ file: 'p', text: files['pull.yaml'] }, { file: 'e', text: stdout });
    expect(set.problems).toEqual([]);
    expect(set.exceptions.map(({ key }) => key)).toEqual(['legacy/pull-exception']);
    const lifted = set.exceptions[0]?.exceptions[0]?.ruleNames.map(({ pattern }) => pattern);
    expect(lifted).toEqual(['r', 'autogen-r', 'autogen-cronjob-r']);
  });

  it('makes apply pass over the object', async () => {
    const cwd = folder();
    const argv = [
      'create',
      'exception',
      'labels.yaml',
      '-n',
      'a',
      '--kind',
      'Pod',
      '--names',
      'w*',
      '-o',
      'e.yaml',
    ];
    expect(await kymera(argv, { files, folder: cwd })).toMatchObject({
      exitCode: 0,
      stdout: 'wrote e.yaml\n',
    });
    const { stdout } = await kymera(['apply', 'labels.yaml', '-r', 'pods.yaml', '-e', 'e.yaml'], {
      folder: cwd,
    });
    expect(stdout).toContain('2 objects: 1 changed, 1 unchanged');
  });

  it('takes the name of a policy with rules and kinds', async () => {
    const argv = [
      'create',
      'exception',
      'team/p',
      '--rule',
      'a',
      'b',
      '--kind',
      'Pod',
      '-n',
      'x',
      '--name',
      'mine',
    ];
    const { stdout } = await kymera(argv);
    expect(stdout).toContain('name: mine\n');
    expect(stdout).toContain('- policyName: team/p\n    ruleNames:\n    - a\n    - b\n');
  });

  test.each([
    [['labels.yaml', '-n', 'x', '--rule', 'nothing'], 'has no mutate rule nothing; it has r'],
    [['labels', '-n', 'x'], 'requires --rule and --kind'],
    [['nowhere.yaml', '-n', 'x'], 'KYM_INPUT_NOT_FOUND'],
    [['.', '-n', 'x'], 'an exception applies to one policy'],
    [['labels.yaml', '-n', 'X Y'], 'KYM_USAGE'],
  ])('%j is refused', async (argv, message) => {
    const { exitCode, stderr } = await kymera(['create', 'exception', ...argv], { files });
    expect(exitCode).toBe(2);
    expect(stderr).toContain(message);
  });
});
