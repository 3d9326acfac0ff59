import type { TimeBudget } from './time-budget.ts';

/** Changes of policies that may have to wait. */
export interface PacedChanges {
  /** Makes a change now, or when its owner has time left. It replaces an earlier one of the same policy that waits. */
  make(owner: string, policy: string, change: () => void): void;
  /** Makes a change at once, whatever its owner has used. */
  makeNow(policy: string, change: () => void): void;
  stop(): void;
}

/**
 * Compiling blocks the event loop, and a tenant may rewrite policies all the time. Until it is their turn, the earlier
 * policies stay in force.
 */
export function createPacedChanges(
  budget: TimeBudget,
  later: (run: () => void, milliseconds: number) => { cancel(): void } = systemTimer,
): PacedChanges {
  const waiting = new Map<string, Map<string, () => void>>();
  const timers = new Map<string, { cancel(): void }>();

  function wait(owner: string): void {
    timers.set(
      owner,
      later(() => next(owner), budget.waitMs(owner)),
    );
  }

  function next(owner: string): void {
    timers.delete(owner);
    const changes = waiting.get(owner);
    for (const [policy, change] of changes ?? []) {
      if (budget.waitMs(owner) > 0) {
        wait(owner);
        return;
      }
      changes?.delete(policy);
      budget.spend(owner, change);
    }
    waiting.delete(owner);
  }

  function discard(policy: string): void {
    for (const changes of waiting.values()) changes.delete(policy);
  }

  return {
    make(owner, policy, change) {
      if (!waiting.has(owner) && budget.waitMs(owner) === 0) {
        budget.spend(owner, change);
        return;
      }
      const changes = waiting.get(owner) ?? new Map<string, () => void>();
      waiting.set(owner, changes.set(policy, change));
      if (!timers.has(owner)) wait(owner);
    },
    makeNow(policy, change) {
      discard(policy);
      change();
    },
    stop() {
      for (const timer of timers.values()) timer.cancel();
      timers.clear();
      waiting.clear();
    },
  };
}

function systemTimer(run: () => void, milliseconds: number): { cancel(): void } {
  const timer = setTimeout(run, milliseconds);
  return { cancel: () => clearTimeout(timer) };
}
