import type { Output } from '../io.ts';

/** A line that shows the progress of long work. */
export interface Progress {
  /** One more object is done. */
  step(): void;
  /** More of the input was read. */
  read(bytes: number): void;
  /** Clears the line. */
  clear(): void;
}

export interface ProgressOptions {
  /** Size of the whole input; undefined when unknown. */
  readonly totalBytes: number | undefined;
  /** Milliseconds. */
  readonly now: () => number;
}

export const noProgress: Progress = { step: () => {}, read: () => {}, clear: () => {} };

/** Short work shows no progress. */
const silentMilliseconds = 500;
const pauseMilliseconds = 100;

export function showProgress(output: Output, { totalBytes, now }: ProgressOptions): Progress {
  const startedAt = now();
  let shownAt = startedAt + silentMilliseconds - pauseMilliseconds;
  let objects = 0;
  let bytes = 0;
  let isShown = false;
  const line = (elapsed: number) => {
    const rate = Math.round(objects / (elapsed / 1000));
    const counted = `${count(objects)} objects, ${count(rate)}/s`;
    if (totalBytes === undefined || bytes === 0) return counted;
    const left = Math.max(0, (elapsed * (totalBytes - bytes)) / bytes);
    return `${counted}, ${Math.min(100, Math.floor((100 * bytes) / totalBytes))}%, ${duration(left)} left`;
  };
  return {
    step: () => {
      objects++;
      const time = now();
      if (time - shownAt < pauseMilliseconds) return;
      shownAt = time;
      isShown = true;
      void output.write(`\r\u001b[K${line(time - startedAt)}`);
    },
    read: (more) => {
      bytes += more;
    },
    clear: () => {
      if (isShown) void output.write('\r\u001b[K');
      isShown = false;
    },
  };
}

function count(value: number): string {
  return String(value).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
}

function duration(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

export interface ProgressBar {
  /** One more is done. */
  step(): void;
  /** Clears the line. */
  clear(): void;
}

export const noBar: ProgressBar = { step: () => {}, clear: () => {} };

const width = 30;

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
