import type { JobName, JobReply, Jobs } from './protocol.ts';

/** The worker did not answer in time and was ended. */
export class StuckError extends Error {
  override readonly name = 'StuckError';
}

/** A newer job of the same name replaced this one before it started. */
export class ReplacedError extends Error {
  override readonly name = 'ReplacedError';
}

interface WorkerPort {
  postMessage(message: unknown): void;
  terminate(): void;
  onmessage: ((event: MessageEvent<JobReply>) => void) | null;
  onerror: ((event: ErrorEvent) => void) | null;
}

export interface EngineClient {
  run<Name extends JobName>(job: Name, input: Jobs[Name]['input']): Promise<Jobs[Name]['output']>;
}

interface PendingJob {
  readonly id: number;
  readonly job: JobName;
  readonly input: unknown;
  resolve(output: never): void;
  reject(error: Error): void;
}

/**
 * Runs one job at a time in a worker. Of several waiting jobs with the same name only the newest one runs. A worker that does not
 * answer within the time limit is ended, and the next job starts a new one.
 */
export function createEngineClient(createWorker: () => WorkerPort, milliseconds: number): EngineClient {
  let worker: WorkerPort | undefined;
  let isLoaded = false;
  let running: PendingJob | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let waiting: PendingJob[] = [];
  let lastId = 0;

  function start(): void {
    if (running !== undefined) return;
    running = waiting.shift();
    if (running === undefined) return;
    worker ??= open();
    const { id, job, input } = running;
    worker.postMessage({ id, job, input });
    // The time to load the worker does not count.
    if (isLoaded) startTimer();
  }

  function startTimer(): void {
    const error = new StuckError(`no answer after ${milliseconds / 1000} s`);
    timer = setTimeout(() => abandon(error), milliseconds);
  }

  function open(): WorkerPort {
    isLoaded = false;
    const opened = createWorker();
    opened.onmessage = ({ data }) => {
      if ('ready' in data) {
        isLoaded = true;
        if (running !== undefined) startTimer();
        return;
      }
      if (running?.id !== data.id) return;
      const job = running;
      finish();
      if ('error' in data) job.reject(new Error(data.error));
      else job.resolve(data.output as never);
      start();
    };
    opened.onerror = (event) => abandon(new Error(event.message || 'the worker failed'));
    return opened;
  }

  function finish(): void {
    clearTimeout(timer);
    running = undefined;
  }

  function abandon(error: Error): void {
    worker?.terminate();
    worker = undefined;
    const job = running;
    finish();
    job?.reject(error);
    start();
  }

  return {
    run: (job, input) =>
      new Promise((resolve, reject) => {
        const replaced = waiting.filter((other) => other.job === job);
        waiting = waiting.filter((other) => other.job !== job);
        for (const other of replaced) other.reject(new ReplacedError());
        waiting.push({ id: ++lastId, job, input, resolve, reject });
        start();
      }),
  };
}
