import { expect, it } from 'vitest';
import { intervalBetween } from './rates.ts';

const reading = (time: number, allowed: number, denied: number, durations: Record<string, number>) => ({
  time,
  metrics: { allowed, denied, durations, background: {} },
});

it('computes rates and percentiles from the differences of totals', () => {
  const before = reading(1_000, 100, 10, { '0.001': 50, '0.01': 100, '+Inf': 110 });
  const after = reading(3_000, 180, 30, { '0.001': 140, '0.01': 200, '+Inf': 210 });
  expect(intervalBetween(before, after)).toEqual({
    reviewsPerSecond: 50,
    deniedPerSecond: 10,
    p50: expect.closeTo((50 / 90) * 1, 5),
    p99: expect.closeTo(1 + (9 / 10) * 9, 5),
  });
});

it('reports no percentiles without reviews', () => {
  const same = reading(1_000, 5, 0, { '0.001': 5, '+Inf': 5 });
  expect(intervalBetween(same, { ...same, time: 3_000 })).toEqual({
    reviewsPerSecond: 0,
    deniedPerSecond: 0,
    p50: undefined,
    p99: undefined,
  });
});

it('a restarted server counts from zero', () => {
  const before = reading(1_000, 500, 0, { '0.001': 500, '+Inf': 500 });
  const after = reading(3_000, 20, 0, { '0.001': 20, '+Inf': 20 });
  expect(intervalBetween(before, after).reviewsPerSecond).toBe(10);
});
