/**
 * Work in steps, so that many requests can advance together. It yields after a step, and a promise where the next step must
 * wait for data.
 */
export type Steps<T> = Generator<Promise<unknown> | undefined, T, void>;

export async function completeSteps<T>(steps: Steps<T>): Promise<T> {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    if (value !== undefined) await value;
  }
}

/** The value of a promise as a step. */
export function* waitFor<T>(promise: Promise<T>): Steps<T> {
  let outcome: (() => T) | undefined;
  yield promise.then(
    (value) => {
      outcome = () => value;
    },
    (error: unknown) => {
      outcome = () => {
        throw error;
      };
    },
  );
  if (outcome === undefined) throw new Error('the step continues before its promise is settled');
  return outcome();
}
