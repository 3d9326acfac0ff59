import { describe, expect, it } from 'vitest';
import {
  Budget,
  BudgetError,
  spendBytes,
  spendInner,
  spendList,
  spendSize,
  spendSteps,
  spendText,
  withBudget,
} from './budget.ts';
import type { Json } from './value.ts';

const limits = { steps: 10_000, bytes: 1_000 };

describe('a budget', () => {
  it('counts the steps of all its runs', () => {
    const budget = new Budget(limits);
    withBudget(budget, () => spendSteps(3));
    withBudget(budget, () => spendSteps(9_000));
    expect(budget.steps).toBe(9_003);
  });

  it('counts the steps of budgets inside spendInner, also after they restart', () => {
    const outer = new Budget(limits);
    const inner = new Budget(limits);
    const run = () =>
      spendInner(() => {
        spendSteps(1);
        withBudget(inner, () => spendSteps(5_999));
        inner.restart();
      });
    withBudget(outer, run);
    expect(outer.steps).toBe(6_000);
    expect(() =>
      withBudget(outer, () => {
        run();
        spendSteps(1);
      }),
    ).toThrow(BudgetError);
  });

  it('stays exhausted', () => {
    const budget = new Budget(limits);
    expect(() => withBudget(budget, () => spendSteps(10_001))).toThrow(BudgetError);
    expect(() => withBudget(budget, () => spendSteps(1))).toThrow('more than 10000 steps');
    expect(budget.steps).toBeGreaterThan(10_000);
  });

  it('is exhausted exactly at its limit', () => {
    const budget = new Budget(limits);
    withBudget(budget, () => {
      for (let step = 0; step < 10_000; step++) spendSteps(1);
    });
    expect(budget.steps).toBe(10_000);
    expect(() => withBudget(budget, () => spendSteps(1))).toThrow(BudgetError);
  });

  it('counts bytes before they are allocated', () => {
    expect(() => withBudget(new Budget(limits), () => spendBytes(1_001))).toThrow('more than 1000 bytes');
    expect(() => withBudget(new Budget(limits), () => spendText(2_000))).toThrow(BudgetError);
    expect(() => withBudget(new Budget(limits), () => spendList(200))).toThrow(BudgetError);
  });

  it('ends at the deadline of the request, however little the policy has spent', () => {
    let now = 0;
    const budget = new Budget({ steps: 1_000_000, bytes: 1, milliseconds: 100, deadline: 1_000 }, () => now);
    now = 1_000;
    withBudget(budget, () => spendSteps(10_000));
    now = 1_001;
    expect(() => withBudget(budget, () => spendSteps(10_000))).toThrow(
      'the time to answer the request is over',
    );
  });

  it('reads the clock only after many steps, and does not count the time between two runs', () => {
    let reads = 0;
    let now = 0;
    const budget = new Budget({ steps: 1_000_000, bytes: 1, milliseconds: 100 }, () => {
      reads++;
      return now;
    });
    withBudget(budget, () => spendSteps(100));
    expect(reads).toBe(0);
    withBudget(budget, () => spendSteps(10_000));
    now += 1_000;
    withBudget(budget, () => spendSteps(10_000));
    expect(() =>
      withBudget(budget, () => {
        spendSteps(10_000);
        now += 101;
        spendSteps(10_000);
      }),
    ).toThrow('more than 100 ms');
  });

  it('does not charge an inner run to the outer budget', () => {
    const [outer, inner] = [new Budget(limits), new Budget(limits)];
    withBudget(outer, () => {
      spendSteps(5);
      withBudget(inner, () => spendSteps(7_000));
      spendSteps(6);
    });
    expect([outer.steps, inner.steps]).toEqual([11, 7_000]);
  });

  it('is charged nothing by what runs without one', () => {
    const budget = new Budget(limits);
    expect(() => spendSteps(1_000_000_000)).not.toThrow();
    withBudget(budget, () => undefined);
    expect(budget.steps).toBe(0);
  });

  it('counts a shared value as often as it occurs', () => {
    let value: Json = 1;
    for (let level = 0; level < 40; level++) value = [value, value];
    expect(() => withBudget(new Budget(limits), () => spendSize(value))).toThrow(BudgetError);
  });
});
