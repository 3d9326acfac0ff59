import { Buffer } from 'node:buffer';
import type { JsonObject } from '../../json/value.ts';
import { backOffMs } from '../api/back-off.ts';
import type { ApiClient } from '../api/client.ts';
import { ApiError } from '../api/cluster-error.ts';
import { resourceTypes } from '../api/resource-path.ts';
import type { EventNote, EventSubject } from './review-events.ts';

export interface EventSink {
  /** Queues events. Events that do not fit are dropped and counted. */
  add(notes: readonly EventNote[]): void;
  /** The number of events dropped so far, because the queue was full or the API server refused them. */
  dropped(): number;
  /** Writes the queued events, for at most this time. */
  stop(timeoutMs?: number): Promise<void>;
}

export interface EventSinkOptions {
  readonly client: ApiClient;
  readonly source: string;
  readonly host: string;
  readonly maximumQueued?: number | undefined;
  readonly now?: () => Date;
  readonly onError?: (error: unknown) => void;
}

const workers = 3;
const attempts = 3;
/** Limits of the API, in bytes of UTF-8. */
const longestNote = 1024;
const longestInstance = 128;

/** Writes events asynchronously: from a bounded queue, three at a time. */
export function createEventSink(options: EventSinkOptions): EventSink {
  const { client, maximumQueued = 1000, now = () => new Date(), onError } = options;
  const queue: JsonObject[] = [];
  const running = new Set<Promise<void>>();
  let dropped = 0;
  let stopped = false;
  let sequence = 0;

  async function write(event: JsonObject): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await client.create(resourceTypes.events, event);
        return;
      } catch (error) {
        // A namespace that is terminating, or does not exist in a dry run, accepts no events.
        const refused = error instanceof ApiError && error.status < 500 && error.status !== 429;
        if (attempt === attempts || refused || stopped) {
          dropped += 1;
          onError?.(error);
          return;
        }
        await new Promise((resolve) =>
          setTimeout(resolve, backOffMs(attempt, { firstMs: 200, lastMs: 2000 })),
        );
      }
    }
  }

  async function work(): Promise<void> {
    for (let event = queue.shift(); event !== undefined; event = queue.shift()) await write(event);
  }

  return {
    add(notes) {
      if (stopped) return;
      for (const note of notes) {
        if (queue.length >= maximumQueued) {
          dropped += 1;
          continue;
        }
        queue.push(eventOf(note, options, now(), sequence++));
      }
      while (running.size < workers && running.size < queue.length) {
        const worker: Promise<void> = work().finally(() => running.delete(worker));
        running.add(worker);
      }
    },
    dropped: () => dropped,
    async stop(timeoutMs = 2_000) {
      const timeout = new Promise<void>((resolve) => setTimeout(resolve, timeoutMs).unref());
      await Promise.race([Promise.all(running), timeout]);
      stopped = true;
      dropped += queue.length;
      queue.length = 0;
    },
  };
}

/** An events.k8s.io/v1 object. */
export function eventOf(
  { reason, type, action, note, regarding, related }: EventNote,
  { source, host }: Pick<EventSinkOptions, 'source' | 'host'>,
  time: Date,
  sequence: number,
): JsonObject {
  const suffix = (BigInt(time.getTime()) * 1_000_000n + BigInt(sequence % 1_000_000)).toString(16);
  const base = regarding.name
    .toLowerCase()
    .replace(/[^a-z0-9.-]/g, '-')
    .slice(0, 230)
    .replace(/[-.]+$/, '');
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name: `${base}.${suffix}`, namespace: regarding.namespace ?? 'default' },
    eventTime: time.toISOString().replace('Z', '000Z'),
    reportingController: source,
    reportingInstance: truncate(`${source}-${host}`, longestInstance, ''),
    action,
    reason,
    type,
    note: truncate(note, longestNote, '…'),
    regarding: reference(regarding),
    ...(related === undefined ? {} : { related: reference(related) }),
  };
}

/** Shortens a string to a number of bytes, without cutting a character. */
function truncate(text: string, bytes: number, ellipsis: string): string {
  const encoded = Buffer.from(text, 'utf8');
  if (encoded.length <= bytes) return text;
  let end = bytes - Buffer.byteLength(ellipsis);
  while (isContinuation(encoded[end])) end -= 1;
  return `${encoded.toString('utf8', 0, end)}${ellipsis}`;
}

/** Whether a byte continues a character of UTF-8. */
function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && byte >> 6 === 0b10;
}

function reference(subject: EventSubject): JsonObject {
  return { ...subject };
}
