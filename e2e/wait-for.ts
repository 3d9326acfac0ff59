import { setTimeout as sleep } from 'node:timers/promises';

export interface Patience {
  readonly what: string;
  readonly seconds?: number;
  readonly everyMs?: number;
}

/** Thrown by what is asked when there is no hope. */
export class GiveUp extends Error {}

/** Asks again until the answer is neither undefined nor false and nothing was thrown; ends with the last reason when time is up. */
export async function waitFor<T>(
  ask: () => Promise<T | undefined | false> | T | undefined | false,
  patience: Patience,
): Promise<T> {
  const { what, seconds = 20, everyMs = 100 } = patience;
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
      throw new Error(`waited ${seconds} s in vain for ${what}${reason}`, { cause: last });
    }
    await sleep(everyMs);
  }
}
