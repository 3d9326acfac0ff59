import type { Paint } from '../offline/output/paint.ts';
import type { Problem } from '../problem.ts';
import type { Io } from './io.ts';
import { holdOutput } from './output/held-output.ts';
import { paintFor } from './output/style.ts';
import { formatProblem } from './problem-text.ts';

export type LogLevel = 'error' | 'warn' | 'info';

/** Messages of a command on standard error, held until its output is written. */
export interface CommandLog {
  readonly paint: Paint;
  /** A failure. It is printed at every log level. */
  error(text: string): Promise<void>;
  warn(problem: Problem): Promise<void>;
  info(text: string): Promise<void>;
  release(): Promise<void>;
}

const rank = { error: 0, warn: 1, info: 2 } as const;

export function createCommandLog(
  io: Io,
  {
    color,
    logLevel = 'warn',
  }: { readonly color?: boolean | undefined; readonly logLevel?: LogLevel | undefined },
): CommandLog {
  const paint = paintFor(io.stderr, io, color);
  const held = holdOutput(io.stderr);
  const print = (level: LogLevel) => async (text: string) => {
    if (rank[level] <= rank[logLevel]) await held.write(`${text}\n`);
  };
  const warn = print('warn');
  return {
    paint,
    error: print('error'),
    warn: (problem) => warn(formatProblem(problem, paint)),
    info: print('info'),
    release: held.release,
  };
}
