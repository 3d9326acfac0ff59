import type { DataSource } from '../engine/context/data-source.ts';
import { mutateInSteps } from '../engine/mutate.ts';
import type { Outcome, Result } from '../engine/outcome.ts';
import type { RuleGuard } from '../engine/rule-guard.ts';
import type { Steps } from '../engine/steps.ts';
import type { Environment } from '../expression/scope.ts';
import type { BudgetLimits } from '../json/budget.ts';
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
  readonly limits: BudgetLimits;
  /** Called around the evaluation of rules. */
  readonly guard?: RuleGuard | undefined;
}

const noOutcomes: readonly Outcome[] = [];
const noDurations: readonly number[] = [];

/** Runs the enforced policies, then the audited ones on the result. */
export function* decide(
  reviewed: ReviewedRequest,
  { enforced, audited }: PoliciesByMode,
  options: DecisionOptions,
): Steps<Decision> {
  const { uid, request } = reviewed;
  if (options.filter(request) !== undefined) return decisionOf(reviewed, allow(uid), undefined, undefined);
  const result = yield* mutateInSteps(request, enforced, options);
  yield;
  const isDenied = result.failedPolicies.some(({ failurePolicy }) => failurePolicy === 'Fail');
  const wouldBe =
    audited === undefined || isDenied
      ? undefined
      : yield* mutateInSteps({ ...request, object: result.object }, audited, options);
  return decisionOf(reviewed, verdictOf(uid, result, wouldBe?.outcomes), result, wouldBe);
}

function decisionOf(
  { uid, request, apiVersion, dryRun }: ReviewedRequest,
  response: AdmissionResponse,
  enforced: Result | undefined,
  audited: Result | undefined,
): Decision {
  return {
    uid,
    request,
    apiVersion,
    dryRun,
    response,
    outcomes: enforced?.outcomes ?? noOutcomes,
    durations: enforced?.durations ?? noDurations,
    audited: audited?.outcomes ?? noOutcomes,
    auditedDurations: audited?.durations ?? noDurations,
  };
}
