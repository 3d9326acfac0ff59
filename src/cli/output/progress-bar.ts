import type { Output } from '../io.ts';

export interface ProgressBar {
  /** One more is done. */
  step(): void;
  /** Takes the line away. */
  clear(): void;
}

export const noBar: ProgressBar = { step: () => {}, clear: () => {} };

const width = 30;
const pauseMilliseconds = 100;

/** A bar for work of a known length, drawn at most ten times a second. */
export function showBar(output: Output, total: number, now: () => number): ProgressBar {
  let done = 0;
  let shownAt = Number.NEGATIVE_INFINITY;
  return {
    step() {
      done++;
      const time = now();
      if (time - shownAt < pauseMilliseconds && done < total) return;
      shownAt = time;
      const filled = total === 0 ? width : Math.round((width * done) / total);
      const bar = `${'#'.repeat(filled)}${'-'.repeat(width - filled)}`;
      void output.write(`\r\u001b[K[${bar}] ${done}/${total}`);
    },
    clear: () => void output.write('\r\u001b[K'),
  };
}
