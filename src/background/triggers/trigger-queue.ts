import { Buffer } from 'node:buffer';
import { stringifyJson } from '../../json/json-text.ts';
import type { Clock } from '../clock.ts';
import type { RequestInbox } from '../queue/request-ledger.ts';
import { type NewUpdateRequest, updateRequestName } from '../queue/update-request.ts';

export interface TriggerQueueOptions {
  readonly inbox: RequestInbox;
  readonly clock: Clock;
  /** The maximum number of UpdateRequests; called each time. */
  threshold(): number;
  /** Limits for triggers that wait in memory. */
  readonly capacity?: number | undefined;
  readonly capacityBytes?: number | undefined;
  /** Reports a lost trigger. */
  onDrop(request: NewUpdateRequest, reason: string): void;
}

/** Whether a trigger was written, waits in memory or was lost. */
export type Submission =
  | { readonly outcome: 'written' }
  | { readonly outcome: 'waiting' | 'dropped'; readonly reason: string };

export interface TriggerQueue {
  /** Never rejects, and resolves within the timeout. */
  submit(request: NewUpdateRequest, timeoutMs: number): Promise<Submission>;
  /** To be called when the inbox has seen that an UpdateRequest was created, changed or deleted. */
  seen(name: string): void;
  waiting(): number;
  /** Writes waiting triggers for at most this time. */
  stop(timeoutMs?: number): Promise<void>;
}

interface Waiting {
  readonly request: NewUpdateRequest;
  readonly bytes: number;
  readonly failures: number;
  readonly notBefore: number;
}

const written: Submission = { outcome: 'written' };
const concurrentWriters = 8;
const maxFailures = 12;
const firstPauseMs = 250;
const maxPauseMs = 30_000;
const pollMs = 500;
/** A cache that lists anew does not see what was created and deleted meanwhile. */
const longestUnseenMs = 10_000;
const full = 'too many triggers are waiting';

/**
 * Writes triggers as UpdateRequests. Above the threshold, or if a write fails, triggers wait in memory up to a limit. A later
 * trigger for the same UpdateRequest replaces the earlier one.
 */
export function createTriggerQueue(options: TriggerQueueOptions): TriggerQueue {
  const { inbox, clock, threshold, capacity = 10_000, capacityBytes = 64 * 1024 * 1024, onDrop } = options;
  const waiting = new Map<string, Waiting>();
  /** How many writes of an UpdateRequest are under way. With none, it is written, but not yet seen by the inbox. */
  const inProgress = new Map<string, number>();
  /** Those that the inbox has seen since their first write began. */
  const seen = new Set<string>();
  let waitingBytes = 0;
  let cancelPoll: (() => void) | undefined;
  let stopped = false;

  const room = () =>
    threshold() - inbox.count() - [...inProgress.keys()].filter((name) => !inbox.has(name)).length;

  function wait(request: NewUpdateRequest, reason: string, failures = 0): Submission {
    const name = updateRequestName(request);
    const before = waiting.get(name);
    const bytes = Buffer.byteLength(stringifyJson(request.admission ?? {}));
    const newBytes = waitingBytes - (before?.bytes ?? 0) + bytes;
    if (before === undefined && (waiting.size >= capacity || newBytes > capacityBytes)) {
      onDrop(request, full);
      return { outcome: 'dropped', reason: full };
    }
    if (failures > maxFailures) {
      onDrop(request, reason);
      return { outcome: 'dropped', reason };
    }
    const pauseMs = failures === 0 ? 0 : Math.min(maxPauseMs, firstPauseMs * 2 ** (failures - 1));
    waitingBytes = newBytes;
    waiting.set(name, { request, bytes, failures, notBefore: clock.now() + pauseMs });
    schedule();
    return { outcome: 'waiting', reason };
  }

  async function write(request: NewUpdateRequest, failures: number, timeoutMs: number): Promise<Submission> {
    const name = updateRequestName(request);
    inProgress.set(name, (inProgress.get(name) ?? 0) + 1);
    try {
      await inbox.put(request, timeoutMs);
      return written;
    } catch (error) {
      // A later request with the same name replaces this one.
      const reason = error instanceof Error ? error.message : String(error);
      return waiting.has(name) ? { outcome: 'waiting', reason } : wait(request, reason, failures + 1);
    } finally {
      const left = (inProgress.get(name) ?? 1) - 1;
      if (left > 0) inProgress.set(name, left);
      // Until the cache sees the new object, it still counts here.
      else release(name);
    }
  }

  function release(name: string): void {
    if (inbox.has(name) || seen.has(name)) forget(name);
    else {
      inProgress.set(name, 0);
      clock.after(longestUnseenMs, () => {
        if (inProgress.get(name) === 0) forget(name);
        drain();
      });
    }
  }

  function forget(name: string): void {
    inProgress.delete(name);
    seen.delete(name);
  }

  function drain(): void {
    const now = clock.now();
    const busy = [...inProgress.values()].filter((count) => count > 0).length;
    let free = Math.min(concurrentWriters - busy, room());
    for (const [name, { request, bytes, failures, notBefore }] of waiting) {
      if (free <= 0) break;
      if (notBefore > now) continue;
      waiting.delete(name);
      waitingBytes -= bytes;
      free -= 1;
      void write(request, failures, 10_000).then(() => drain());
    }
    schedule();
  }

  function schedule(): void {
    if (cancelPoll !== undefined || waiting.size === 0 || stopped) return;
    cancelPoll = clock.after(pollMs, () => {
      cancelPoll = undefined;
      drain();
    });
  }

  return {
    async submit(request, timeoutMs) {
      const name = updateRequestName(request);
      if (stopped) return { outcome: 'dropped', reason: 'the server is shutting down' };
      const isKnown = inbox.has(name) || inProgress.has(name);
      if (!waiting.has(name) && (isKnown || room() > 0)) return write(request, 0, timeoutMs);
      return wait(request, `the limit of ${threshold()} UpdateRequests is reached`);
    },
    seen(name) {
      const count = inProgress.get(name);
      if (count === 0) forget(name);
      else if (count !== undefined) seen.add(name);
      drain();
    },
    waiting: () => waiting.size,
    async stop(timeoutMs = 5_000) {
      const end = clock.now() + timeoutMs;
      while ((waiting.size > 0 || [...inProgress.values()].some((count) => count > 0)) && clock.now() < end) {
        drain();
        await new Promise<void>((resolve) => void clock.after(50, resolve));
      }
      stopped = true;
      cancelPoll?.();
      for (const { request } of waiting.values()) onDrop(request, 'the server is shutting down');
      waiting.clear();
    },
  };
}
