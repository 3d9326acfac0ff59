import { readdir, stat } from 'node:fs/promises';
import { extname, join, resolve } from 'node:path';
import { inputError } from '../../problem.ts';
import { expandGlob, isGlob } from './glob.ts';

/** One place to read from. */
export interface InputPath {
  /** As the user would write it; `-` for standard input. */
  readonly file: string;
  /** Found in a folder, not named by the user: what is no Kubernetes object in it is passed over. */
  readonly discovered: boolean;
  /** A copy of what can be read only once. */
  readonly contents?: (() => AsyncIterable<Uint8Array>) | undefined;
}

const extensions = new Set(['.yaml', '.yml', '.json']);

/** Files for what the user named: files, folders (searched through), globs, `-`. In the order given. */
export async function expandInputs(names: readonly string[], cwd: string): Promise<InputPath[]> {
  const inputs: InputPath[] = [];
  for (const name of names) inputs.push(...(await expandInput(name, cwd)));
  const seen = new Set<string>();
  return inputs.filter(({ file }) => {
    const key = file === '-' ? file : resolve(cwd, file);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

async function expandInput(name: string, cwd: string): Promise<InputPath[]> {
  if (name === '-') return [{ file: name, discovered: false }];
  const stats = await stat(resolve(cwd, name)).catch(() => undefined);
  if (stats?.isDirectory()) return filesUnder(name, cwd);
  if (stats !== undefined) return [{ file: name, discovered: false }];
  // Kyverno's command line takes several paths in one, with commas between.
  if (name.includes(',') && !name.includes('{')) return expandInputs(name.split(','), cwd);
  if (!isGlob(name)) {
    throw inputError('KYM_INPUT_NOT_FOUND', `there is no file or folder ${name}`, { file: name });
  }
  const files = await expandGlob(name, cwd);
  if (files.length === 0) {
    throw inputError('KYM_INPUT_NOT_FOUND', `no file fits ${name}`, { file: name });
  }
  return files.map((file) => ({ file, discovered: true }));
}

async function filesUnder(folder: string, cwd: string): Promise<InputPath[]> {
  const files: InputPath[] = [];
  const entries = await readdir(resolve(cwd, folder), { withFileTypes: true }).catch(() => {
    throw inputError('KYM_INPUT_UNREADABLE', `the folder ${folder} cannot be read`, { file: folder });
  });
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
    const path = join(folder, entry.name);
    const isFolder = entry.isDirectory();
    if (isFolder) files.push(...(await filesUnder(path, cwd)));
    else if (extensions.has(extname(entry.name).toLowerCase())) files.push({ file: path, discovered: true });
  }
  return files;
}
