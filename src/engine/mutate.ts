import { type Environment, Suspend } from '../expression/scope.ts';
import type { PolicySnapshot } from '../policy/registry.ts';
import { type DataSource, emptyDataSource } from './context/data-source.ts';
import { Evaluation } from './evaluation.ts';
import type { Result } from './outcome.ts';
import type { Request } from './request.ts';

export interface MutateOptions {
  readonly dataSource?: DataSource | undefined;
  readonly environment?: Environment | undefined;
  /** Also report rules that did not match, with the clause that decided. */
  readonly explain?: boolean | undefined;
  /** What the context entries of a request may hold together, in bytes. */
  readonly maxContextSize?: number | undefined;
  /** Milliseconds since some moment: with it, the result says how long each rule took. */
  readonly clock?: (() => number) | undefined;
}

/** Pure layers have no clock and no dice of their own. */
const stillEnvironment: Environment = { now: () => new Date(0), random: () => 0 };

/**
 * Applies every policy of the snapshot that fits the request, one after another.
 *
 * @example
 * const { object, patch, outcomes } = await mutate(request, snapshot, { dataSource });
 */
export async function mutate(
  request: Request,
  snapshot: PolicySnapshot,
  options: MutateOptions = {},
): Promise<Result> {
  const evaluation = begin(request, snapshot, options);
  for (;;) {
    const pause = evaluation.run();
    if (pause === undefined) return evaluation.result();
    await pause.ready;
  }
}

/** As `mutate`, for data sources that answer at once. Throws Suspend when one does not. */
export function mutateSync(request: Request, snapshot: PolicySnapshot, options: MutateOptions = {}): Result {
  const evaluation = begin(request, snapshot, options);
  const pause = evaluation.run();
  if (pause instanceof Suspend) throw pause;
  return evaluation.result();
}

function begin(request: Request, snapshot: PolicySnapshot, options: MutateOptions): Evaluation {
  return new Evaluation(request, snapshot, {
    dataSource: options.dataSource ?? emptyDataSource,
    environment: options.environment ?? stillEnvironment,
    explain: options.explain ?? false,
    maxContextSize: options.maxContextSize,
    clock: options.clock,
  });
}
