import { Suspend } from '../expression/scope.ts';

/** Evaluates until no data has to be fetched any more. Evaluation is pure: what was interrupted simply runs again. */
export async function untilReady<T>(evaluate: () => T): Promise<T> {
  for (;;) {
    try {
      return evaluate();
    } catch (error) {
      if (!(error instanceof Suspend)) throw error;
      await error.ready;
    }
  }
}
