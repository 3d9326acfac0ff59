import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { kymera } from './in-process.testing.ts';

const configMap = (name: string, more = '') =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n${more}`;
const freshFolder = () => mkdtempSync(join(tmpdir(), 'kymera-build-'));

describe('kymera build', () => {
  const files = { 'kustomization.yaml': 'resources: [a.yaml]\nnamePrefix: x-\n', 'a.yaml': configMap('a') };

  it('builds the working directory if no folder is named', async () => {
    const { exitCode, stdout, stderr } = await kymera(['build'], { files });
    expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 0, stdout: configMap('x-a'), stderr: '' });
  });

  it('--explain reports on stderr what each stage changes, also before a failure', async () => {
    const explained = {
      'base/kustomization.yaml': 'resources: [a.yaml]\n',
      'base/a.yaml': configMap('a', 'data: {from: one, to: two}\n'),
      'kustomization.yaml': `resources: [base]
namePrefix: x-
replacements:
- source: {kind: ConfigMap, fieldPath: data.from}
  targets: [{select: {kind: ConfigMap}, fieldPaths: [data.to]}]
`,
    };
    const { stdout, stderr } = await kymera(['build', '--explain'], { files: explained });
    expect(stdout).toContain('to: one');
    expect(stderr).toBe(`base/kustomization.yaml: resources[0] (base/a.yaml)
  adds ConfigMap a
kustomization.yaml: resources[0] (base)
  takes ConfigMap a
kustomization.yaml: namePrefix
  ConfigMap a: replace /metadata/name
kustomization.yaml: replacements[0]
  ConfigMap x-a: replace /data/to
  replacements[0]: ConfigMap x-a data.from → ConfigMap x-a data.to
