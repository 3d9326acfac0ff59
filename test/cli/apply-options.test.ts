import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { kymera } from './in-process.testing.ts';

const policy = (name: string, patch: string, kind = 'Pod') => `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: ${name}}
spec:
  rules:
  - name: r
    match: {any: [{resources: {kinds: [${kind}]}}]}
    mutate: {patchStrategicMerge: ${patch}}
`;
const pod = (name: string) => `apiVersion: v1\nkind: Pod\nmetadata:\n  name: ${name}\n`;
const files = {
  'policy.yaml': policy('p', '{metadata: {labels: {a: b}}}'),
  'other.yaml': policy('q', '{metadata: {labels: {c: d}}}'),
  'a.yaml': pod('a'),
  'b.yaml': pod('b'),
};
const yaml = ['-o', 'yaml', '-q'];
const changed = (name: string) => `${pod(name)}  labels:\n    a: b\n`;

describe('names of options', () => {
  test.each([
    [['-r', 'a.yaml', 'b.yaml']],
    [['-r', 'a.yaml,b.yaml']],
    [['-r', 'a.yaml', '-r', 'b.yaml']],
    [['--resource', 'a.yaml', '--resource', 'b.yaml']],
    [['--resource=a.yaml', '--resources=b.yaml']],
  ])('resources as %j', async (argv) => {
    const { stdout } = await kymera(['apply', 'policy.yaml', ...argv, ...yaml], { files });
    expect(stdout).toBe(`${changed('a')}---\n${changed('b')}`);
  });

  test.each([
    ['-f', '-u', '-e'],
    ['--values', '--userinfo', '--exceptions'],
    ['--values-file', '--userinfo', '--exception'],
  ])("Kyverno's %s, %s and %s", async (values, user, exceptions) => {
    const more = {
      ...files,
      'policy.yaml': policy(
        'p',
        '{metadata: {labels: {a: "{{ request.given }}-{{ request.userInfo.username }}"}}}',
      ).replace('spec:', 'spec:\n  background: false'),
      'values.yaml': 'apiVersion: cli.kyverno.io/v1alpha1\nkind: Values\nglobalValues: {request.given: x}\n',
      'user.yaml': 'apiVersion: cli.kyverno.io/v1alpha1\nkind: UserInfo\nuserInfo: {username: u}\n',
      'except.yaml':
        'apiVersion: kyverno.io/v2\nkind: PolicyException\nmetadata: {name: e, namespace: default}\nspec:\n  match: {any: [{resources: {kinds: [Pod], names: [b]}}]}\n  exceptions: [{policyName: p, ruleNames: [r]}]\n',
    };
    const argv = ['apply', 'policy.yaml', '-r', 'a.yaml', 'b.yaml', ...yaml];
    const { stdout } = await kymera(
      [...argv, values, 'values.yaml', user, 'user.yaml', exceptions, 'except.yaml'],
      { files: more },
    );
    expect(stdout).toBe(`${pod('a')}  labels:\n    a: x-u\n---\n${pod('b')}`);
  });

  test('a policy after -r is taken for a resource: a warning says so', async () => {
    const { stdout, stderr, exitCode } = await kymera(
      ['apply', 'policy.yaml', '-r', 'a.yaml', 'other.yaml', ...yaml],
      { files },
    );
    expect(exitCode).toBe(0);
    expect(stdout).toBe(`${changed('a')}---\n${files['other.yaml']}`);
    expect(stderr).toContain('other.yaml:1: warning: ClusterPolicy q is listed as a resource');
    expect(stderr).toContain('name policies first');
  });

  test('policies only after -r: an error says so', async () => {
    expect(await kymera(['apply', '-r', 'a.yaml', 'policy.yaml'], { files })).toMatchObject({
      exitCode: 2,
      stdout: '',
      stderr: expect.stringMatching(/no policy is named.*\n.*-r takes every path after it/),
    });
  });

  test.each([[['--kubeconfig', 'x']], [['--context', 'x']], [['--namespace', 'x']]])(
    '%j without --cluster is refused',
    async (argv) => {
      const finished = await kymera(['apply', 'policy.yaml', '-r', 'a.yaml', ...argv], { files });
      expect(finished).toMatchObject({ exitCode: 2, stdout: '' });
      expect(finished.stderr).toContain('require --cluster');
    },
  );

  test('--cluster without a cluster names the kubeconfig that is missing', async () => {
    const argv = ['apply', 'policy.yaml', '--cluster', '--kubeconfig', 'none.yaml'];
    const finished = await kymera(argv, { files });
    expect(finished).toMatchObject({ exitCode: 2, stdout: '' });
    expect(finished.stderr).toMatch(/none\.yaml.*\[KYM_CLUSTER\]/);
  });

  test('--log-level error leaves warnings out', async () => {
    const argv = ['apply', 'policy.yaml', '-r', 'other.yaml', '-q'];
    expect((await kymera([...argv, '--log-level', 'error'], { files })).stderr).toBe('');
    expect((await kymera([...argv, '--log-level', 'info'], { files })).stderr).toContain('1 policies');
  });
});

describe('-o table', () => {
  test('has a row for each rule that looked at an object', async () => {
    const { stdout } = await kymera(
      ['apply', 'policy.yaml', 'other.yaml', '-r', 'a.yaml', 'b.yaml', '-o', 'table'],
      { files: { ...files, 'b.yaml': `${pod('b')}  labels: {a: b}\n` } },
    );
    expect(stdout).toBe(`RESOURCE       POLICY  RULE  RESULT  MESSAGE
Pod default/a  p       r     pass    mutated Pod/a in namespace default
Pod default/a  q       r     pass    mutated Pod/a in namespace default
Pod default/b  p       r     skip    no patches applied
Pod default/b  q       r     pass    mutated Pod/b in namespace default
2 objects: 2 changed, 0 unchanged, 0 failed; rules: 3 applied, 1 skipped, 0 failed
`);
  });
});

