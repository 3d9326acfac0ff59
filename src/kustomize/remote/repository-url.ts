import { parseDuration } from '../../expression/duration.ts';

/** A git repository and a folder in it. */
export interface RepositoryUrl {
  /** As written in the kustomization. */
  readonly text: string;
  /** What git clones. */
  readonly repository: string;
  /** The folder in the repository; empty for its root. */
  readonly folder: string;
  /** A branch, tag or commit; empty for the default branch. */
  readonly ref: string;
  /** Time limit for each git command. */
  readonly milliseconds: number;
  readonly submodules: boolean;
}

const defaultMilliseconds = 27_000;
const longestMilliseconds = 3_600_000;
const schemes = ['ssh://', 'https://', 'http://', 'file://'] as const;

/**
 * Parses a URL as kustomize does; undefined for text that kustomize does not take for a repository.
 *
 * @example parseRepositoryUrl('github.com/org/repo//base?ref=v1') // repository https://github.com/org/repo, folder base
 */
export function parseRepositoryUrl(text: string): RepositoryUrl | undefined {
  if (text.startsWith('/')) return undefined;
  const mark = text.indexOf('?');
  const location = mark < 0 ? text : text.slice(0, mark);
  const found = splitHost(location.replace(/^git::/i, ''));
  if (found === undefined) return undefined;
  const parts = splitPath(found.path, found.host.startsWith('file://'));
  if (parts === undefined || parts.repository === '') return undefined;
  return {
    text,
    repository: found.host + parts.repository,
    folder: parts.folder.replace(/^\//, ''),
    ...readQuery(mark < 0 ? '' : text.slice(mark + 1)),
  };
}

/** A file, not a repository. */
export function isYamlUrl(text: string): boolean {
  return /^https?:\/\/[^?]*\.(?:ya?ml|json)(?:\?|$)/i.test(text);
}

/** Scheme, user and host; undefined if the text has none of the supported forms. */
function splitHost(text: string): { readonly host: string; readonly path: string } | undefined {
  const scheme = schemes.find((known) => text.toLowerCase().startsWith(known)) ?? '';
  const afterScheme = text.slice(scheme.length);
  const user = /^[a-zA-Z][a-zA-Z0-9-]*@/.exec(afterScheme)?.[0] ?? '';
  const rest = afterScheme.slice(user.length);
  const isGithub = /^github\.com[/:]/i.test(rest);
  const mayBeScp = scheme === '' && (user !== '' || isGithub);
  if (scheme === '' && !mayBeScp) return undefined;
  // Everything after file:// is a path.
  if (scheme === 'file://') return { host: scheme, path: user + rest };
  const end = separatorIndex(rest, mayBeScp);
  const host = end < 0 ? rest : rest.slice(0, end + 1);
  const path = end < 0 ? '' : rest.slice(end + 1);
  if (host === '') return undefined;
  if (!isGithub) return { host: scheme + user + host, path };
  const usesSsh = scheme === 'ssh://' || user !== '';
  return { host: usesSsh ? `${user}github.com:` : 'https://github.com/', path };
}

function separatorIndex(text: string, mayBeScp: boolean): number {
  const slash = text.indexOf('/');
  const colon = mayBeScp ? text.indexOf(':') : -1;
  return mayBeScp && (slash < 0 || (colon > 0 && colon < slash)) ? colon : slash;
}

/** Splits by `_git/`, `//` or `.git`; otherwise the repository is `org/repo`, or all of a file path. */
function splitPath(
  path: string,
  isFile: boolean,
): { readonly repository: string; readonly folder: string } | undefined {
  const at = (end: number, skip = 0) => ({
    repository: path.slice(0, end),
    folder: path.slice(end + skip),
  });
  const azure = path.indexOf('_git/');
  if (azure >= 0) {
    const end = path.indexOf('/', azure + '_git/'.length);
    return at(end < 0 ? path.length : end, 1);
  }
  const double = path.indexOf('//');
  if (double >= 0) return at(double, 2);
  const suffix = path.indexOf('.git');
  if (suffix >= 0) return at(suffix + '.git'.length);
  if (isFile) return at(path.length);
  const [org, repo, ...rest] = path.split('/');
  if (org === undefined || repo === undefined) return undefined;
  return { repository: `${org}/${repo}`, folder: rest.join('/') };
}

function readQuery(query: string): Pick<RepositoryUrl, 'ref' | 'milliseconds' | 'submodules'> {
  const values = new URLSearchParams(query);
  const submodules = values.get('submodules') ?? '';
  return {
    ref: values.get('ref') || values.get('version') || '',
    milliseconds: readTimeout(values.get('timeout') ?? ''),
    submodules: !/^(0|f|false)$/i.test(submodules),
  };
}

/** Seconds, or a duration with units such as 1m30s. */
function readTimeout(text: string): number {
  const duration = parseDuration(/^\d+$/.test(text) ? `${text}s` : text) ?? 0n;
  if (duration <= 0n) return defaultMilliseconds;
  return Math.max(1, Math.min(Number(duration / 1_000_000n), longestMilliseconds));
}