`);
    const broken = await kymera(['build', '--explain'], {
      files: { ...explained, 'kustomization.yaml': 'resources: [base, absent.yaml]\n' },
    });
    expect([broken.exitCode, broken.stdout]).toEqual([2, '']);
    expect(broken.stderr).toContain('takes ConfigMap a');
    expect(broken.stderr).toContain('absent.yaml does not exist');
  });

  it('builds a kustomization file of any name', async () => {
    const { stdout } = await kymera(['build', 'k/other.yaml'], {
      files: { 'k/other.yaml': 'resources: [../a]\nnameSuffix: -y', ...inFolder('a', files) },
    });
    expect(stdout).toBe(configMap('x-a-y'));
  });

  it('takes a file with resources as a kustomization of these', async () => {
    const { stdout } = await kymera(['build', 'a.yaml'], { files: { 'a.yaml': `b: 1\n${configMap('a')}` } });
    expect(stdout).toBe('apiVersion: v1\nb: 1\nkind: ConfigMap\nmetadata:\n  name: a\n');
  });

  it('reads a kustomization from standard input, relative to the working folder', async () => {
    const { stdout } = await kymera(['build', '-'], {
      files,
      stdin: 'resources: [a.yaml]\nnamespace: ns\n',
    });
    expect(stdout).toBe(configMap('a', '  namespace: ns\n'));
  });

  it.each([
    [
      'a resource',
      { 'kustomization.yaml': 'resources: [bad.yaml]\n' },
      'kustomization.yaml:1: error: resources',
    ],
    [
      'an env file',
      { 'kustomization.yaml': 'configMapGenerator: [{name: a, envs: [bad.yaml]}]\n' },
      'configMapGenerator',
    ],
    [
      'a patch',
      { ...files, 'kustomization.yaml': 'resources: [a.yaml]\npatches: [{path: bad.yaml}]\n' },
      'patches',
    ],
  ])('refuses %s that is not UTF-8 text', async (_, given, field) => {
    const folder = freshFolder();
    writeFileSync(join(folder, 'bad.yaml'), Buffer.from([...Buffer.from(configMap('b')), 0x23, 0xff, 0x0a]));
    const { exitCode, stdout, stderr } = await kymera(['build'], { files: given, folder });
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain(field);
    expect(stderr).toContain('bad.yaml is not UTF-8 text [KYM_INPUT_UNREADABLE]');
  });

  it('refuses a kustomization that is not UTF-8 text', async () => {
    const folder = freshFolder();
    writeFileSync(join(folder, 'kustomization.yaml'), Buffer.from('resources: [a.yaml] # \xff\n', 'latin1'));
    const { exitCode, stderr } = await kymera(['build'], { folder });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('kustomization.yaml is not UTF-8 text');
  });

  it('refuses a named pipe instead of waiting for it', async ({ skip }) => {
    const folder = freshFolder();
    if (spawnSync('mkfifo', [join(folder, 'pipe.yaml')]).status !== 0) skip('mkfifo is not available');
    writeFileSync(join(folder, 'kustomization.yaml'), 'resources: [pipe.yaml]\n');
    const { exitCode, stderr } = await kymera(['build'], { folder });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('pipe.yaml is not readable: it is not a regular file [KYM_KUSTOMIZE_NOT_FOUND]');
    const direct = await kymera(['build', 'pipe.yaml'], { folder });
    expect(direct).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('neither a regular file') });
  });

  it('writes one file', async () => {
    const folder = freshFolder();
    const { stdout } = await kymera(['build', '.', '-o', 'out.yaml'], { files, folder });
    expect(stdout).toBe('');
    expect(readFileSync(join(folder, 'out.yaml'), 'utf8')).toBe(configMap('x-a'));
  });

  it('writes a folder with one file for each resource, with the namespace where there are several', async () => {
    const folder = freshFolder();
    const resources = [
      configMap('A'),
      configMap('b', '  namespace: Team\n'),
      'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\n',
      'apiVersion: v1\nkind: Namespace\nmetadata: {name: n}\n',
    ].join('---\n');
    await kymera(['build', '.', '-o', 'out/'], {
      files: { 'kustomization.yaml': 'resources: [r.yaml]', 'r.yaml': resources },
      folder,
    });
    expect(readdirSync(join(folder, 'out')).sort()).toEqual([
      'default_apps_v1_deployment_d.yaml',
      'default_v1_configmap_a.yaml',
      'team_v1_configmap_b.yaml',
      'v1_namespace_n.yaml',
    ]);
  });

  it('writes nothing when the build fails', async () => {
    const folder = freshFolder();
    const { exitCode, stdout } = await kymera(['build', '.', '-o', 'out.yaml'], {
      files: { 'kustomization.yaml': 'resources: [a.yaml, gone.yaml]', 'a.yaml': configMap('a') },
      folder,
    });
    expect([exitCode, stdout]).toEqual([2, '']);
    expect(existsSync(join(folder, 'out.yaml'))).toBe(false);
  });

  it('keeps the order of loading with --reorder none', async () => {
    const two = `${configMap('b')}---\n${configMap('a')}`;
    const args = ['build', '.', '--reorder', 'none'];
    const { stdout } = await kymera(args, {
      files: { 'kustomization.yaml': 'resources: [r.yaml]', 'r.yaml': two },
    });
    expect(stdout).toBe(two);
  });

  it('warns of deprecated fields and goes on', async () => {
    const { exitCode, stderr } = await kymera(['build'], {
      files: { ...files, 'kustomization.yaml': 'resources: [a.yaml]\ncommonLabels: {a: b}\n' },
    });
    expect(exitCode).toBe(0);
    expect(stderr).toContain('"commonLabels" is deprecated; use "labels"');
  });
});

describe('kymera build names file and field', () => {
  it.each([
    ['resources: [https://example.com/x?ref=v1]', 'resources[0]', 'KYM_KUSTOMIZE_REMOTE'],
    ['resources: ["github.com/org/repo//base?ref=main"]', 'resources[0]', 'KYM_KUSTOMIZE_REMOTE'],
    ['resources: ["git@example.com:org/repo.git"]', 'resources[0]', 'KYM_KUSTOMIZE_REMOTE'],
    ['components: [gone]', 'components[0]', 'KYM_KUSTOMIZE_NOT_FOUND'],
    ['configMapGenerator: [{name: a, files: [/etc/passwd]}]', 'files[0]', 'KYM_KUSTOMIZE_OUTSIDE'],
    ['helmCharts: [{name: a}]', 'helmCharts[0]', 'KYM_PLUGIN_DISABLED'],
    ['images: [{name: a, newTag: 1}]', 'images[0].newTag', 'KYM_KUSTOMIZATION_INVALID'],
    ['labels: [{pair: {a: b}}]', 'labels[0].pair', 'KYM_KUSTOMIZATION_INVALID'],
    ['resources: {a: b}', 'resources: expected a list', 'KYM_KUSTOMIZATION_INVALID'],
  ])('in %s', async (kustomization, field, code) => {
    const { exitCode, stdout, stderr } = await kymera(['build', '--offline'], {
      files: { 'kustomization.yaml': kustomization },
    });
    expect([exitCode, stdout]).toEqual([2, '']);
    expect(stderr).toContain('kustomization.yaml:1: error');
    expect(stderr).toContain(field);
    expect(stderr).toContain(`[${code}]`);
  });

  it('of a folder that holds no kustomization, and of a path that is not there', async () => {
    expect((await kymera(['build', '.'])).stderr).toContain('contains no kustomization');
    expect((await kymera(['build', 'gone'])).stderr).toContain('KYM_INPUT_NOT_FOUND');
  });
});

describe('files outside the folder', () => {
  const files = {
    'k/kustomization.yaml': 'resources: [link.yaml]\n',
    'outside.yaml': configMap('a'),
  };

  it('are refused through a link too', async () => {
    const folder = freshFolder();
    await kymera(['--version'], { files, folder });
    symlinkSync('../outside.yaml', join(folder, 'k', 'link.yaml'));
    const { exitCode, stderr } = await kymera(['build', 'k'], { folder });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('KYM_KUSTOMIZE_OUTSIDE');
  });

  it('are read with LoadRestrictionsNone', async () => {
    const { stdout } = await kymera(['build', 'k', '--load-restrictor', 'LoadRestrictionsNone'], {
      files: { ...files, 'k/kustomization.yaml': 'resources: [../outside.yaml]\n' },
    });
    expect(stdout).toBe(configMap('a'));
  });
});

describe('hostile input', () => {
  it('cannot blow up by aliases', async () => {
    const levels = Array.from({ length: 30 }, (_, n) => `l${n + 1}: &l${n + 1} [*l${n}, *l${n}]\n`).join('');
    const { exitCode, stderr } = await kymera(['build'], {
      files: {
        'kustomization.yaml': 'resources: [a.yaml]',
        'a.yaml': configMap('a', `l0: &l0 [x, x]\n${levels}`),
      },
    });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('aliases');
  });

  it('has keys that are data', async () => {
    const { stdout } = await kymera(['build'], {
      files: {
        'kustomization.yaml': 'resources: [a.yaml]\ncommonAnnotations: {__proto__: x, constructor: z}\n',
        'a.yaml': configMap('a', 'data:\n  __proto__: p\n  constructor: c\n'),
      },
    });
    expect(stdout).toContain('  __proto__: p\n');
    expect(stdout).toContain('    __proto__: x\n    constructor: z\n');
  });
});

function inFolder(folder: string, files: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(files).map(([name, text]) => [`${folder}/${name}`, text]));
}
