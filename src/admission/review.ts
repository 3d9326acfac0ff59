import { type MutateOptions, mutate, mutateSync } from '../engine/mutate.ts';
import type { Json } from '../json/value.ts';
import type { PolicySnapshot } from '../policy/registry.ts';
import { type AdmissionSettings, requestOf } from './review-request.ts';
import { type AdmissionReview, reviewWith, verdictOf } from './review-response.ts';

export type ReviewOptions = MutateOptions & AdmissionSettings;

/** Answers a parsed AdmissionReview. Throws MalformedReview when it is none. */
export async function review(
  body: Json,
  snapshot: PolicySnapshot,
  options: ReviewOptions = {},
): Promise<AdmissionReview> {
  const { uid, apiVersion, request } = requestOf(body, options);
  return reviewWith(apiVersion, verdictOf(uid, await mutate(request, snapshot, options)));
}

/** As `review`, for data sources that answer at once. */
export function reviewSync(
  body: Json,
  snapshot: PolicySnapshot,
  options: ReviewOptions = {},
): AdmissionReview {
  const { uid, apiVersion, request } = requestOf(body, options);
  return reviewWith(apiVersion, verdictOf(uid, mutateSync(request, snapshot, options)));
}
