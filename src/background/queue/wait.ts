import type { Clock } from '../clock.ts';
import type { RunResult } from './controller.ts';
import type { UpdateRequest } from './update-request.ts';

export interface Waits {
  /** Runs the request again later. After `maxMs` in total it ends with the message. */
  wait(request: UpdateRequest, message: string, maxMs: number): RunResult;
  /** The wait is over. */
  end(request: UpdateRequest): void;
}

const minDelayMs = 100;
const maxDelayMs = 2_000;

/** Tracks how long requests have been waiting for a trigger or target to appear. */
export function createWaits(clock: Clock): Waits {
  const waiting = new Map<string, { readonly requestToken: string; readonly since: number }>();
  return {
    wait({ name, requestToken }, message, maxMs) {
      const known = waiting.get(name);
      const since = known?.requestToken === requestToken ? known.since : clock.now();
      const waited = clock.now() - since;
      if (waited >= maxMs) {
        waiting.delete(name);
        return { state: 'Skip', message };
      }
      waiting.set(name, { requestToken, since });
      return { state: 'wait', ms: Math.min(maxDelayMs, Math.max(minDelayMs, waited)) };
    },
    end: ({ name }) => void waiting.delete(name),
  };
}
