import { createCoalescedTask, type TaskOptions } from './coalesced-task.ts';
import type { Discovery } from './discovery.ts';

export interface KindRefresher {
  /** The definition of a kind changed. */
  soon(): void;
  stop(): Promise<void>;
}

const regularlyMs = 5 * 60_000;
/** A new kind is served a moment after its definition was accepted. */
const afterChangeMs = [0, 2_000, 6_000];

/** Keeps what is known of the kinds in a cluster up to date. */
export function startKindRefresher(
  discovery: Discovery,
  options: Pick<TaskOptions, 'onError' | 'onEnd'>,
): KindRefresher {
  const task = createCoalescedTask(() => discovery.refresh(), { delayMs: 300, ...options });
  const timers = new Set<NodeJS.Timeout>();
  const regularly = setInterval(() => task.trigger(), regularlyMs);
  return {
    soon() {
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
      for (const ms of afterChangeMs) timers.add(setTimeout(() => task.trigger(), ms));
    },
    async stop() {
      clearInterval(regularly);
      for (const timer of timers) clearTimeout(timer);
      await task.stop();
    },
  };
}
