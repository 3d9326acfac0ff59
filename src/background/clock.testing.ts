import type { Clock } from './clock.ts';

export interface ManualClock extends Clock {
  /** Advances the clock and runs the timers that expire, in order. */
  pass(ms: number): Promise<void>;
  /** Runs pending promises without advancing the clock. */
  settle(): Promise<void>;
}

interface Alarm {
  readonly at: number;
  readonly act: () => void;
}

/** A clock that advances only when a test says so. */
export function manualClock(start = Date.parse('2026-03-04T05:06:07Z')): ManualClock {
  let now = start;
  const alarms = new Set<Alarm>();
  const settle = async () => {
    // Enough turns for the longest promise chain in these tests.
    for (let turn = 0; turn < 200; turn++) await Promise.resolve();
  };
  return {
    now: () => now,
    after(ms, act) {
      const alarm = { at: now + Math.max(ms, 0), act };
      alarms.add(alarm);
      return () => alarms.delete(alarm);
    },
    settle,
    async pass(ms) {
      const end = now + ms;
      await settle();
      for (;;) {
        const [next] = [...alarms].filter(({ at }) => at <= end).sort((left, right) => left.at - right.at);
        if (next === undefined) break;
        alarms.delete(next);
        now = Math.max(now, next.at);
        next.act();
        await settle();
      }
      now = end;
    },
  };
}
