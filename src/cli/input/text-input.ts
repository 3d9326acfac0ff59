import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { inputError } from '../../problem.ts';
import type { Io } from '../io.ts';

/** Reads a file, or standard input for `-`, as UTF-8. Drops a byte order mark. */
export async function* readText(
  file: string,
  io: Pick<Io, 'stdin' | 'cwd'>,
  contents?: AsyncIterable<Uint8Array>,
): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    const source: AsyncIterable<Uint8Array | string> =
      contents ??
      (file === '-' ? io.stdin : createReadStream(resolve(io.cwd, file), { highWaterMark: 1 << 18 }));
    for await (const chunk of source) {
      const text = typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true });
      if (text !== '') yield text;
    }
    const rest = decoder.decode();
    if (rest !== '') yield rest;
  } catch (error) {
    throw inputError('KYM_INPUT_UNREADABLE', describe(error), { file: displayName(file) });
  }
}

export async function readWhole(file: string, io: Pick<Io, 'stdin' | 'cwd'>): Promise<string> {
  const parts: string[] = [];
  for await (const part of readText(file, io)) parts.push(part);
  return parts.join('');
}

export function displayName(file: string): string {
  return file === '-' ? '(stdin)' : file;
}

function describe(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return 'the file is not UTF-8 text';
  if (code === 'EACCES') return 'the file may not be read';
  return `the file cannot be read: ${error instanceof Error ? error.message : String(error)}`;
}
