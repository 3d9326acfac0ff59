import type { Dirent } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { extname, join, resolve } from 'node:path';
import { glob } from 'tinyglobby';
import { inputError } from '../../problem.ts';
import { isRemote } from './remote-file.ts';

/** One file to read. */
export interface InputPath {
  /** As the user would write it: a path, an https address, or `-` for standard input. */
  readonly file: string;
  /** Found in a folder, not named by the user: documents that are not Kubernetes objects are skipped. */
  readonly discovered: boolean;
  /** A copy of an input that can be read only once. */
  readonly contents?: (() => AsyncIterable<Uint8Array>) | undefined;
}

const extensions = new Set(['.yaml', '.yml', '.json']);

export interface ExpandOptions {
  /** Also search folders whose names start with a dot, except `.git`. */
  readonly hiddenFolders?: boolean | undefined;
}

/** The files that the user named: files, folders (searched recursively), globs, https addresses, `-`. In the order given. */
export async function expandInputs(
  names: readonly string[],
  cwd: string,
  options: ExpandOptions = {},
): Promise<InputPath[]> {
  const inputs: InputPath[] = [];
  for (const name of names) inputs.push(...(await expandInput(name, cwd, options)));
  const seen = new Set<string>();
  return inputs.filter(({ file }) => {
    const key = file === '-' ? file : resolve(cwd, file);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

async function expandInput(name: string, cwd: string, options: ExpandOptions): Promise<InputPath[]> {
  if (name === '-' || isRemote(name)) return [{ file: name, discovered: false }];
  const stats = await stat(resolve(cwd, name)).catch(() => undefined);
  if (stats?.isDirectory()) return filesUnder(name, cwd, options);
  if (stats !== undefined) return [{ file: name, discovered: false }];
  // Kyverno's command line accepts several paths in one argument, separated by commas.
  if (name.includes(',') && !name.includes('{')) return expandInputs(name.split(','), cwd, options);
  if (!/[*?[{]/.test(name)) {
    throw inputError('KYM_INPUT_NOT_FOUND', `there is no file or folder ${name}`, { file: name });
  }
  const files = await expandGlob(name, cwd);
  if (files.length === 0) {
    throw inputError('KYM_INPUT_NOT_FOUND', `no file matches ${name}`, { file: name });
  }
  return files.map((file) => ({ file, discovered: true }));
}

/**
 * Paths of files that match the pattern, sorted: `*` and `?` stay inside one folder, `**` crosses folders, `[a-z]` and
 * `{a,b}` work as in a shell. A hidden name matches only a pattern part that begins with a dot.
 */
export async function expandGlob(pattern: string, cwd: string): Promise<string[]> {
  // Parentheses and a leading `!` are part of a file name here.
  const escaped = pattern.replaceAll(/[()]|^!/g, '\\$&');
  const files = await glob(escaped, {
    cwd,
    absolute: pattern.startsWith('/'),
    expandDirectories: false,
    extglob: false,
  });
  return files.sort();
}

async function filesUnder(folder: string, cwd: string, options: ExpandOptions): Promise<InputPath[]> {
  const files: InputPath[] = [];
  const entries = await readdir(resolve(cwd, folder), { withFileTypes: true }).catch(() => {
    throw inputError('KYM_INPUT_UNREADABLE', `the folder ${folder} cannot be read`, { file: folder });
  });
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    if (!isSearched(entry, options)) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) files.push(...(await filesUnder(path, cwd, options)));
    // A named pipe or device in a folder could block forever.
    else if (!entry.isFile() && !entry.isSymbolicLink()) continue;
    else if (extensions.has(extname(entry.name).toLowerCase())) files.push({ file: path, discovered: true });
  }
  return files;
}

function isSearched(entry: Dirent, { hiddenFolders = false }: ExpandOptions): boolean {
  if (entry.name === 'node_modules' || entry.name === '.git') return false;
  return !entry.name.startsWith('.') || (hiddenFolders && entry.isDirectory());
}
