import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';

/** True for a path that a shell would have expanded. */
export function isGlob(path: string): boolean {
  return /[*?[{]/.test(path);
}

/**
 * Paths of files that fit the pattern, in order: `*` and `?` stay inside one folder, `**` crosses folders,
 * `[a-z]` and `{a,b}` as in a shell. Hidden names only fit a pattern part that begins with a dot.
 */
export async function expandGlob(pattern: string, cwd: string): Promise<string[]> {
  const found = new Set<string>();
  for (const alternative of expandBraces(pattern)) {
    const absolute = alternative.startsWith('/');
    const parts = alternative.split('/').filter((part) => part !== '' && part !== '.');
    if (parts.at(-1) === '**') parts.push('*');
    await collect(absolute ? '/' : '', parts, cwd, found);
  }
  return [...found].sort();
}

async function collect(
  base: string,
  parts: readonly string[],
  cwd: string,
  found: Set<string>,
): Promise<void> {
  const [part, ...rest] = parts;
  if (part === undefined) return;
  if (part === '..' || !isGlob(part)) {
    const path = join(base, part);
    const entry = rest.length === 0 ? await isFile(resolve(cwd, path)) : true;
    if (rest.length > 0) await collect(path, rest, cwd, found);
    else if (entry) found.add(path);
    return;
  }
  const fits = part === '**' ? undefined : compilePart(part);
  if (fits === undefined) await collect(base, rest, cwd, found);
  for (const entry of await entriesOf(resolve(cwd, base))) {
    if (entry.name.startsWith('.') && !part.startsWith('.')) continue;
    const path = join(base, entry.name);
    if (fits === undefined) {
      if (entry.isDirectory()) await collect(path, parts, cwd, found);
    } else if (fits.test(entry.name)) {
      if (rest.length > 0 && !entry.isFile()) await collect(path, rest, cwd, found);
      else if (rest.length === 0 && !entry.isDirectory()) found.add(path);
    }
  }
}

async function isFile(path: string): Promise<boolean> {
  const { stat } = await import('node:fs/promises');
  return stat(path).then(
    (stats) => !stats.isDirectory(),
    () => false,
  );
}

async function entriesOf(folder: string) {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

function compilePart(part: string): RegExp {
  const source = part.replace(/\[(!?)([^\]]+)\]|[\\^$.|+(){}\]/*?[]/g, (text, negated, set) => {
    if (set !== undefined) return `[${negated === '!' ? '^' : ''}${set.replace(/[\\\]]/g, '\\$&')}]`;
    if (text === '*') return '[^/]*';
    if (text === '?') return '[^/]';
    return `\\${text}`;
  });
  return new RegExp(`^${source}$`, 'u');
}

function expandBraces(pattern: string): string[] {
  const match = /\{([^{}]*)\}/.exec(pattern);
  if (match === null) return [pattern];
  const before = pattern.slice(0, match.index);
  const after = pattern.slice(match.index + match[0].length);
  return (match[1] ?? '').split(',').flatMap((choice) => expandBraces(before + choice + after));
}
