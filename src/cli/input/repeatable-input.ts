import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { InputError, inputError } from '../../problem.ts';
import { openTemporaryFile, type TemporaryFile } from '../output/temporary-file.ts';
import type { InputPath } from './input-paths.ts';
import { isRemote } from './remote-file.ts';
import { displayName, type InputIo, openInput } from './text-input.ts';

/** Makes inputs readable twice: copies standard input, pipes and remote files to temporary files. */
export async function makeRepeatable(
  inputs: readonly InputPath[],
  io: InputIo,
): Promise<{ readonly inputs: readonly InputPath[]; close(): Promise<void> }> {
  const files: TemporaryFile[] = [];
  const repeatable: InputPath[] = [];
  for (const input of inputs) {
    const isLocal = input.file !== '-' && !isRemote(input.file);
    if (isLocal && (await stat(resolve(io.cwd, input.file))).isFile()) repeatable.push(input);
    else {
      const file = await copyOf(openInput(input.file, io), input.file);
      files.push(file);
      repeatable.push({ ...input, contents: () => file.read() });
    }
  }
  return {
    inputs: repeatable,
    close: async () => {
      for (const file of files) await file.close();
    },
  };
}

async function copyOf(source: AsyncIterable<Uint8Array | string>, name: string): Promise<TemporaryFile> {
  try {
    const file = await openTemporaryFile();
    for await (const chunk of source) {
      await file.append(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
    }
    return file;
  } catch (error) {
    if (error instanceof InputError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw inputError('KYM_INPUT_UNREADABLE', `the input cannot be copied to a temporary file: ${reason}`, {
      file: displayName(name),
    });
  }
}
