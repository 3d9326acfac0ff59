import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

interface Slope {
  readonly slope: number;
  readonly plusMinus: number;
}
interface Promised {
  readonly promise: string;
  readonly measured: string;
  readonly isKept: boolean;
}
const folder = join(import.meta.dirname, '..', '..', 'e2e', 'soak');
// Plain JavaScript: the command runs before anything is built.
const { figuresOf, readEntries, slopeOf } = (await import(join(folder, 'figures.mjs'))) as {
  figuresOf(entries: readonly object[]): object;
  readEntries(text: string): readonly object[];
  slopeOf(points: readonly (readonly [number, number])[]): Slope;
};
const { drawPart, promisesOf } = (await import(join(folder, 'page.mjs'))) as {
  drawPart(figures: object): string;
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
const overload = {
  result: 'overload',
  capacity: 10,
  perSecond: 100,
  sentUntil: 1_000,
  lastFailureAt: 1_500,
};
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
      { ...overload, requests: { 'stored unchanged': 1 } },
      { result: 'recovery', lastFailureAt: 7_000 },
    ];
    expect(Object.values(kept(entries))).toEqual([false, false, true, false]);
  });

  it('about recovery count from the last review of the overload', () => {
    const measured = (lastFailureAt: number) =>
      promisesOf(
        figuresOf([sample('overload', 1, { shed: 900 }), overload, { result: 'recovery', lastFailureAt }]),
      ).at(-1)?.measured;
    // Those that are shed after the overload was sent count, too.
    expect(measured(0)).toMatch(/^0\.5 s /);
    expect(measured(3_000)).toMatch(/^2\.0 s /);
  });

  it('about what is shed are broken by a full queue and by a late refusal', () => {
    const broken = (fields: object) => Object.values(kept([sample('overload', 1, fields), overload]))[2];
    expect(broken({ shed: 900, shedP99: 999, queue: 1_000 })).toBe(true);
    expect(broken({ shed: 900, shedP99: 999, queue: 1_001 })).toBe(false);
    expect(broken({ shed: 900, shedP99: 1_000 })).toBe(false);
  });
});

describe('the text', () => {
  const soak = { result: 'soak', changes: { policies: 60 }, requests: { changed: 9 } };
  const all = [start, sample('soak', 5), soak, sample('overload', 1, { shed: 900 }), overload];

  it('says how many reviews were sent, which may be fewer than were due', () => {
    const text = drawPart(figuresOf(all));
    expect(text).toContain('80 per second were due, 80 % of them; the client sent 20.');
    expect(text).toContain('100 per second were due; the client sent 1,000, 100.0 times the capacity,');
  });

  it('says that a run ended early', () => {
    const end = { result: 'recovery', lastFailureAt: 0 };
    expect(drawPart(figuresOf(all.slice(0, 2)))).toContain('The run ended after 0.1 of 1 minutes.');
    expect(drawPart(figuresOf(all.slice(0, 3)))).toContain('The run ended before the recovery');
    expect(drawPart(figuresOf(all))).toContain('The run ended before the recovery');
    expect(drawPart(figuresOf([...all, end]))).not.toContain('The run ended');
  });

  it('leaves out a line that is cut off', () => {
    expect(readEntries('{"a":1}\n{"b":2}\n{"c"')).toEqual([{ a: 1 }, { b: 2 }]);
  });
});
