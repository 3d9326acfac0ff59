import type { Clock } from '../clock.ts';

export interface WorkQueueOptions {
  /** How many items run at the same time. */
  readonly workers: number;
  readonly clock: Clock;
  /** Processes an item. Returns the delay before the next attempt, undefined when done. Never rejects. */
  run(key: string): Promise<number | undefined>;
}

export interface WorkQueue {
  /** Adds an item once. An item that is running runs again afterwards. */
  add(key: string, group: string, delayMs?: number): void;
  /** Removes a waiting item. */
  remove(key: string): void;
  waiting(): number;
  running(): number;
  /** Starts no more items. Resolves when none is running. */
  stop(): Promise<void>;
}

interface Item {
  readonly group: string;
  /** Cancels the delay. */
  readonly cancel?: (() => void) | undefined;
}

/**
 * A queue of keys. Groups take turns and none can use all workers, so a thousand items of one policy, or one that hangs, do
 * not delay other policies.
 */
export function createWorkQueue({ workers, clock, run }: WorkQueueOptions): WorkQueue {
  const maxPerGroup = Math.max(1, workers - 2);
  const known = new Map<string, Item>();
  const ready = new Map<string, string[]>();
  const running = new Map<string, { readonly group: string; again: boolean }>();
  const runningOf = new Map<string, number>();
  const idle: (() => void)[] = [];
  let stopped = false;

  function enqueue(key: string, group: string): void {
    known.set(key, { group });
    const list = ready.get(group);
    if (list === undefined) ready.set(group, [key]);
    else list.push(key);
    pump();
  }

  /** Takes the next key of the next group. */
  function take(): readonly [string, string] | undefined {
    for (const [group, keys] of ready) {
      if ((runningOf.get(group) ?? 0) >= maxPerGroup) continue;
      const key = keys.shift();
      // Move the group to the end.
      ready.delete(group);
      if (keys.length > 0) ready.set(group, keys);
      if (key !== undefined) return [key, group];
    }
    return undefined;
  }

  function pump(): void {
    while (!stopped && running.size < workers) {
      const next = take();
      if (next === undefined) return;
      const [key, group] = next;
      known.delete(key);
      running.set(key, { group, again: false });
      runningOf.set(group, (runningOf.get(group) ?? 0) + 1);
      void run(key).then((delayMs) => finish(key, delayMs));
    }
  }

  function finish(key: string, delayMs: number | undefined): void {
    const worked = running.get(key);
    running.delete(key);
    if (worked !== undefined) {
      const left = (runningOf.get(worked.group) ?? 1) - 1;
      if (left === 0) runningOf.delete(worked.group);
      else runningOf.set(worked.group, left);
      if (worked.again) add(key, worked.group);
      else if (delayMs !== undefined) add(key, worked.group, delayMs);
    }
    pump();
    if (running.size === 0) for (const resolve of idle.splice(0)) resolve();
  }

  function add(key: string, group: string, delayMs = 0): void {
    if (stopped) return;
    const worked = running.get(key);
    if (worked !== undefined) {
      worked.again = true;
      return;
    }
    const waits = known.get(key);
    if (waits !== undefined) {
      // A delayed item may be needed earlier.
      if (waits.cancel === undefined || delayMs > 0) return;
      waits.cancel();
    }
    if (delayMs <= 0) enqueue(key, group);
    else known.set(key, { group, cancel: clock.after(delayMs, () => enqueue(key, group)) });
  }

  return {
    add,
    remove(key) {
      const item = known.get(key);
      if (item === undefined) return;
      known.delete(key);
      item.cancel?.();
      const keys = ready.get(item.group)?.filter((each) => each !== key) ?? [];
      if (keys.length > 0) ready.set(item.group, keys);
      else ready.delete(item.group);
    },
    waiting: () => known.size,
    running: () => running.size,
    async stop() {
      stopped = true;
      for (const { cancel } of known.values()) cancel?.();
      known.clear();
      ready.clear();
      if (running.size > 0) await new Promise<void>((resolve) => idle.push(resolve));
    },
  };
}
