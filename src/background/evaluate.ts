import { Suspend } from '../expression/scope.ts';
import { Budget, type BudgetLimits, generousLimits, withBudget } from '../json/budget.ts';

/** How much one evaluation may cost, and how it shares the thread. */
export interface EvaluationOptions {
  readonly limits: BudgetLimits;
  /** In milliseconds. */
  readonly clock?: (() => number) | undefined;
  /** Waits for its turn, so that timers run between long evaluations. */
  readonly turn?: Turn | undefined;
}

/** More than a review may cost, because nobody waits; far less than the renew deadline of the leader's Lease. */
export const backgroundLimits: BudgetLimits = { steps: 20_000_000, bytes: 1 << 27, milliseconds: 1_000 };

/** Evaluates until all data is fetched, within one budget. Throws BudgetError. */
export type Evaluate = <T>(run: () => T) => Promise<T>;

/** For one rule and one object: everything that it evaluates shares a budget. */
export function createEvaluate(options: EvaluationOptions | undefined): Evaluate {
  const { limits, clock, turn } = options ?? { limits: generousLimits };
  const budget = new Budget(limits, clock);
  return async (run) => {
    for (;;) {
      for (let wait = turn?.wait(); wait !== undefined; wait = turn?.wait()) await wait;
      const startedAt = clock?.() ?? 0;
      try {
        return withBudget(budget, run);
      } catch (error) {
        // Evaluation is pure, so it is repeated when the data has arrived.
        if (!(error instanceof Suspend)) throw error;
        await error.ready;
      } finally {
        turn?.took((clock?.() ?? 0) - startedAt);
      }
    }
  };
}

export interface Turn {
  /** Undefined if an evaluation may start now. */
  wait(): Promise<void> | undefined;
  took(milliseconds: number): void;
}

/** Work this short needs no pause of its own. */
const shortMs = 5;

/** After a long evaluation all others wait until the event loop has turned: heartbeats and renewals are never late. */
export function createTurn(pause: () => Promise<void>): Turn {
  let next: Promise<void> | undefined;
  let spent = 0;
  return {
    wait: () => next,
    took(milliseconds) {
      spent += milliseconds;
      if (spent < shortMs) return;
      spent = 0;
      const current = pause().then(() => {
        if (next === current) next = undefined;
      });
      next = current;
    },
  };
}
