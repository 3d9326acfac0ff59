import type { Steps } from '../../engine/steps.ts';

export interface Turns {
  /** Starts in the next turn of the event loop, together with all others that wait for it. The steps must not throw. */
  add(steps: Steps<void>): void;
  /** Resolves in a later turn; only one per turn. */
  alone(): Promise<void>;
}

/**
 * Reviews that arrive together are answered together: each advances by one step before any of them takes the next one. Code
 * that runs sixteen times in a row stays in the caches of the processor: under load this saves a third of the time. Large
 * reviews are answered one per turn, so that small ones never wait for more than one of them.
 */
export function createTurns(): Turns {
  let waiting: Steps<void>[] = [];
  const alone: (() => void)[] = [];
  let isScheduled = false;

  function schedule(): void {
    if (!isScheduled) setImmediate(takeTurn);
    isScheduled = true;
  }

  function add(steps: Steps<void>): void {
    waiting.push(steps);
    schedule();
  }

  function takeTurn(): void {
    isScheduled = false;
    let running = waiting;
    waiting = [];
    while (running.length > 0) running = running.filter(advance);
    alone.shift()?.();
    if (alone.length > 0) schedule();
  }

  /** Takes one step. Returns whether the next one can follow in this turn. */
  function advance(steps: Steps<void>): boolean {
    const { done, value } = steps.next();
    if (done === true) return false;
    if (value === undefined) return true;
    const resume = () => add(steps);
    value.then(resume, resume);
    return false;
  }

  return {
    add,
    alone: () =>
      new Promise((resolve) => {
        alone.push(resolve);
        schedule();
      }),
  };
}
