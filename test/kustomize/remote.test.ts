import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { kymera } from '../cli/in-process.testing.ts';
import { describeUnless, unlessInstalled } from '../needs.testing.ts';
import { build, configMap, failureOf, objectsOf, yaml } from './build-fixture.ts';

/** A repository with a tag v1 and a later commit. */
function repository(files: Readonly<Record<string, string>>, later: Readonly<Record<string, string>> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'kymera-repository-'));
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], { cwd: folder });
  const commit = (content: Readonly<Record<string, string>>) => {
    for (const [name, text] of Object.entries(content)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    git('add', '--all');
    git('commit', '--quiet', '--message=change');
  };
  git('init', '--quiet', '--initial-branch=main');
  commit(files);
  git('tag', '-a', 'v1', '-m', 'first');
  if (Object.keys(later).length > 0) commit(later);
  const head = () => git('rev-parse', 'HEAD').toString().trim();
  return { folder, git, commit, head, url: `file://${folder}` };
}

const base = (value: string) => ({
  'base/kustomization.yaml': 'resources: [cm.yaml]\nnamePrefix: remote-\n',
  'base/cm.yaml': yaml(configMap('a', { data: { value } })),
});
const kustomization = (url: string, more = '') => ({
  'kustomization.yaml': `resources: ["${url}"]\n${more}`,
});

describeUnless(unlessInstalled('git'))('folders of repositories', () => {
  test('a tag, a branch, a commit and the default branch', async () => {
    const { url, head } = repository(base('old'), base('new'));
    for (const [query, value] of [
      ['?ref=v1', 'old'],
      ['?version=v1', 'old'],
      ['?ref=main', 'new'],
      ['', 'new'],
      [`?ref=${head()}`, 'new'],
    ] as const) {
      expect(await objectsOf({ files: kustomization(`${url}//base${query}`) })).toMatchObject([
        { metadata: { name: 'remote-a' }, data: { value } },
      ]);
    }
  });

  test('components and configs of generators', async () => {
    const { url } = repository({
      'component/kustomization.yaml':
        'apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nnamePrefix: c-\n',
      'generators/kustomization.yaml': 'resources: [g.yaml]\n',
      'generators/g.yaml':
        'apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata: {name: made}\nliterals: [a=b]\noptions: {disableNameSuffixHash: true}\n',
    });
    const files = {
      'kustomization.yaml': `generators: ["${url}//generators"]\ncomponents: ["${url}//component"]\n`,
    };
    expect(await objectsOf({ files })).toMatchObject([{ metadata: { name: 'c-made' }, data: { a: 'b' } }]);
  });

  test('origin annotations name the repository', async () => {
    const { url } = repository(base('x'));
    const files = kustomization(`${url}//base?ref=v1`, 'buildMetadata: [originAnnotations]\n');
    expect(await objectsOf({ files })).toMatchObject([
      {
        metadata: {
          annotations: { 'config.kubernetes.io/origin': `path: base/cm.yaml\nrepo: ${url}\nref: v1\n` },
        },
      },
    ]);
  });

  test('a commit is fetched once and then comes from the cache', async () => {
    const { url, folder, head } = repository(base('cached'));
    const cache = mkdtempSync(join(tmpdir(), 'kymera-cache-'));
    const files = kustomization(`${url}//base?ref=${head()}`);
    const env = { XDG_CACHE_HOME: cache };
    expect((await build({ files, env })).exitCode).toBe(0);
    const [key = ''] = readdirSync(join(cache, 'kymera/git'));
    expect(readdirSync(join(cache, 'kymera/git', key))).toEqual([head()]);
    rmSync(folder, { recursive: true });
    expect((await build({ files, env })).objects).toMatchObject([{ data: { value: 'cached' } }]);
  });

  test('the folder to build can be remote', async () => {
    const { url } = repository(base('x'));
    const { stdout } = await kymera(['build', `${url}//base?ref=v1`], {
      env: {
        PATH: process.env['PATH'] ?? '',
        XDG_CACHE_HOME: mkdtempSync(join(tmpdir(), 'kymera-cache-')),
      },
    });
    expect(stdout).toContain('name: remote-a');
  });

  test('--offline refuses', async () => {
    const { url } = repository(base('x'));
    const failure = await failureOf({ files: kustomization(`${url}//base`), flags: ['--offline'] });
    expect(failure).toContain('is remote, and --offline is set');
    expect(failure).toContain('resources[0]');
  });

  test('nothing outside of the repository is read', async () => {
    const outside = mkdtempSync(join(tmpdir(), 'kymera-outside-'));
    writeFileSync(join(outside, 'kustomization.yaml'), 'resources: [cm.yaml]\n');
    writeFileSync(join(outside, 'cm.yaml'), yaml(configMap('secret')));
    const made = repository({
      'up/kustomization.yaml': `resources: ["${'../'.repeat(30)}${outside.slice(1)}"]\n`,
      'file/kustomization.yaml': `resources: ["../other.yaml"]\n`,
      'other.yaml': yaml(configMap('other')),
    });
    symlinkSync(outside, join(made.folder, 'link'));
    made.commit({ 'x/y': '' });
    for (const [folder, message] of [
      ['link', 'is not in the repository'],
      ['../..', 'is not in the repository'],
      ['a/../../..', 'is not in the repository'],
      ['up', 'is not in the repository'],
      ['file', 'is not in or below the folder'],
      ['none', 'has no folder none'],
    ] as const) {
      const files = kustomization(`${made.url}//${folder}`);
      expect(await failureOf({ files, flags: ['--load-restrictor', 'LoadRestrictionsNone'] })).toContain(
        message,
      );
    }
  });

  test('a cycle is an error', async () => {
    const { url, commit } = repository({ 'base/kustomization.yaml': 'namePrefix: a-\n' });
    commit({ 'base/kustomization.yaml': `resources: ["${url}//base"]\n` });
    expect(await failureOf({ files: kustomization(`${url}//base`) })).toContain('is already being built');
  });

  test.each([
    ['?ref=--upload-pack=touch%20x', 'is not a valid address'],
    ['?ref=a:refs/heads/b', 'is not a valid address'],
    ['?ref=no-such-ref', 'git fetch for'],
  ])('%s', async (query, message) => {
    const { url } = repository(base('x'));
    const failure = await failureOf({ files: kustomization(`${url}//base${query}`) });
    expect(failure).toContain(message);
    expect(failure).toContain('KYM_KUSTOMIZE_REMOTE');
  });

  test('a host that looks like an option is refused', async () => {
    const files = kustomization('ssh://-oProxyCommand=x/org/repo');
    expect(await failureOf({ files })).toContain('is not a valid address');
  });

  test('passwords do not appear in messages', async () => {
    const files = kustomization('https://me:s3cret@localhost:1/org/repo?ref=-x');
    expect(await failureOf({ files })).not.toContain('s3cret');
  });
});

test('without git, the message says so', async () => {
  const empty = mkdtempSync(join(tmpdir(), 'kymera-path-'));
  const failure = await failureOf({ files: kustomization('file:///none//base'), env: { PATH: empty } });
  expect(failure).toContain('git ls-remote for "file:///none//base" cannot be started');
});
