import { expect, test } from 'vitest';
import { showProgress } from './progress.ts';

test('progress shows nothing at first, then count, rate, percentage and remaining time, and clears its line', () => {
  let time = 0;
  const shown: string[] = [];
  const output = { isTTY: true, write: (text: string | Uint8Array) => void shown.push(String(text)) };
  const progress = showProgress(output, { totalBytes: 1_000, now: () => time });
  progress.read(250);
  for (let index = 0; index < 1_200; index++) {
    time++;
    progress.step();
  }
  expect(shown[0]).toBe('\r\u001b[K500 objects, 1,000/s, 25%, 2 s left');
  expect(shown.length).toBe(8);
  progress.clear();
  expect(shown.at(-1)).toBe('\r\u001b[K');
});
