import { EvaluationError } from '../expression/scope.ts';
import type { Path } from '../json/value.ts';
import { PatchError } from '../patch/compiled-patch.ts';
import type { Failure } from './outcome.ts';

/** Records the stage of a rule in which evaluation failed. */
export class StageError extends Error {
  override readonly name = 'StageError';
  readonly failure: Failure;
  constructor(failure: Failure, cause: EvaluationError) {
    super(failure.detail, { cause });
    this.failure = failure;
  }
}

/** Runs one stage. Errors are annotated with the stage and the path in the rule, `field` of `base`. */
export function at<T>(stage: Failure['stage'], base: Path, run: () => T, field?: string): T {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof EvaluationError)) throw error;
    const rulePath = error.location ?? (field === undefined ? base : [...base, field]);
    const failure: Failure = { code: error.code, stage, rulePath, detail: error.message };
    throw new StageError(
      error instanceof PatchError && error.path.length > 0 ? { ...failure, objectPath: error.path } : failure,
      error,
    );
  }
}
