import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Io } from '../io.ts';
import { parseFilter } from './filter.ts';
import { runSuite, type SuiteResult } from './suite.ts';

export interface PoolOptions {
  readonly filter: readonly string[];
  /** How many threads; as many as pay when absent. */
  readonly jobs?: number | undefined;
}

/** What a worker is told when it starts. */
export interface WorkerSettings {
  readonly filter: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Starting a thread costs about as much as running so many files. */
const filesThatPay = 8;

/** Results in the order of the files, however many threads work on them. */
export async function* runSuites(
  files: readonly string[],
  { filter, jobs }: PoolOptions,
  io: Io,
): AsyncGenerator<SuiteResult> {
  const worth = jobs ?? Math.min(availableParallelism(), Math.ceil(files.length / filesThatPay));
  const threads = Math.min(worth, files.length);
  if (threads <= 1 || io.testWorker === undefined) {
    const parsed = parseFilter(filter);
    for (const file of files) yield await runSuite(file, parsed, io);
    return;
  }
  const settings: WorkerSettings = { filter, cwd: io.cwd, env: { ...io.env } };
  const { testWorker } = io;
  const workers = Array.from({ length: threads }, () => new Worker(testWorker, { workerData: settings }));
  try {
    const results = distribute(files, workers);
    for (const result of results) yield await result;
  } finally {
    for (const worker of workers) await worker.terminate();
  }
}

/** Hands each worker the next file as soon as it is done with one. */
function distribute(files: readonly string[], workers: readonly Worker[]): Promise<SuiteResult>[] {
  const settle: { resolve(result: SuiteResult): void; reject(error: unknown): void }[] = [];
  const results = files.map(
    () =>
      new Promise<SuiteResult>((resolve, reject) => {
        settle.push({ resolve, reject });
      }),
  );
  // A failure is met where its result is awaited.
  for (const result of results) result.catch(() => undefined);
  let next = 0;
  for (const worker of workers) {
    let current = -1;
    const give = () => {
      current = next++;
      if (current < files.length) worker.postMessage(files[current]);
    };
    worker.on('message', (result: SuiteResult) => {
      settle[current]?.resolve(result);
      give();
    });
    worker.on('error', (error) => {
      for (const one of settle) one.reject(error);
    });
    give();
  }
  return results;
}
