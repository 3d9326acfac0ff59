import { Buffer } from 'node:buffer';
import type { Clock } from '../clock.ts';
import type { RequestInbox } from '../queue/request-ledger.ts';
import { type NewUpdateRequest, updateRequestName } from '../queue/update-request.ts';

export interface TriggerQueueOptions {
  readonly inbox: RequestInbox;
  readonly clock: Clock;
  /** So many UpdateRequests may exist; asked each time. */
  threshold(): number;
  /** So many triggers may wait in memory, and so many bytes of them. */
  readonly capacity?: number | undefined;
  readonly capacityBytes?: number | undefined;
  /** A trigger that is lost, and why. */
  onDrop(request: NewUpdateRequest, reason: string): void;
}

/** What became of a trigger: written, kept in memory until it can be, or lost. */
export type Submission =
  | { readonly outcome: 'written' }
  | { readonly outcome: 'waiting' | 'dropped'; readonly reason: string };

export interface TriggerQueue {
  /** Never rejects, and answers in time. */
  submit(request: NewUpdateRequest, timeoutMs: number): Promise<Submission>;
  /** There may be room again. */
  poke(): void;
  waiting(): number;
  /** Writes what waits, for at most so long. */
  stop(timeoutMs?: number): Promise<void>;
}

interface Waiting {
  readonly request: NewUpdateRequest;
  readonly bytes: number;
  readonly failures: number;
  readonly notBefore: number;
}

const written: Submission = { outcome: 'written' };
const writersAtATime = 8;
const mostFailures = 12;
const firstPauseMs = 250;
const longestPauseMs = 30_000;
const pollMs = 500;
const full = 'too many triggers wait already';

/**
 * Takes triggers in. Above the threshold they wait here, as long as there is room; so do those that could not be written. Of
 * triggers for one UpdateRequest the last counts.
 */
export function createTriggerQueue(options: TriggerQueueOptions): TriggerQueue {
  const { inbox, clock, threshold, capacity = 10_000, capacityBytes = 64 * 1024 * 1024, onDrop } = options;
  const waiting = new Map<string, Waiting>();
  /** Being written, and not yet among those that are counted. */
  const underWay = new Map<string, number>();
  let waitingBytes = 0;
  let cancelPoll: (() => void) | undefined;
  let stopped = false;

  const room = () =>
    threshold() - inbox.count() - [...underWay.keys()].filter((name) => !inbox.has(name)).length;

  function wait(request: NewUpdateRequest, reason: string, failures = 0): Submission {
    const name = updateRequestName(request);
    const before = waiting.get(name);
    const bytes = Buffer.byteLength(JSON.stringify(request.admission ?? {}));
    const newBytes = waitingBytes - (before?.bytes ?? 0) + bytes;
    if (before === undefined && (waiting.size >= capacity || newBytes > capacityBytes)) {
      onDrop(request, full);
      return { outcome: 'dropped', reason: full };
    }
    if (failures > mostFailures) {
      onDrop(request, reason);
      return { outcome: 'dropped', reason };
    }
    const pauseMs = failures === 0 ? 0 : Math.min(longestPauseMs, firstPauseMs * 2 ** (failures - 1));
    waitingBytes = newBytes;
    waiting.set(name, { request, bytes, failures, notBefore: clock.now() + pauseMs });
    schedule();
    return { outcome: 'waiting', reason };
  }

  async function write(request: NewUpdateRequest, failures: number, timeoutMs: number): Promise<Submission> {
    const name = updateRequestName(request);
    underWay.set(name, (underWay.get(name) ?? 0) + 1);
    try {
      await inbox.put(request, timeoutMs);
      return written;
    } catch (error) {
      // A later request of the same may wait by now: it counts.
      const reason = error instanceof Error ? error.message : String(error);
      return waiting.has(name) ? { outcome: 'waiting', reason } : wait(request, reason, failures + 1);
    } finally {
      const left = (underWay.get(name) ?? 1) - 1;
      if (left > 0) underWay.set(name, left);
      // What was written a moment ago is counted when it is seen.
      else release(name);
    }
  }

  function release(name: string): void {
    if (inbox.has(name)) underWay.delete(name);
    else {
      underWay.set(name, 0);
      clock.after(pollMs, () => {
        if (underWay.get(name) === 0) underWay.delete(name);
        drain();
      });
    }
  }

  function drain(): void {
    const now = clock.now();
    const busy = [...underWay.values()].filter((count) => count > 0).length;
    let free = Math.min(writersAtATime - busy, room());
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
      if (stopped) return { outcome: 'dropped', reason: 'the server stops' };
      const isKnown = inbox.has(name) || underWay.has(name);
      if (!waiting.has(name) && (isKnown || room() > 0)) return write(request, 0, timeoutMs);
      return wait(request, `there are ${threshold()} UpdateRequests already`);
    },
    poke: drain,
    waiting: () => waiting.size,
    async stop(timeoutMs = 5_000) {
      const end = clock.now() + timeoutMs;
      while ((waiting.size > 0 || [...underWay.values()].some((count) => count > 0)) && clock.now() < end) {
        drain();
        await new Promise<void>((resolve) => void clock.after(50, resolve));
      }
      stopped = true;
      cancelPoll?.();
      for (const { request } of waiting.values()) onDrop(request, 'the server stops');
      waiting.clear();
    },
  };
}
