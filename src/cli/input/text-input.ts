import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { InputError, inputError } from '../../problem.ts';
import type { Io } from '../io.ts';
import { isRemote, readRemote, remoteName } from './remote-file.ts';

/** The parts of a command's environment that reading needs. */
export type InputIo = Pick<Io, 'stdin' | 'cwd' | 'offline'>;

/** Reads a file, an https address, or standard input for `-`, as UTF-8. Drops a byte order mark. */
export async function* readText(
  file: string,
  io: InputIo,
  contents?: AsyncIterable<Uint8Array>,
): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    for await (const chunk of contents ?? openInput(file, io)) {
      const text = typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true });
      if (text !== '') yield text;
    }
    const rest = decoder.decode();
    if (rest !== '') yield rest;
  } catch (error) {
    if (error instanceof InputError) throw error;
    throw inputError('KYM_INPUT_UNREADABLE', describe(error), { file: displayName(file) });
  }
}

export function openInput(file: string, io: InputIo): AsyncIterable<Uint8Array | string> {
  if (file === '-') return io.stdin;
  if (isRemote(file)) return readRemote(file, io.offline === true);
  return createReadStream(resolve(io.cwd, file), { highWaterMark: 1 << 18 });
}

export async function readWhole(file: string, io: InputIo): Promise<string> {
  const parts: string[] = [];
  for await (const part of readText(file, io)) parts.push(part);
  return parts.join('');
}

export function displayName(file: string): string {
  if (file === '-') return '(stdin)';
  return isRemote(file) ? remoteName(file) : file;
}

function describe(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return 'the file is not UTF-8 text';
  if (code === 'EACCES') return 'the file may not be read';
  return `the file cannot be read: ${error instanceof Error ? error.message : String(error)}`;
}
