import { timeToAnswer } from '../../admission/deadline.ts';
import { MalformedReview } from '../../admission/review-request.ts';
import type { Json } from '../../json/value.ts';
import { Refusal } from '../http-error.ts';

/** What all ways to answer a review have in common: how it is read, and what is refused. */
export const reviewContentType = 'application/json; charset=utf-8';

export function reviewBody(text: string): Json {
  if (text === '') throw new Refusal(400, 'the body is empty');
  try {
    return JSON.parse(text) as Json;
  } catch {
    // What the parser says quotes the body. Kyverno answers with this code, too.
    throw new Refusal(417, 'the body is not JSON');
  }
}

export function millisecondsFor(timeout: string | undefined): number {
  const milliseconds = timeToAnswer(timeout);
  if (milliseconds === undefined) throw new Refusal(400, 'the timeout is no duration, such as 10s');
  return milliseconds;
}

export function asRefusal(error: unknown): Error {
  if (error instanceof MalformedReview) return new Refusal(400, error.message);
  return error instanceof Error ? error : new Error('not an error', { cause: error });
}
