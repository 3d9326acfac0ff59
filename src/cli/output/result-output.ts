import {
  chmod,
  type FileHandle,
  mkdir,
  mkdtemp,
  open,
  readdir,
  realpath,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { inputError } from '../../problem.ts';
import type { Io } from '../io.ts';
import { holdOutput } from './held-output.ts';

/** Receives the results of a command. Nothing is visible to others before `release`. */
export interface ResultOutput {
  /** `name` is the object or file of the text, for an output that writes several files. */
  write(text: string, name: string): Promise<void>;
  release(): Promise<void>;
  discard(): Promise<void>;
  /** One file for each name, not one stream of documents. */
  readonly apart: boolean;
}

/**
 * Standard output, a file, or a folder (an existing one, or a path that ends in a slash). In a folder, `fileName` gives the file of a
 * name. Texts of the same file become documents of one stream.
 */
export async function openResultOutput(
  path: string | undefined,
  io: Io,
  fileName = mutatedName,
): Promise<ResultOutput> {
  if (path === undefined) return { ...holdOutput(io.stdout), apart: false };
  const full = resolve(io.cwd, path);
  const stats = await stat(full).catch(() => undefined);
  try {
    if (stats?.isDirectory() || path.endsWith('/')) return await folderOutput(full, path, fileName);
    return stats === undefined || stats.isFile()
      ? await fileOutput(full, path)
      : await deviceOutput(full, path);
  } catch (error) {
    throw notWritten(path, error);
  }
}

export interface NewText {
  /** As the user would write it. */
  readonly file: string;
  readonly text: string;
}

/** Writes all files completely, or changes none of them. */
export async function writeFiles(files: readonly NewText[], { cwd }: Pick<Io, 'cwd'>): Promise<void> {
  const staged: { readonly temporary: string; readonly target: string }[] = [];
  let current = '';
  try {
    for (const { file, text } of files) {
      current = file;
      const target = await targetOf(resolve(cwd, file));
      const temporary = temporaryName(target, staged.length);
      await writeFile(temporary, text, { flag: 'wx' });
      staged.push({ temporary, target });
      await keepMode(temporary, target);
    }
    for (const { temporary, target } of staged) await rename(temporary, target);
  } catch (error) {
    for (const { temporary } of staged) await rm(temporary, { force: true });
    throw notWritten(current, error);
  }
}

/** Written beside the file, then renamed: readers see the old contents or the new, never a part. */
async function fileOutput(full: string, path: string): Promise<ResultOutput> {
  const target = await targetOf(full);
  const temporary = temporaryName(target);
  const handle = await open(temporary, 'wx');
  await keepMode(temporary, target);
  return handleOutput(handle, path, {
    written: () => rename(temporary, target),
    dropped: () => rm(temporary, { force: true }),
  });
}

/** A path that cannot be replaced: /dev/null, a named pipe. */
async function deviceOutput(full: string, path: string): Promise<ResultOutput> {
  return handleOutput(await open(full, 'w'), path, { written: async () => {}, dropped: async () => {} });
}

function handleOutput(
  handle: FileHandle,
  path: string,
  then: { written(): Promise<void>; dropped(): Promise<void> },
): ResultOutput {
  // Unlike `write`, `writeFile` of a handle continues after a short write.
  const held = holdOutput({ isTTY: false, write: (bytes) => handle.writeFile(bytes) });
  return {
    apart: false,
    write: held.write,
    release: async () => {
      try {
        await held.release();
        await handle.close();
        await then.written();
      } catch (error) {
        await handle.close().catch(() => undefined);
        await then.dropped();
        throw notWritten(path, error);
      }
    },
    discard: async () => {
      await held.discard();
      await handle.close();
      await then.dropped();
    },
  };
}

async function folderOutput(
  folder: string,
  path: string,
  fileName: (name: string) => string,
): Promise<ResultOutput> {
  await mkdir(folder, { recursive: true });
  const temporary = await mkdtemp(join(folder, '.kymera-'));
  const written = new Set<string>();
  const discard = () => rm(temporary, { recursive: true, force: true });
  return {
    apart: true,
    write: async (text, name) => {
      const file = insideFolder(fileName(name));
      try {
        await writeFile(join(temporary, file), written.has(file) ? `---\n${text}` : text, { flag: 'a' });
      } catch (error) {
        throw notWritten(join(path, file), error);
      }
      written.add(file);
    },
    release: async () => {
      try {
        for (const file of await readdir(temporary)) {
          const target = await targetOf(join(folder, file));
          await keepMode(join(temporary, file), target);
          await rename(join(temporary, file), target);
        }
      } catch (error) {
        throw notWritten(path, error);
      } finally {
        await discard();
      }
    },
    discard,
  };
}

/** A link stays a link: the file that it points to is replaced. */
function targetOf(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}

function temporaryName(target: string, number = 0): string {
  return join(dirname(target), `.${basename(target)}.${process.pid}-${number}.tmp`);
}

async function keepMode(temporary: string, target: string): Promise<void> {
  const before = await stat(target).catch(() => undefined);
  if (before !== undefined) await chmod(temporary, before.mode);
}

function mutatedName(name: string): string {
  return `${name.replaceAll(/[^\w.-]/g, '_').replace(/^\.+/, '_') || '_'}-mutated.yaml`;
}

/** Names come from the input: they must not lead to another folder. */
function insideFolder(name: string): string {
  return name.replaceAll(/[/\0]/g, '_').replace(/^\.+/, '_');
}

function notWritten(path: string, error: unknown) {
  const reason = error instanceof Error ? error.message : String(error);
  return inputError('KYM_FILE_NOT_WRITTEN', `the file cannot be written: ${reason}`, { file: path });
}