describe('--output', () => {
  const folder = () => mkdtempSync(join(tmpdir(), 'kymera-output-'));
  const argv = ['apply', 'policy.yaml', '-r', 'a.yaml', 'b.yaml', '--output'];

  test('a file gets YAML, in place of what was there; the summary goes to standard output', async () => {
    const cwd = folder();
    writeFileSync(join(cwd, 'out.yaml'), `${'x'.repeat(10_000)}\n`);
    const { stdout, stderr } = await kymera([...argv, 'out.yaml'], { files, folder: cwd });
    expect(readFileSync(join(cwd, 'out.yaml'), 'utf8')).toBe(`${changed('a')}---\n${changed('b')}`);
    expect(stdout).toMatch(/^2 objects: 2 changed/);
    expect(stderr).toBe('');
    expect(readdirSync(cwd).toSorted()).toEqual([
      'a.yaml',
      'b.yaml',
      'other.yaml',
      'out.yaml',
      'policy.yaml',
    ]);
  });

  test('a folder gets a file for each name, written afresh', async () => {
    const cwd = folder();
    const more = { ...files, 'b.yaml': `${pod('../b')}---\n${pod('a')}` };
    for (let times = 0; times < 2; times++) await kymera([...argv, 'out/'], { files: more, folder: cwd });
    expect(readdirSync(join(cwd, 'out')).toSorted()).toEqual(['__b-mutated.yaml', 'a-mutated.yaml']);
    expect(readFileSync(join(cwd, 'out/a-mutated.yaml'), 'utf8')).toBe(`${changed('a')}---\n${changed('a')}`);
  });

  test.each(['out.yaml', 'out/'])('bad input leaves %s as it was', async (output) => {
    const cwd = folder();
    mkdirSync(join(cwd, 'out'));
    writeFileSync(join(cwd, 'out.yaml'), 'before');
    const broken = { ...files, 'b.yaml': 'a: [\n' };
    expect((await kymera([...argv, output], { files: broken, folder: cwd })).exitCode).toBe(2);
    expect(readFileSync(join(cwd, 'out.yaml'), 'utf8')).toBe('before');
    expect(readdirSync(join(cwd, 'out'))).toEqual([]);
    expect(readdirSync(cwd).filter((name) => name.includes('tmp'))).toEqual([]);
  });

  test('a format in place of a file, and a file in place of a format, are refused', async () => {
    const finished = await kymera([...argv, 'yaml'], { files });
    expect(finished).toMatchObject({ exitCode: 2, stdout: '' });
    expect(finished.stderr).toContain('write -o yaml, or --output ./yaml');
    const kyverno = await kymera(['apply', 'policy.yaml', '-r', 'a.yaml', '-o', 'out.yaml'], { files });
    expect(kyverno.stderr).toContain('use --output out.yaml to write to a file');
  });

  test('a folder accepts only YAML; a path that cannot be written is an error', async () => {
    const cwd = folder();
    expect(await kymera([...argv, 'out/', '-o', 'json'], { files, folder: cwd })).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('an output folder accepts only YAML'),
    });
    const nowhere = await kymera([...argv, 'none/out.yaml'], { files, folder: cwd });
    expect(nowhere).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('[KYM_FILE_NOT_WRITTEN]') });
    expect(existsSync(join(cwd, 'none'))).toBe(false);
  });
});

describe('values', () => {
  test('foreachValues: each element has its own, the last serves those after it', async () => {
    const loop = `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: p}
spec:
  rules:
  - name: r
    match: {any: [{resources: {kinds: [ConfigMap]}}]}
    mutate:
      foreach:
      - list: "['a', 'b', 'c']"
        context: [{name: found, apiCall: {urlPath: /nowhere}}]
        patchStrategicMerge: {data: {"{{ element }}": "{{ found.host }}"}}
`;
    const { stdout, stderr } = await kymera(
      ['apply', 'loop.yaml', '-r', 'cm.yaml', '-f', 'values.yaml', ...yaml],
      {
        files: {
          'loop.yaml': loop,
          'cm.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: cm\n',
          'values.yaml':
            'apiVersion: cli.kyverno.io/v1alpha1\nkind: Values\npolicies:\n- name: p\n  rules:\n  - {name: r, foreachValues: {found.host: [one, two]}}\n',
        },
      },
    );
    expect(stderr).toBe('');
    expect(stdout).toBe(
      'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: cm\ndata:\n  c: two\n  b: two\n  a: one\n',
    );
  });

  test('subresources: an object of such a kind is the body of a subresource', async () => {
    const { stdout } = await kymera(
      ['apply', 'p.yaml', '-r', 'eviction.yaml', '-f', 'values.yaml', ...yaml],
      {
        files: {
          'p.yaml': policy('p', '{metadata: {labels: {a: "{{ request.subResource }}"}}}', 'Pod/eviction'),
          'eviction.yaml': 'apiVersion: policy/v1\nkind: Eviction\nmetadata:\n  name: web\n',
          'values.yaml':
            'apiVersion: cli.kyverno.io/v1alpha1\nkind: Values\nsubresources:\n- subresource: {name: pods/eviction, kind: Eviction, group: policy, version: v1}\n  parentResource: {name: pods, kind: Pod, version: v1}\n',
        },
      },
    );
    expect(stdout).toContain('  labels:\n    a: eviction\n');
  });
});
