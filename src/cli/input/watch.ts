import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Paint } from '../../offline/output/paint.ts';
import { InputError, inputError } from '../../problem.ts';
import type { ExitCode, Io } from '../io.ts';
import { paintFor } from '../output/style.ts';
import { formatProblem } from '../problem-text.ts';
import { expandInputs } from './input-paths.ts';

export interface WatchOptions {
  /** Files, folders and globs, as the user named them. Called before each run, because a run may read other files. */
  readonly names: () => readonly string[];
  /** Shown above each run. */
  readonly title: string;
  readonly color: boolean | undefined;
  readonly run: () => Promise<ExitCode>;
  /** Polling interval in milliseconds. */
  readonly interval?: number | undefined;
}

const clearScreen = '\u001b[2J\u001b[3J\u001b[H';

/**
 * Runs again whenever a file is changed, created or deleted. Polls, because editors that save by renaming, network folders and
 * containers report changes in different ways.
 */
export async function watchInputs(options: WatchOptions, io: Io): Promise<ExitCode> {
  if (options.names().includes('-')) throw inputError('KYM_USAGE', 'standard input cannot be watched');
  const interval = options.interval ?? 200;
  const paint = paintFor(io.stdout, io, options.color);
  let exitCode: ExitCode = 0;
  while (!isOver(io)) {
    const before = await fingerprint(options.names(), io);
    await io.stdout.write(header(options.title, before.size, io, paint));
    exitCode = await runOnce(options, io);
    await changed(before, options, interval, io);
  }
  return exitCode;
}

function isOver(io: Io): boolean {
  return io.signal?.aborted === true;
}

function header(title: string, files: number, io: Io, paint: Paint): string {
  const time = new Date().toTimeString().slice(0, 8);
  const text = `${paint('bold', title)} ${paint('dim', `${time}, watching ${files} file${files === 1 ? '' : 's'}`)}\n\n`;
  return io.stdout.isTTY ? clearScreen + text : text;
}

async function runOnce(options: WatchOptions, io: Io): Promise<ExitCode> {
  try {
    return await options.run();
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    const paint = paintFor(io.stdout, io, options.color);
    await io.stdout.write(error.problems.map((problem) => `${formatProblem(problem, paint)}\n`).join(''));
    return 2;
  }
}

/** Resolves when the files differ from `before` and have not changed for one interval. */
async function changed(before: Fingerprint, options: WatchOptions, interval: number, io: Io): Promise<void> {
  let last = before;
  let hasChanged = false;
  while (!isOver(io)) {
    await sleep(interval, undefined, io.signal === undefined ? {} : { signal: io.signal }).catch(
      () => undefined,
    );
    const now = await fingerprint(options.names(), io);
    if (!isSame(now, last)) {
      hasChanged = true;
      last = now;
    } else if (hasChanged) return;
  }
}

/** The state of files: modification time, size, inode and mode by path. */
export type Fingerprint = ReadonlyMap<string, string>;

export async function fingerprint(names: readonly string[], io: Pick<Io, 'cwd'>): Promise<Fingerprint> {
  const files = new Map<string, string>();
  for (const name of names) {
    const inputs = await expandInputs([name], io.cwd).catch(() => []);
    for (const { file } of inputs) {
      const stats = await stat(resolve(io.cwd, file)).catch(() => undefined);
      // A dangling link is a state too, and so is the mode.
      files.set(file, stats === undefined ? '' : `${stats.mtimeMs} ${stats.size} ${stats.ino} ${stats.mode}`);
    }
  }
  return files;
}

export function isSame(left: Fingerprint, right: Fingerprint): boolean {
  return left.size === right.size && [...left].every(([file, state]) => right.get(file) === state);
}
