import { EvaluationError } from '../expression/scope.ts';
import { BudgetError } from '../json/budget.ts';
import type { Path } from '../json/value.ts';
import { PatchError } from '../patch/compiled-patch.ts';
import type { Failure } from './outcome.ts';

/** Records the stage of a rule in which evaluation failed. */
export class StageError extends Error {
  override readonly name = 'StageError';
  readonly failure: Failure;
  constructor(failure: Failure, cause: unknown) {
    super(failure.detail, { cause });
    this.failure = failure;
  }
}

/** Runs one stage. Errors are annotated with the stage and the path in the rule, `field` of `base`. */
export function at<T>(stage: Failure['stage'], base: Path, run: () => T, field?: string): T {
  try {
    return run();
  } catch (error) {
    throw stageError(error, stage, field === undefined ? base : [...base, field]);
  }
}

/** The error of a stage, for what policy content can cause. Any other error is returned as it is. */
export function stageError(error: unknown, stage: Failure['stage'], path: Path): unknown {
  if (error instanceof BudgetError) {
    const { code, location = path, message } = error;
    return new StageError({ code, stage, rulePath: location, detail: shorten(message) }, error);
  }
  if (!(error instanceof EvaluationError)) return error;
  const { code, location = path, message, reason } = error;
  const failure: Failure = {
    code,
    stage,
    rulePath: location,
    detail: shorten(message),
    ...(reason === undefined ? {} : { reason }),
  };
  return new StageError(
    error instanceof PatchError && error.path.length > 0 ? { ...failure, objectPath: error.path } : failure,
    error,
  );
}

/** The failure of a rule whose evaluation failed outside of a stage, or for a reason that is not its own. */
export function failureOf(error: unknown, stage: Failure['stage'], rulePath: Path): Failure {
  if (error instanceof StageError) return error.failure;
  if (error instanceof BudgetError) {
    const { code, location = rulePath, message } = error;
    return { code, stage, rulePath: location, detail: shorten(message) };
  }
  const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return { code: 'KYM_RULE_CRASHED', stage, rulePath, detail: shorten(`unexpected error: ${reason}`) };
}

const longestDetail = 4_000;

/** A message may quote data. */
function shorten(text: string): string {
  return text.length <= longestDetail ? text : `${text.slice(0, longestDetail)}…`;
}
