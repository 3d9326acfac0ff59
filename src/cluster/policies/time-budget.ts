/** The time of the event loop that the owners of policies may use for their changes. */
export interface TimeBudget {
  /** How long an owner has to wait until some time is left; 0 if it has. */
  waitMs(owner: string): number;
  /** Runs and charges the owner for the time. */
  spend<T>(owner: string, run: () => T): T;
}

export interface TimeBudgetOptions {
  readonly now: () => number;
  /** What an owner may use at once. */
  readonly burstMs: number;
  /** The share of all time that an owner regains. */
  readonly share: number;
  /** What a run costs at least: each change also makes new policy sets. */
  readonly leastMs: number;
}

export const systemTimeBudget: TimeBudgetOptions = {
  now: () => performance.now(),
  burstMs: 2_000,
  share: 0.05,
  leastMs: 5,
};

/** From this number on, owners with their whole time left are forgotten. */
const manyOwners = 1_000;

export function createTimeBudget({ now, burstMs, share, leastMs }: TimeBudgetOptions): TimeBudget {
  const spent = new Map<string, { readonly milliseconds: number; readonly at: number }>();

  function spentBy(owner: string): number {
    const last = spent.get(owner);
    return last === undefined ? 0 : Math.max(0, last.milliseconds - (now() - last.at) * share);
  }

  let mostOwners = manyOwners;
  function forgetOthers(): void {
    for (const owner of spent.keys()) if (spentBy(owner) === 0) spent.delete(owner);
    mostOwners = Math.max(manyOwners, 2 * spent.size);
  }

  return {
    // A millisecond more than needed: timers may end early.
    waitMs(owner) {
      const over = spentBy(owner) - burstMs;
      return over < 0 ? 0 : Math.ceil(over / share) + 1;
    },
    spend(owner, run) {
      const startedAt = now();
      try {
        return run();
      } finally {
        const milliseconds = spentBy(owner) + Math.max(leastMs, now() - startedAt);
        if (spent.size >= mostOwners) forgetOthers();
        spent.set(owner, { milliseconds, at: now() });
      }
    },
  };
}
