import type { Environment } from '../expression/scope.ts';
import type { BudgetLimits } from '../json/budget.ts';
import type { PolicySnapshot } from '../policy/registry/registry.ts';
import { type DataSource, emptyDataSource } from './context/data-source.ts';
import { Evaluation } from './evaluation.ts';
import type { Result } from './outcome.ts';
import type { Request } from './request.ts';
import type { RuleGuard } from './rule-guard.ts';
import { completeSteps, type Steps } from './steps.ts';

export interface MutateOptions {
  readonly dataSource?: DataSource | undefined;
  readonly environment?: Environment | undefined;
  /** Also report rules that did not match, with the deciding clause. */
  readonly explain?: boolean | undefined;
  /** Limit for the total size of a request's context entries, in bytes. */
  readonly maxContextSize?: number | undefined;
  /** A clock in milliseconds. If given, the result contains the duration of each rule. */
  readonly clock?: (() => number) | undefined;
  /** What each policy may spend. The default suits files and tests; a server needs lower limits. */
  readonly limits?: BudgetLimits | undefined;
  /** Called around the evaluation of rules. */
  readonly guard?: RuleGuard | undefined;
}

/** Pure layers have no clock and no source of randomness. */
const fixedEnvironment: Environment = { now: () => new Date(0), random: () => 0 };

/**
 * Applies every matching policy of the snapshot to the request, in order.
 *
 * @example
 * const { object, patch, outcomes } = await mutate(request, snapshot, { dataSource });
 */
export async function mutate(
  request: Request,
  snapshot: PolicySnapshot,
  options: MutateOptions = {},
): Promise<Result> {
  return completeSteps(mutateInSteps(request, snapshot, options));
}

/** Like `mutate`, in steps. */
export function* mutateInSteps(
  request: Request,
  snapshot: PolicySnapshot,
  options: MutateOptions,
): Steps<Result> {
  const evaluation = begin(request, snapshot, options);
  while (!evaluation.isDone) {
    const pause = evaluation.runPolicy();
    if (pause !== undefined) yield pause.ready;
  }
  return evaluation.result();
}

/** Like `mutate`, for synchronous data sources. Throws Suspend when a read is asynchronous. */
export function mutateSync(request: Request, snapshot: PolicySnapshot, options: MutateOptions = {}): Result {
  const evaluation = begin(request, snapshot, options);
  while (!evaluation.isDone) {
    const pause = evaluation.runPolicy();
    if (pause !== undefined) throw pause;
  }
  return evaluation.result();
}

function begin(request: Request, snapshot: PolicySnapshot, options: MutateOptions): Evaluation {
  return new Evaluation(request, snapshot, {
    dataSource: options.dataSource ?? emptyDataSource,
    environment: options.environment ?? fixedEnvironment,
    explain: options.explain ?? false,
    maxContextSize: options.maxContextSize,
    clock: options.clock,
    limits: options.limits,
    guard: options.guard,
  });
}
