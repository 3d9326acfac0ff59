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
    if (error instanceof BudgetError) {
      const rulePath = error.location ?? (field === undefined ? base : [...base, field]);
      throw new StageError({ code: error.code, stage, rulePath, detail: shorten(error.message) }, error);
    }
    if (!(error instanceof EvaluationError)) throw error;
    const rulePath = error.location ?? (field === undefined ? base : [...base, field]);
    const { code, reason } = error;
    const failure: Failure = {
      code,
      stage,
      rulePath,
      detail: shorten(error.message),
      ...(reason === undefined ? {} : { reason }),
    };
    throw new StageError(
      error instanceof PatchError && error.path.length > 0 ? { ...failure, objectPath: error.path } : failure,
      error,
    );
  }
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
