import type { DataAnswer, DataQuery, DataSource } from '../engine/context/data-source.ts';
import { parseDuration } from '../expression/duration.ts';

/** The timeout of API servers when the URL has none. */
export const defaultTimeoutMilliseconds = 10_000;
const timeoutLimitMilliseconds = 30_000;
/** Reserved for the network. */
const reserveLimitMilliseconds = 500;
const timerSlackMilliseconds = 5;

/** The milliseconds for the answer, given `?timeout=10s`; undefined for an invalid duration. */
export function timeToAnswer(timeout: string | undefined): number | undefined {
  const stated = timeout === undefined ? defaultTimeoutMilliseconds : readTimeout(timeout);
  if (stated === undefined) return undefined;
  const limit = Math.min(stated, timeoutLimitMilliseconds);
  return limit - Math.min(limit / 10, reserveLimitMilliseconds);
}

function readTimeout(text: string): number | undefined {
  const nanoseconds = parseDuration(text);
  if (nanoseconds === undefined || nanoseconds <= 0n) return undefined;
  return Number(nanoseconds / 1_000_000n);
}

/**
 * A data source for one request. Data that does not arrive before the deadline counts as not found: the rules that need it
 * fail, all others apply, and the answer is in time.
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
    const late = {
      found: false,
      error: `${query.type} did not answer before the deadline`,
      reason: 'no answer before the deadline',
    } as const;
    const endsAt = performance.now() + milliseconds;
    const timer = setTimeout(() => resolve(late), milliseconds);
    // A source that gives up at the deadline reports an error of its own.
    const settle = (value: DataAnswer) =>
      resolve(value.found || performance.now() < endsAt - timerSlackMilliseconds ? value : late);
    answer.then(settle, reject).finally(() => clearTimeout(timer));
  });
}
