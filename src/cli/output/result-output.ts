import { mkdir, mkdtemp, open, readdir, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { inputError } from '../../problem.ts';
import type { Io } from '../io.ts';
import { holdOutput } from './held-output.ts';

/** Where results go. Nothing is to be seen there before `release`. */
export interface ResultOutput {
  /** `name` says what the text is about, for outputs that keep objects apart. */
  write(text: string, name: string): Promise<void>;
  release(): Promise<void>;
  discard(): Promise<void>;
  /** One file for each name: texts are not put together to one stream. */
  readonly apart: boolean;
}

/** Standard output, a file, or a folder (one that is there, or a path that ends in a slash). */
export async function openResultOutput(path: string | undefined, io: Io): Promise<ResultOutput> {
  if (path === undefined) return { ...holdOutput(io.stdout), apart: false };
  const full = resolve(io.cwd, path);
  const stats = await stat(full).catch(() => undefined);
  try {
    if (stats?.isDirectory() || path.endsWith('/')) return await folderOutput(full);
    return stats === undefined || stats.isFile() ? await fileOutput(full) : await deviceOutput(full);
  } catch (error) {
    throw notWritten(path, error);
  }
}

/** Written beside the file and put in its place as a whole. */
async function fileOutput(path: string): Promise<ResultOutput> {
  const target = await realpath(path).catch(() => path);
  const temporary = join(dirname(target), `.${basename(target)}.${process.pid}.tmp`);
  const handle = await open(temporary, 'wx');
  const before = await stat(target).catch(() => undefined);
  if (before !== undefined) await handle.chmod(before.mode);
  const held = holdOutput({
    isTTY: false,
    write: async (bytes) => void (await handle.write(asBytes(bytes))),
  });
  return {
    apart: false,
    write: held.write,
    release: async () => {
      try {
        await held.release();
        await handle.close();
        await rename(temporary, target);
      } catch (error) {
        await rm(temporary, { force: true });
        throw notWritten(path, error);
      }
    },
    discard: async () => {
      await held.discard();
      await handle.close();
      await rm(temporary, { force: true });
    },
  };
}

/** Not a file that could be replaced: /dev/null, a named pipe. */
async function deviceOutput(path: string): Promise<ResultOutput> {
  const handle = await open(path, 'w');
  const held = holdOutput({
    isTTY: false,
    write: async (bytes) => void (await handle.write(asBytes(bytes))),
  });
  return {
    apart: false,
    write: held.write,
    release: async () => {
      await held.release();
      await handle.close();
    },
    discard: async () => {
      await held.discard();
      await handle.close();
    },
  };
}

/** `NAME-mutated.yaml` for each object; objects of one name share a file. */
async function folderOutput(folder: string): Promise<ResultOutput> {
  await mkdir(folder, { recursive: true });
  const temporary = await mkdtemp(join(folder, '.kymera-'));
  const written = new Set<string>();
  const discard = () => rm(temporary, { recursive: true, force: true });
  return {
    apart: true,
    write: async (text, name) => {
      const file = `${fileName(name)}-mutated.yaml`;
      const handle = await open(join(temporary, file), 'a');
      await handle.write(written.has(file) ? `---\n${text}` : text);
      await handle.close();
      written.add(file);
    },
    release: async () => {
      try {
        for (const file of await readdir(temporary)) await rename(join(temporary, file), join(folder, file));
      } catch (error) {
        throw notWritten(folder, error);
      } finally {
        await discard();
      }
    },
    discard,
  };
}

/** Names come from the input: they lead to no other folder. */
function fileName(name: string): string {
  return name.replaceAll(/[^\w.-]/g, '_').replace(/^\.+/, '_') || '_';
}

function asBytes(bytes: string | Uint8Array): Uint8Array {
  return typeof bytes === 'string' ? Buffer.from(bytes) : bytes;
}

function notWritten(path: string, error: unknown) {
  const reason = error instanceof Error ? error.message : String(error);
  return inputError('KYM_FILE_NOT_WRITTEN', `the results cannot be written: ${reason}`, { file: path });
}
