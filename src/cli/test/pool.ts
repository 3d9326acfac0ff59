import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { parseFilter } from '../../offline/test/filter.ts';
import type { Io } from '../io.ts';
import { runSuite, type SuiteResult } from './suite.ts';

export interface PoolOptions {
  readonly filter: readonly string[];
  /** Number of threads. By default it depends on the number of files. */
  readonly jobs?: number | undefined;
  readonly strict?: boolean | undefined;
  readonly strictCompat?: boolean | undefined;
}

/** The settings of a worker. */
export interface WorkerSettings {
  readonly filter: readonly string[];
  readonly strict?: boolean | undefined;
  readonly strictCompat?: boolean | undefined;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Starting a thread takes about as long as running this many files. */
const filesPerThread = 8;

/** Yields results in the order of the files, for any number of threads. */
export async function* runSuites(
  files: readonly string[],
  { filter, jobs, strict, strictCompat }: PoolOptions,
  io: Io,
): AsyncGenerator<SuiteResult> {
  const worth = jobs ?? Math.min(availableParallelism(), Math.ceil(files.length / filesPerThread));
  const threads = Math.min(worth, files.length);
  if (threads <= 1 || io.testWorker === undefined) {
    const parsed = parseFilter(filter);
    for (const file of files) yield await runSuite(file, parsed, io, { strict, strictCompat });
    return;
  }
  const settings: WorkerSettings = { filter, strict, strictCompat, cwd: io.cwd, env: { ...io.env } };
  const { testWorker } = io;
  const workers = Array.from({ length: threads }, () => new Worker(testWorker, { workerData: settings }));
  try {
    const results = distribute(files, workers);
    for (const result of results) yield await result;
  } finally {
    for (const worker of workers) await worker.terminate();
  }
}

/** Gives each worker the next file as soon as it has finished one. */
function distribute(files: readonly string[], workers: readonly Worker[]): Promise<SuiteResult>[] {
  const settle: { resolve(result: SuiteResult): void; reject(error: unknown): void }[] = [];
  const results = files.map(
    () =>
      new Promise<SuiteResult>((resolve, reject) => {
        settle.push({ resolve, reject });
      }),
  );
  // A failure is handled where the result is awaited.
  for (const result of results) result.catch(() => undefined);
  let next = 0;
  for (const worker of workers) {
    let current = -1;
    const sendNext = () => {
      current = next++;
      if (current < files.length) worker.postMessage(files[current]);
    };
    worker.on('message', (result: SuiteResult) => {
      settle[current]?.resolve(result);
      sendNext();
    });
    worker.on('error', (error) => {
      for (const one of settle) one.reject(error);
    });
    sendNext();
  }
  return results;
}
