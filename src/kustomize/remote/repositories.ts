import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { type BuildOptions, defaultPluginLimits } from '../build-context.ts';
import { isInside } from '../kustomization/folder.ts';
import { KustomizeError } from '../kustomize-error.ts';
import { runPlugin } from '../plugins/process.ts';
import type { RepositoryUrl } from './repository-url.ts';

/** A folder of a repository on disk. */
export interface ClonedFolder {
  /** The root of the working tree; nothing outside of it may be read. */
  readonly clone: string;
  /** Absolute, without symbolic links. */
  readonly root: string;
}

/** Repositories that a build uses. Each is fetched once, and kept in a cache by commit. */
export interface Repositories {
  /** Throws KustomizeError. */
  folderOf(url: RepositoryUrl): Promise<ClonedFolder>;
}

export function createRepositories(options: Pick<BuildOptions, 'environment' | 'offline'>): Repositories {
  const clones = new Map<string, Promise<string>>();
  return {
    async folderOf(url) {
      checkUrl(url, options.offline === true);
      const key = JSON.stringify([url.repository, url.ref, url.submodules]);
      const known = clones.get(key) ?? fetchRepository(url, options.environment);
      clones.set(key, known);
      const clone = realpathSync(await known);
      return { clone, root: folderIn(clone, url) };
    },
  };
}

/** git must not take a part of the URL for an option. */
function checkUrl(url: RepositoryUrl, offline: boolean): void {
  const shown = withoutPassword(url.text);
  if (offline) {
    throw new KustomizeError('KYM_KUSTOMIZE_REMOTE', `"${shown}" is remote, and --offline is set`, {
      hint: 'Copy the folder and list the copy, or build without --offline.',
    });
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: git must not receive them.
  const hasControls = /[\u0000-\u0020\u007f]/.test(`${url.repository}${url.ref}`);
  const isOption = /(?:^|\/\/|@)-/.test(url.repository) || url.ref.startsWith('-');
  if (hasControls || isOption || url.ref.includes(':')) {
    throw new KustomizeError('KYM_KUSTOMIZE_REMOTE', `"${shown}" is not a valid address of a repository`);
  }
  const folder = posix.normalize(url.folder);
  if (folder === '..' || folder.startsWith('../') || folder.startsWith('/')) throw leaves(url);
}

function leaves(url: RepositoryUrl): KustomizeError {
  const message = `the folder ${url.folder} of "${withoutPassword(url.text)}" is not in the repository`;
  return new KustomizeError('KYM_KUSTOMIZE_OUTSIDE', message);
}

/** Symbolic links in the repository may lead out of it. */
function folderIn(clone: string, url: RepositoryUrl): string {
  const path = join(clone, url.folder);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) {
    const message = `"${withoutPassword(url.text)}": the repository has no folder ${url.folder}`;
    throw new KustomizeError('KYM_KUSTOMIZE_NOT_FOUND', message);
  }
  const root = realpathSync(path);
  if (!isInside(root, clone)) throw leaves(url);
  return root;
}

type Environment = BuildOptions['environment'];

/** The working tree, without the folder .git. */
async function fetchRepository(url: RepositoryUrl, environment: Environment): Promise<string> {
  const cache = join(cacheRoot(environment), bytesToHex(sha256(utf8ToBytes(url.repository))).slice(0, 16));
  const treeOf = (commit: string) => join(cache, `${commit}${url.submodules ? '' : '-no-submodules'}`);
  mkdirSync(cache, { recursive: true, mode: 0o700 });
  const temporary = mkdtempSync(join(cache, 'fetch-'));
  try {
    const git = (...args: string[]) => runGit(args, temporary, url, environment);
    const expected = await commitOf(url, git);
    if (expected !== undefined && isFolder(treeOf(expected))) return treeOf(expected);
    await git('init', '--quiet');
    // Relative submodules need the remote.
    await git('remote', 'add', '--', 'origin', url.repository);
    await git('fetch', '--quiet', '--depth=1', '--', url.repository, url.ref || 'HEAD');
    const commit = (await git('rev-parse', 'FETCH_HEAD^{commit}')).trim();
    const tree = treeOf(commit);
    if (isFolder(tree)) return tree;
    await git('checkout', '--quiet', 'FETCH_HEAD');
    if (url.submodules) await git('submodule', '--quiet', 'update', '--init', '--recursive');
    rmSync(join(temporary, '.git'), { recursive: true, force: true });
    return moveInto(temporary, tree);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** The commit of the ref; undefined if the repository does not advertise it. Tags precede branches. */
async function commitOf(
  { repository, ref }: RepositoryUrl,
  git: (...args: string[]) => Promise<string>,
): Promise<string | undefined> {
  if (/^[0-9a-f]{40}$/.test(ref)) return ref;
  const name = ref || 'HEAD';
  const output = await git('ls-remote', '--', repository, name, `${name}^{}`);
  const commits = new Map(
    output.split('\n').flatMap((line) => {
      const [commit, advertised] = line.split('\t');
      return commit === undefined || advertised === undefined ? [] : [[advertised, commit] as const];
    }),
  );
  const candidates = [`refs/tags/${name}^{}`, `refs/tags/${name}`, `refs/heads/${name}`, name];
  return candidates.map((candidate) => commits.get(candidate)).find((commit) => commit !== undefined);
}

/** Another process may have fetched the same commit meanwhile. */
function moveInto(temporary: string, tree: string): string {
  try {
    renameSync(temporary, tree);
  } catch (error) {
    if (!isFolder(tree)) throw error;
  }
  return tree;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function cacheRoot({ XDG_CACHE_HOME: cache, HOME: home }: Environment): string {
  const root = cache || (home ? join(home, '.cache') : undefined);
  if (root !== undefined) return join(root, 'kymera', 'git');
  throw new KustomizeError('KYM_KUSTOMIZE_REMOTE', 'there is no folder for fetched repositories', {
    hint: 'Set XDG_CACHE_HOME or HOME.',
  });
}

async function runGit(
  args: readonly string[],
  folder: string,
  url: RepositoryUrl,
  environment: Environment,
): Promise<string> {
  const title = `git ${args[0] ?? ''} for "${withoutPassword(url.text)}"`;
  const command = {
    title,
    path: 'git',
    args: ['-c', 'protocol.ext.allow=never', '-c', 'core.hooksPath=/dev/null', ...args],
    folder,
    environment: {
      ...environment,
      GIT_DIR: undefined,
      GIT_WORK_TREE: undefined,
      GIT_INDEX_FILE: undefined,
      GIT_TERMINAL_PROMPT: '0',
    },
    input: '',
    show: () => {},
  };
  const limits = { ...defaultPluginLimits, milliseconds: url.milliseconds };
  const { exitCode, output, messages } = await runPlugin(command, limits);
  if (exitCode === 0) return output;
  const reason = withoutPassword(messages.trim().replaceAll('\n', '; '));
  throw new KustomizeError('KYM_KUSTOMIZE_REMOTE', `${title} failed: ${reason}`);
}

function withoutPassword(text: string): string {
  return text.replaceAll(/\/\/[^/@\s]*:[^/@\s]*@/g, '//***@');
}
