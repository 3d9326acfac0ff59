import { expect, it, test } from 'vitest';
import { isYamlUrl, parseRepositoryUrl } from './repository-url.ts';

// Repository, folder and ref as kustomize reads them.
test.each([
  ['github.com/org/repo', 'https://github.com/org/repo', '', ''],
  ['github.com/org/repo//sub/folder?ref=v1', 'https://github.com/org/repo', 'sub/folder', 'v1'],
  ['github.com/org/repo/sub?ref=v1', 'https://github.com/org/repo', 'sub', 'v1'],
  ['GitHub.com/org/repo', 'https://github.com/org/repo', '', ''],
  ['https://github.com/org/repo.git/sub?version=v2', 'https://github.com/org/repo.git', 'sub', 'v2'],
  ['https://github.com/org/repo?ref=a&version=b', 'https://github.com/org/repo', '', 'a'],
  ['git::https://github.com/org/repo//sub', 'https://github.com/org/repo', 'sub', ''],
  [
    'https://gitlab.example.com/group/sub/repo.git//base',
    'https://gitlab.example.com/group/sub/repo.git',
    'base',
    '',
  ],
  [
    'https://user@dev.azure.com/org/project/_git/repo/base',
    'https://user@dev.azure.com/org/project/_git/repo',
    'base',
    '',
  ],
  ['git@github.com:org/repo.git', 'git@github.com:org/repo.git', '', ''],
  ['git@host.example:org/repo//base?ref=main', 'git@host.example:org/repo', 'base', 'main'],
  ['ssh://git@github.com/org/repo//base', 'git@github.com:org/repo', 'base', ''],
  ['ssh://git@host.example:7999/org/repo.git/base', 'ssh://git@host.example:7999/org/repo.git', 'base', ''],
  ['file:///srv/git/repo', 'file:///srv/git/repo', '', ''],
  ['file:///srv/git/repo//base?ref=v1', 'file:///srv/git/repo', 'base', 'v1'],
  ['file:///srv/repo.git/base', 'file:///srv/repo.git', 'base', ''],
])('%s', (text, repository, folder, ref) => {
  expect(parseRepositoryUrl(text)).toMatchObject({ text, repository, folder, ref });
});

test.each([
  '/srv/base',
  '../base',
  'base',
  'example.com/org/repo',
  'https://example.com/file',
  'ftp://host/org/repo',
  'file://',
])('%s is no repository', (text) => {
  expect(parseRepositoryUrl(text)).toBeUndefined();
});

test.each([
  ['', 27_000, true],
  ['?timeout=90', 90_000, true],
  ['?timeout=1m30s&submodules=false', 90_000, false],
  ['?timeout=0&submodules=0', 27_000, false],
  ['?timeout=-5s&submodules=maybe', 27_000, true],
  ['?timeout=99999h', 3_600_000, true],
])('the options %s', (query, milliseconds, submodules) => {
  expect(parseRepositoryUrl(`github.com/org/repo${query}`)).toMatchObject({ milliseconds, submodules });
});

it('a URL of a YAML file is no folder', () => {
  expect(isYamlUrl('https://host/org/repo/main/deploy.yaml?x=1')).toBe(true);
  expect(isYamlUrl('https://host/org/repo//base?ref=a.yaml')).toBe(false);
});
