import type { DataSource } from '../engine/context/data-source.ts';
import { mutate } from '../engine/mutate.ts';
import type { Outcome } from '../engine/outcome.ts';
import type { RuleGuard } from '../engine/rule-guard.ts';
import type { Environment } from '../expression/scope.ts';
import { admissionLimits, type BudgetLimits } from '../json/budget.ts';
import type { PoliciesByMode } from './policy-mode.ts';
import type { RequestFilter } from './request-filter.ts';
import type { ReviewedRequest } from './review-request.ts';
import { type AdmissionResponse, allow, verdictOf } from './review-response.ts';

/** An answered review. Metrics, logs, events and `/debug/decisions` are views of it. */
export interface Decision extends ReviewedRequest {
  readonly response: AdmissionResponse;
  /** Outcomes of policies in enforce mode. */
  readonly outcomes: readonly Outcome[];
  /** Milliseconds per outcome; empty without a clock. */
  readonly durations: readonly number[];
  /** Outcomes of policies in audit mode, for the object as the enforced policies left it. */
  readonly audited: readonly Outcome[];
  readonly auditedDurations: readonly number[];
}

export interface DecisionOptions {
  readonly dataSource: DataSource;
  readonly environment: Environment;
  readonly filter: RequestFilter;
  readonly maxContextSize: number;
  readonly clock?: (() => number) | undefined;
  /** What each policy may spend on the request. */
  readonly limits?: BudgetLimits | undefined;
  /** Called around the evaluation of rules. */
  readonly guard?: RuleGuard | undefined;
}

const noOutcomes: readonly Outcome[] = [];
const noDurations: readonly number[] = [];

/** Runs the enforced policies, then the audited ones on the result. A DELETE has nothing to mutate. */
export async function decide(
  reviewed: ReviewedRequest,
  { enforced, audited }: PoliciesByMode,
  options: DecisionOptions,
): Promise<Decision> {
  const { uid, request, apiVersion, dryRun } = reviewed;
  if (request.operation === 'DELETE' || options.filter(request) !== undefined) {
    return {
      uid,
      request,
      apiVersion,
      dryRun,
      response: allow(uid),
      outcomes: noOutcomes,
      durations: noDurations,
      audited: noOutcomes,
      auditedDurations: noDurations,
    };
  }
  const bounded = { ...options, limits: options.limits ?? admissionLimits };
  const result = await mutate(request, enforced, bounded);
  const isDenied = result.failedPolicies.some(({ failurePolicy }) => failurePolicy === 'Fail');
  const wouldBe =
    audited === undefined || isDenied
      ? undefined
      : await mutate({ ...request, object: result.object }, audited, bounded);
  return {
    uid,
    request,
    apiVersion,
    dryRun,
    response: verdictOf(uid, result, wouldBe?.outcomes),
    outcomes: result.outcomes,
    durations: result.durations,
    audited: wouldBe?.outcomes ?? noOutcomes,
    auditedDurations: wouldBe?.durations ?? noDurations,
  };
}
