import { describe, expect, it } from 'vitest';
import { createWorkClock } from './work-clock.ts';

function createTestClock() {
  let now = 0;
  let used = 0;
  const clock = createWorkClock({ now: () => now, processorTime: () => used });
  /** The milliseconds that the clock counts while so much time passes. */
  const pass = (milliseconds: number, processorTime: number) => {
    const before = clock();
    now += milliseconds;
    used += processorTime;
    return clock() - before;
  };
  return { pass };
}

describe('the work clock', () => {
  it.each([
    ['a process that works all the time', 100, 100, 100],
    ['one with several busy threads', 100, 180, 100],
    ['one that gets half of a core', 100, 50, 100],
    ['one that gets a tenth of a core', 100, 10, 20],
    ['a pause', 3_000, 1, 5],
    ['a short time', 4, 0, 4],
  ])('counts for %s', (_name, milliseconds, processorTime, expected) => {
    const { pass } = createTestClock();
    expect(pass(milliseconds, processorTime)).toBe(expected);
  });

  it('counts short times together', () => {
    const { pass } = createTestClock();
    let counted = 0;
    for (let time = 0; time < 1_000; time += 1) counted += pass(1, 0.9);
    expect(counted).toBe(1_000);
  });

  it('never goes back', () => {
    const { pass } = createTestClock();
    for (let time = 0; time < 1_000; time += 3) expect(pass(3, 0)).toBeGreaterThanOrEqual(0);
  });
});
