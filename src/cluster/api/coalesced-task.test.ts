import { describe, expect, it } from 'vitest';
import { createCoalescedTask } from './coalesced-task.ts';

describe('a coalesced task', () => {
  it('runs once for many calls', async () => {
    let runs = 0;
    const task = createCoalescedTask(
      async () => {
        runs += 1;
      },
      { delayMs: 1 },
    );
    task.trigger();
    task.trigger();
    await task.idle();
    expect(runs).toBe(1);
  });

  it('runs once more when it was called while it ran, and never twice at a time', async () => {
    let running = 0;
    let most = 0;
    let runs = 0;
    const task = createCoalescedTask(
      async () => {
        most = Math.max(most, ++running);
        if (++runs === 1) task.trigger();
        await new Promise((resolve) => setTimeout(resolve, 5));
        running -= 1;
      },
      { delayMs: 1 },
    );
    task.trigger();
    await task.idle();
    expect([runs, most]).toEqual([2, 1]);
  });

  it('is repeated until it succeeds', async () => {
    let runs = 0;
    const errors: unknown[] = [];
    const task = createCoalescedTask(
      async () => {
        if (++runs < 3) throw new Error(`failed ${runs}`);
      },
      { delayMs: 1, backOff: { firstMs: 1, lastMs: 2 }, onError: (error) => errors.push(error) },
    );
    task.trigger();
    await task.idle();
    expect([runs, errors.length]).toEqual([3, 2]);
  });

  it('does not run after it was stopped', async () => {
    let runs = 0;
    const task = createCoalescedTask(
      async () => {
        runs += 1;
      },
      { delayMs: 1 },
    );
    task.trigger();
    await task.stop();
    task.trigger();
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(runs).toBe(0);
  });
});
