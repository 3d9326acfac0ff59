import { mkdir, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { celCompilersFor } from '../../policy/cel-documents.ts';
import { loadDocuments } from '../../policy/load.ts';
import { InputError, inputError } from '../../problem.ts';
import type { Io } from '../io.ts';
import { type NewText, writeFiles } from '../output/result-output.ts';

/** Writes all files, or none when one of them exists. */
export async function writeNewFiles(files: readonly NewText[], force: boolean, io: Io): Promise<void> {
  for (const { file } of files) {
    const exists = (await stat(resolve(io.cwd, file)).catch(() => undefined)) !== undefined;
    if (!exists || force) continue;
    const hint = 'choose another path with --output, or overwrite it with --force';
    throw inputError('KYM_FILE_EXISTS', 'the file exists', { file, hint });
  }
  for (const { file } of files) {
    await mkdir(dirname(resolve(io.cwd, file)), { recursive: true }).catch((error: Error) => {
      throw inputError('KYM_FILE_NOT_WRITTEN', `the folder cannot be created: ${error.message}`, { file });
    });
  }
  await writeFiles(files, io);
}

/** Writes a policy or exception to standard output or a file after checking that it loads. */
export async function writeStarter(
  text: string,
  options: { readonly output?: string | undefined; readonly force?: boolean | undefined },
  io: Io,
): Promise<void> {
  const files = [{ file: options.output ?? '(new)', text }];
  const { problems } = loadDocuments(files, { cel: await celCompilersFor(files) });
  const errors = problems.filter(({ severity }) => severity === 'error');
  if (errors.length > 0) throw new InputError(errors);
  if (options.output === undefined) {
    await io.stdout.write(text);
    return;
  }
  await writeNewFiles([{ file: options.output, text }], options.force === true, io);
  await io.stdout.write(`wrote ${options.output}\n`);
}

const objectName = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;

export function checkName(name: string): void {
  if (objectName.test(name) && name.length <= 63) return;
  const hint = 'a name consists of at most 63 lower-case letters, digits, - and .';
  throw inputError('KYM_USAGE', `${JSON.stringify(name)} is not a valid object name`, { hint });
}
