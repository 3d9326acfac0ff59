import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

interface Slope {
  readonly slope: number;
  readonly plusMinus: number;
}
interface Promised {
  readonly promise: string;
  readonly isKept: boolean;
}
const folder = join(import.meta.dirname, '..', '..', 'e2e', 'soak');
// Plain JavaScript: the command runs before anything is built.
const { figuresOf, slopeOf } = (await import(join(folder, 'figures.mjs'))) as {
  figuresOf(entries: readonly object[]): object;
  slopeOf(points: readonly (readonly [number, number])[]): Slope;
};
const { promisesOf } = (await import(join(folder, 'page.mjs'))) as {
  promisesOf(figures: object): readonly Promised[];
};

const sample = (phase: string, seconds: number, fields: object = {}) => ({
  phase,
  seconds,
  answered: 100,
  shed: 0,
  failed: 0,
  p50: 1,
  p99: 5,
  longest: 9,
  shedP99: 0,
  residentMegabytes: 100,
  loopDelayMs: 3,
  queue: 0,
  ...fields,
});
const start = { capacity: 100, share: 0.8, perSecond: 80, minutes: 1 };
const times = Array.from({ length: 20 }, (_, index) => index * 5);
const kept = (entries: readonly object[]) =>
  Object.fromEntries(promisesOf(figuresOf(entries)).map(({ promise, isKept }) => [promise, isKept]));

describe('the slope of memory', () => {
  it('is that of a line, and has no error for one', () => {
    const { slope, plusMinus } = slopeOf([0, 1, 2, 3].map((x) => [x, 5 + 2 * x]));
    expect(slope).toBeCloseTo(2);
    expect(plusMinus).toBeCloseTo(0);
  });

  it('has an error that contains the slope of noise around a constant', () => {
    const { slope, plusMinus } = slopeOf(times.map((x, index) => [x, index % 2 === 0 ? 99 : 101]));
    expect(Math.abs(slope)).toBeLessThan(plusMinus);
  });
});

describe('promises', () => {
  it('are kept by a quiet run, also if it was interrupted', () => {
    const figures = kept([start, ...times.map((seconds) => sample('soak', seconds))]);
    expect(Object.values(figures)).toEqual([true, true, true]);
  });

  it.each([
    ['No review fails or is lost.', { shed: 1 }],
    ['No review fails or is lost.', { failed: 1 }],
    ['The p99 of the event loop delay is under 50 ms.', { loopDelayMs: 80 }],
  ])('%s is broken by %j', (promise, fields) => {
    expect(kept([start, ...times.map((seconds) => sample('soak', seconds, fields))])[promise]).toBe(false);
  });

  it('of flat memory is broken by steady growth', () => {
    const growing = times.map((seconds) => sample('soak', seconds, { residentMegabytes: 100 + seconds }));
    expect(kept([start, ...growing])['Memory is flat: it grows by less than 1 MB per minute.']).toBe(false);
  });

  it('about overload are broken by answers that are late and by a late recovery', () => {
    const entries = [
      sample('overload', 1, { shed: 900, longest: 1_200 }),
      { result: 'overload', capacity: 10, perSecond: 100, requests: { 'stored unchanged': 1 } },
      { result: 'recovery', lastFailureSeconds: 6 },
    ];
    expect(Object.values(kept(entries))).toEqual([false, false, true, false]);
  });
});
