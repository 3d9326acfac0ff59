import { expect, it } from 'vitest';
import { createTurns } from './turns.ts';

/** Blocks the event loop, as an evaluation on cached data does. */
async function evaluate(milliseconds: number): Promise<void> {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}

async function longestPause(between: () => Promise<void>): Promise<number> {
  let last = performance.now();
  let longest = 0;
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 10);
  for (let count = 0; count < 40; count += 1) {
    await between();
    await evaluate(20);
  }
  await new Promise((resolve) => setTimeout(resolve, 20));
  clearInterval(timer);
  return longest;
}

it('timers run during a long loop, such as the renewal of a Lease', async () => {
  expect(await longestPause(async () => {})).toBeGreaterThan(700);
  expect(await longestPause(createTurns())).toBeLessThan(400);
});
