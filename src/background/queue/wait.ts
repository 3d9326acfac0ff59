import type { Clock } from '../clock.ts';
import type { RunResult } from './controller.ts';
import type { UpdateRequest } from './update-request.ts';

export interface Waits {
  /** Look again, for so long in all; then the request ends with the message. */
  wait(request: UpdateRequest, message: string, longestMs: number): RunResult;
  /** It has come. */
  over(request: UpdateRequest): void;
}

const shortestLookMs = 100;
const longestLookMs = 2_000;

/** Remembers since when requests wait for what should come any moment. */
export function createWaits(clock: Clock): Waits {
  const waiting = new Map<string, { readonly requestToken: string; readonly since: number }>();
  return {
    wait({ name, requestToken }, message, longestMs) {
      const known = waiting.get(name);
      const since = known?.requestToken === requestToken ? known.since : clock.now();
      const waited = clock.now() - since;
      if (waited >= longestMs) {
        waiting.delete(name);
        return { state: 'Skip', message };
      }
      waiting.set(name, { requestToken, since });
      return { state: 'wait', ms: Math.min(longestLookMs, Math.max(shortestLookMs, waited)) };
    },
    over: ({ name }) => void waiting.delete(name),
  };
}
