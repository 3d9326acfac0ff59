import { beforeEach, describe, expect, it } from 'vitest';
import { createPacedChanges, type PacedChanges } from './paced-changes.ts';
import { createTimeBudget } from './time-budget.ts';

describe('changes of policies', () => {
  let now: number;
  let made: string[];
  let timers: { readonly run: () => void; readonly at: number }[];
  let changes: PacedChanges;

  beforeEach(() => {
    [now, made, timers] = [0, [], []];
    const budget = createTimeBudget({ now: () => now, burstMs: 1_000, share: 0.1, leastMs: 10 });
    changes = createPacedChanges(budget, (run, milliseconds) => {
      const timer = { run, at: now + milliseconds };
      timers.push(timer);
      return { cancel: () => void timers.splice(timers.indexOf(timer), 1) };
    });
  });

  const change = (name: string, milliseconds = 500) => {
    made.push(name);
    now += milliseconds;
  };
  const make = (owner: string, policy: string, name: string, milliseconds?: number) =>
    changes.make(owner, policy, () => change(name, milliseconds));
  function passTo(end: number): void {
    for (let next = timers.shift(); next !== undefined; next = timers.shift()) {
      if (next.at > end) {
        timers.unshift(next);
        break;
      }
      now = Math.max(now, next.at);
      next.run();
    }
    now = Math.max(now, end);
  }

  it('are made at once until the time of the owner is used', () => {
    for (const name of ['1', '2', '3']) make('a', 'p', name);
    expect(made).toEqual(['1', '2', '3']);
    make('a', 'p', '4');
    expect(made).toEqual(['1', '2', '3']);
    make('b', 'p', 'other');
    expect(made).toEqual(['1', '2', '3', 'other']);
  });

  it('that wait are made in turn, of each policy only the last one', () => {
    for (const name of ['1', '2', '3']) make('a', 'p', name);
    for (const name of ['4', '5', '6']) make('a', 'p', name);
    make('a', 'q', 'other');
    passTo(now + 4_100);
    expect(made).toEqual(['1', '2', '3', '6']);
    passTo(now + 10_000);
    expect(made).toEqual(['1', '2', '3', '6', 'other']);
    expect(timers).toEqual([]);
  });

  it('use at most the share of the owner, however often they are requested', () => {
    let busy = 0;
    for (let round = 0; round < 10_000; round++) {
      changes.make('a', 'p', () => {
        busy += 100;
        now += 100;
      });
      passTo(now + 10);
    }
    expect(busy / now).toBeLessThan(0.12);
    expect(busy).toBeGreaterThan(1_000);
  });

  it('that must not wait replace those that do', () => {
    for (const name of ['1', '2', '3', 'old']) make('a', 'p', name);
    changes.makeNow('p', () => change('deleted', 0));
    passTo(now + 60_000);
    expect(made).toEqual(['1', '2', '3', 'deleted']);
  });

  it('end with the watch', () => {
    for (const name of ['1', '2', '3', 'old']) make('a', 'p', name);
    changes.stop();
    passTo(now + 60_000);
    expect(made).toEqual(['1', '2', '3']);
  });
});

describe('a time budget', () => {
  it('remembers an owner among many others until its time is regained', () => {
    let now = 0;
    const budget = createTimeBudget({ now: () => now, burstMs: 100, share: 0.1, leastMs: 10 });
    budget.spend('first', () => {
      now = 200;
    });
    for (let owner = 0; owner < 5_000; owner++) budget.spend(`o${owner}`, () => {});
    expect(budget.waitMs('first')).toBe(1_001);
    now += 1_001;
    expect(budget.waitMs('first')).toBe(0);
  });
});
