import { type MutateOptions, mutate, mutateSync } from '../engine/mutate.ts';
import type { Outcome, Result } from '../engine/outcome.ts';
import type { Json } from '../json/value.ts';
import type { PolicySnapshot } from '../policy/registry.ts';
import { encodePatch } from './patch-encoding.ts';
import { type AdmissionSettings, requestOf } from './review-request.ts';

export interface AdmissionReview {
  readonly apiVersion: string;
  readonly kind: 'AdmissionReview';
  readonly response: AdmissionResponse;
}

export interface AdmissionResponse {
  readonly uid: string;
  readonly allowed: boolean;
  readonly patch?: string;
  readonly patchType?: 'JSONPatch';
  readonly warnings?: readonly string[];
  readonly status?: { readonly status: 'Failure'; readonly message: string };
}

export type ReviewOptions = MutateOptions & AdmissionSettings;

/** Answers a parsed AdmissionReview. Throws MalformedReview when it is none. */
export async function review(
  body: Json,
  snapshot: PolicySnapshot,
  options: ReviewOptions = {},
): Promise<AdmissionReview> {
  const { uid, apiVersion, request } = requestOf(body, options);
  return answer(apiVersion, uid, await mutate(request, snapshot, options));
}

/** As `review`, for data sources that answer at once. */
export function reviewSync(
  body: Json,
  snapshot: PolicySnapshot,
  options: ReviewOptions = {},
): AdmissionReview {
  const { uid, apiVersion, request } = requestOf(body, options);
  return answer(apiVersion, uid, mutateSync(request, snapshot, options));
}

function answer(apiVersion: string, uid: string, result: Result): AdmissionReview {
  return { apiVersion, kind: 'AdmissionReview', response: responseOf(uid, result) };
}

/** A failed rule denies the request under Fail; under Ignore its policy is left out and a warning says so. */
function responseOf(uid: string, result: Result): AdmissionResponse {
  const denying = result.failedPolicies.filter((policy) => policy.failurePolicy === 'Fail');
  const warnings = result.outcomes.filter(warrantsWarning).map(warningOf);
  const shown = warnings.length === 0 ? {} : { warnings };
  if (denying.length > 0) {
    const failures = result.outcomes.filter(
      (outcome) => outcome.status === 'failed' && denying.includes(outcome.policy),
    );
    return { uid, allowed: false, status: { status: 'Failure', message: denialMessage(failures) }, ...shown };
  }
  if (result.patch.length === 0) return { uid, allowed: true, ...shown };
  return { uid, allowed: true, patchType: 'JSONPatch', patch: encodePatch(result.patch), ...shown };
}

function warrantsWarning(outcome: Outcome): boolean {
  if (outcome.status === 'failed') return true;
  return outcome.status === 'applied' && outcome.policy.emitWarning;
}

function warningOf(outcome: Outcome): string {
  return `policy ${outcome.policy.key}.${outcome.rule.name}: ${outcome.message}`;
}

function denialMessage(failures: readonly Outcome[]): string {
  const lines = failures.map(
    (failure) => `policy ${failure.policy.key}, rule ${failure.rule.name}: ${failure.message}`,
  );
  return `mutation failed: ${lines.join('; ')}`;
}
