import { setTimeout as sleep } from 'node:timers/promises';

/** Only what never happens takes so long, even on a busy machine. */
export const patienceSeconds = 300;
/** For `kubectl wait` and `kubectl delete`. */
export const patienceFlag = `--timeout=${patienceSeconds}s`;

export interface Patience {
  readonly what: string;
  /** For what takes longer by design. */
  readonly seconds?: number;
  readonly everyMs?: number;
}

/** Thrown to stop waiting. */
export class GiveUp extends Error {}

/** Polls until the result is neither undefined nor false and nothing is thrown. After the timeout it rejects with the last error. */
export async function waitFor<T>(
  ask: () => Promise<T | undefined | false> | T | undefined | false,
  patience: Patience,
): Promise<T> {
  const { what, seconds = patienceSeconds, everyMs = 100 } = patience;
  const deadline = Date.now() + seconds * 1000;
  let last: unknown;
  for (;;) {
    try {
      const answer = await ask();
      if (answer !== undefined && answer !== false) return answer;
      last = undefined;
    } catch (error) {
      if (error instanceof GiveUp) throw error;
      last = error;
    }
    if (Date.now() > deadline) {
      const reason = last instanceof Error ? `: ${last.message}` : '';
      throw new Error(`waited ${seconds} s for ${what}${reason}`, { cause: last });
    }
    await sleep(everyMs);
  }
}
