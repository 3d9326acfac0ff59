import { realpathSync, statSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { isArray, isObject, type Json, member } from '../../json/value.ts';
import { diskFiles } from '../../kustomize/kustomization/disk-files.ts';
import { kustomizationNames } from '../../kustomize/kustomization/load-kustomization.ts';
import { readSettings } from '../../kustomize/yaml/read.ts';
import { inputError } from '../../problem.ts';
import type { Fingerprint } from '../input/watch.ts';
import type { Io } from '../io.ts';

/** A kustomization with the files of all local folders that it uses. */
export interface KustomizationFiles {
  /** The folder that contains all of them: absolute. */
  readonly root: string;
  /** The folder to build, relative to the root. */
  readonly folder: string;
  /** Relative to the root. */
  readonly names: readonly string[];
  readonly fingerprint: Fingerprint;
}

const mostFiles = 1_000;
const mostBytes = 10 * 1024 * 1024;

/** Finds the files. Those that are too many for a page are an error. */
export async function findKustomizationFiles(path: string, io: Pick<Io, 'cwd'>): Promise<KustomizationFiles> {
  const start = resolve(io.cwd, path);
  if (statSync(start, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw inputError('KYM_INPUT_NOT_FOUND', 'the folder does not exist', { file: path });
  }
  const first = realpathSync(start);
  const folders = usedFolders(first);
  if (folders.length === 0) {
    const message = `the folder contains no kustomization: expected one of ${kustomizationNames.join(', ')}`;
    throw inputError('KYM_KUSTOMIZE_NOT_FOUND', message, { file: path });
  }
  const root = folders.reduce(commonFolder);
  const states = new Map<string, string>();
  let bytes = 0;
  for (const folder of folders) {
    for (const file of await filesBelow(folder)) {
      const found = await stat(file).catch(() => undefined);
      const name = relative(root, file);
      if (found === undefined || states.has(name)) continue;
      bytes += found.size;
      states.set(name, `${found.mtimeMs} ${found.size} ${found.ino} ${found.mode}`);
      if (states.size > mostFiles || bytes > mostBytes) throw tooMany(folder);
    }
  }
  return {
    root,
    folder: relative(root, first) || '.',
    names: [...states.keys()].sort(),
    fingerprint: states,
  };
}

function tooMany(folder: string): Error {
  return inputError('KYM_USAGE', `${folder} has too many files for a page`, {
    hint: `name a folder with at most ${mostFiles} files and ${mostBytes / 1024 / 1024} MB`,
  });
}

/** The texts of the files; binary files are left out. */
export async function readKustomizationFiles({ root, names }: KustomizationFiles) {
  const files: { readonly name: string; readonly text: string }[] = [];
  for (const name of names) {
    const text = decoded(await readFile(join(root, name)));
    if (text !== undefined) files.push({ name, text });
  }
  return files;
}

function decoded(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

const folderFields = ['resources', 'bases', 'components', 'generators', 'transformers', 'validators'];

/** The folder and all that its kustomization names, directly or through others. */
function usedFolders(first: string): readonly string[] {
  const found = new Set<string>();
  const waiting = [first];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    if (found.has(folder) || found.size >= mostFiles) continue;
    const settings = settingsIn(folder);
    if (settings === undefined) continue;
    found.add(folder);
    for (const entry of folderFields.flatMap((field) => textsAt(settings, field))) {
      const path = resolve(folder, entry);
      if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) waiting.push(realpathSync(path));
    }
  }
  return [...found];
}

/** Null if the kustomization cannot be read: the build reports it. Undefined if there is none. */
function settingsIn(folder: string): Json | undefined {
  for (const name of kustomizationNames) {
    const file = join(folder, name);
    if (diskFiles.kindOf(file) !== 'file') continue;
    try {
      return readSettings(new TextDecoder().decode(diskFiles.read(file)), name);
    } catch {
      return null;
    }
  }
  return undefined;
}

function textsAt(settings: Json, field: string): readonly string[] {
  const list = isObject(settings) ? member(settings, field) : undefined;
  // Inline YAML is no path, and neither is a name with NUL.
  return isArray(list)
    ? list.filter((item): item is string => typeof item === 'string' && !/[\n\0]/.test(item))
    : [];
}

function commonFolder(left: string, right: string): string {
  let common = left;
  while (relative(common, right).startsWith('..')) common = dirname(common);
  return common;
}

/** Regular files; hidden folders and installed packages are left out, and links are not followed. */
async function filesBelow(folder: string): Promise<readonly string[]> {
  const files: string[] = [];
  const waiting = [folder];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    for (const entry of await readdir(at, { withFileTypes: true }).catch(() => [])) {
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
      const path = join(at, entry.name);
      if (entry.isDirectory()) waiting.push(path);
      else if (entry.isFile()) files.push(path);
    }
    if (files.length > mostFiles) throw tooMany(folder);
  }
  return files;
}
