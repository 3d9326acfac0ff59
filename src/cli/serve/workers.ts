import cluster, { type Worker } from 'node:cluster';
import { AggregatorRegistry } from 'prom-client';
import type { Gather, RunningServer } from '../../server/server.ts';
import { stopSignal } from '../input/stop-signal.ts';
import type { ExitCode, Io } from '../io.ts';
import type { ServeLog } from './log.ts';
import type { ServeOptions } from './options.ts';

type Topic = 'metrics' | 'decisions';
/** A worker sends `gather` to the primary, which sends `report` to all workers. Their answers go back the same way. */
type Message =
  | { readonly type: 'gather'; readonly topic: Topic; readonly id: number }
  | { readonly type: 'report'; readonly topic: Topic; readonly id: string }
  | { readonly type: 'reported'; readonly id: string; readonly part: readonly object[] }
  | { readonly type: 'gathered'; readonly id: number; readonly parts: readonly (readonly object[])[] };

export const portVariable = 'KYMERA_SERVE_PORT';
const answerMilliseconds = 2_000;
const restartMilliseconds = 500;

/** Runs several processes on one port until a stop signal arrives. Restarts processes that end. */
export async function runWorkers(options: ServeOptions, io: Io, log: ServeLog): Promise<ExitCode> {
  let isServing = false;
  let isStopping = false;
  let exitCode: ExitCode = 0;
  const listening = new Set<number>();
  const failed = new AbortController();
  const pending = new Map<string, (part: readonly object[]) => void>();
  const start = () => {
    // All workers listen on the port that the primary chose.
    const worker = cluster.fork({ [portVariable]: String(options.port) });
    // Passing a connection to a worker that has just ended fails; `exit` handles that worker.
    worker.on('error', () => undefined);
    worker.on('listening', () => listening.add(worker.id));
    worker.on('message', (message: Message) => {
      if (message.type === 'reported') pending.get(message.id)?.(message.part);
      if (message.type === 'gather') void gatherFor(worker, message, pending);
    });
    return worker;
  };
  cluster.on('exit', (worker, code, signal) => {
    listening.delete(worker.id);
    if (!isServing || isStopping) return;
    if (code === 2 && listening.size === 0) {
      log.error({ worker: worker.id }, 'all workers failed');
      exitCode = 2;
      failed.abort();
      return;
    }
    log.error({ worker: worker.id, code, signal }, 'a worker ended; starting another');
    setTimeout(start, restartMilliseconds).unref();
  });
  const signal = AbortSignal.any([failed.signal, ...(io.signal === undefined ? [] : [io.signal])]);
  const isOver = stopSignal({ ...io, signal });
  // If the first worker cannot start, none can. It has printed the reason.
  const failure = await Promise.race([served(start()), isOver]);
  if (failure !== undefined) {
    failed.abort();
    return failure;
  }
  isServing = true;
  for (let count = 1; count < options.workers; count += 1) start();
  await isOver;
  isStopping = true;
  await Promise.all(Object.values(cluster.workers ?? {}).map(stopWorker));
  return exitCode;
}

/** Resolves when a worker listens, or with its exit code if it ends first. */
function served(worker: Worker): Promise<ExitCode | undefined> {
  return new Promise((resolve) => {
    worker.once('listening', () => resolve(undefined));
    worker.once('exit', (code) => resolve(code === 2 ? 2 : 1));
  });
}

function stopWorker(worker: Worker | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (worker === undefined || worker.isDead()) return resolve();
    worker.once('exit', () => resolve());
    worker.process.kill('SIGTERM');
  });
}

async function gatherFor(
  requester: Worker,
  { topic, id }: Extract<Message, { type: 'gather' }>,
  pending: Map<string, (part: readonly object[]) => void>,
): Promise<void> {
  const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker?.isConnected() ?? false);
  const parts = await Promise.all(
    workers.map((worker) => {
      const key = `${requester.id} ${id} ${worker?.id}`;
      return new Promise<readonly object[]>((resolve) => {
        const settle = (part: readonly object[]) => {
          clearTimeout(timer);
          pending.delete(key);
          resolve(part);
        };
        const timer = setTimeout(() => settle([]), answerMilliseconds);
        pending.set(key, settle);
        send(worker, { type: 'report', topic, id: key });
      });
    }),
  );
  send(requester, { type: 'gathered', id, parts });
}

/** The worker's side: requests data from all workers through the primary. */
export function gatherFromWorkers(): { readonly gather: Gather; answerFor(server: RunningServer): void } {
  let nextId = 0;
  const waiting = new Map<number, (parts: readonly (readonly object[])[]) => void>();
  const request = (topic: Topic): Promise<readonly (readonly object[])[]> =>
    new Promise((resolve) => {
      const id = nextId++;
      waiting.set(id, resolve);
      send(process, { type: 'gather', topic, id });
    });
  return {
    gather: {
      async metrics() {
        const parts = await request('metrics');
        return AggregatorRegistry.aggregate(parts.map((part) => [...part])).metrics();
      },
      async decisions() {
        const parts = await request('decisions');
        return parts.flat().sort(byTime);
      },
    },
    answerFor(server) {
      process.on('message', (message: Message) => {
        if (message.type === 'gathered') {
          waiting.get(message.id)?.(message.parts);
          waiting.delete(message.id);
        } else if (message.type === 'report') void report(server, message);
      });
    },
  };
}

async function report(
  server: RunningServer,
  { topic, id }: Extract<Message, { type: 'report' }>,
): Promise<void> {
  const part = topic === 'metrics' ? await server.metricsAsJson() : server.decisions();
  send(process, { type: 'reported', id, part });
}

/** Sends to a process that may just have ended. Without a callback, the error would end this process as well. */
function send(to: Worker | NodeJS.Process | undefined, message: Message): void {
  (to as Worker | undefined)?.send?.(message, () => undefined);
}

function byTime(left: object, right: object): number {
  const time = (record: object) => ('time' in record ? String(record.time) : '');
  return time(left) < time(right) ? -1 : 1;
}
