import type { DataAnswer, DataQuery, DataSource } from '../engine/context/data-source.ts';
import { parseDuration } from '../expression/duration.ts';

/** What the API server waits for when the URL does not say. */
export const defaultTimeoutMilliseconds = 10_000;
const longestTimeoutMilliseconds = 30_000;
/** Kept back of the caller's patience, for the way there and back. */
const largestReserveMilliseconds = 500;
const timerSlackMilliseconds = 5;

/** Milliseconds that `?timeout=10s` leaves us; undefined when the text is no duration. */
export function timeToAnswer(timeout: string | undefined): number | undefined {
  const stated = timeout === undefined ? defaultTimeoutMilliseconds : readTimeout(timeout);
  if (stated === undefined) return undefined;
  const patience = Math.min(stated, longestTimeoutMilliseconds);
  return patience - Math.min(patience / 10, largestReserveMilliseconds);
}

function readTimeout(text: string): number | undefined {
  const nanoseconds = parseDuration(text);
  if (nanoseconds === undefined || nanoseconds <= 0n) return undefined;
  return Number(nanoseconds / 1_000_000n);
}

/**
 * A view of the source for one request: data that has not come when the time is up counts as not found, so that the rules
 * that need it fail, all others still apply, and the answer is in time.
 */
export function withDeadline(source: DataSource, milliseconds: number): DataSource {
  const endsAt = performance.now() + milliseconds;
  return {
    read(query: DataQuery) {
      const left = Math.max(Math.floor(endsAt - performance.now()), 0);
      const answer = source.read(query, left);
      return answer instanceof Promise ? beforeDeadline(answer, left, query) : answer;
    },
  };
}

function beforeDeadline(
  answer: Promise<DataAnswer>,
  milliseconds: number,
  query: DataQuery,
): Promise<DataAnswer> {
  return new Promise((resolve, reject) => {
    const late = { found: false, error: `${query.type} did not answer before the deadline` } as const;
    const endsAt = performance.now() + milliseconds;
    const timer = setTimeout(() => resolve(late), milliseconds);
    // What gives up at that moment says so in words of its own.
    const settle = (value: DataAnswer) =>
      resolve(value.found || performance.now() < endsAt - timerSlackMilliseconds ? value : late);
    answer.then(settle, reject).finally(() => clearTimeout(timer));
  });
}
