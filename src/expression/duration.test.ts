import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { formatDuration, parseDuration, readDuration, secondsToDuration } from './duration.ts';

describe('parseDuration', () => {
  test.each([
    ['1h', 3_600_000_000_000n],
    ['1h30m', 5_400_000_000_000n],
    ['-1.5s', -1_500_000_000n],
    ['+2ms', 2_000_000n],
    ['1us', 1_000n],
    ['1\u00b5s', 1_000n],
    ['1\u03bcs', 1_000n],
    ['1ns', 1n],
    ['.5m', 30_000_000_000n],
    ['1.s', 1_000_000_000n],
    ['0', 0n],
    ['-0', 0n],
    ['2562047h47m16.854775807s', 9223372036854775807n],
    ['', undefined],
    ['1', undefined],
    ['h', undefined],
    ['.s', undefined],
    ['1d', undefined],
    ['1 h', undefined],
    ['1h ', undefined],
    ['nginx', undefined],
    ['1-2h', undefined],
    ['2562047h47m16.854775808s', undefined],
    ['99999999999999999999999999h', undefined],
  ])('%j is %s', (text, nanoseconds) => {
    expect(parseDuration(text)).toBe(nanoseconds);
  });

  test.each([
    ['1', 'time: missing unit in duration "1"'],
    ['1d', 'time: unknown unit "d" in duration "1d"'],
    ['x', 'time: invalid duration "x"'],
  ])('says what is wrong with %j', (text, message) => {
    expect(readDuration(text)).toBe(message);
  });
});

describe('formatDuration', () => {
  test.each([
    [0n, '0s'],
    [1n, '1ns'],
    [1_000n, '1\u00b5s'],
    [1_000_000n, '1ms'],
    [1_000_000_000n, '1s'],
    [60_000_000_000n, '1m0s'],
    [3_600_000_000_000n, '1h0m0s'],
    [1_500n, '1.5\u00b5s'],
    [2_000_000n, '2ms'],
    [2_500_000_000n, '2.5s'],
    [90_000_000_000n, '1m30s'],
    [3_630_000_000_000n, '1h0m30s'],
    [-3_600_000_000_000n, '-1h0m0s'],
    [90_000_000_000_000n, '25h0m0s'],
  ])('%s is %s', (nanoseconds, text) => {
    expect(formatDuration(nanoseconds)).toBe(text);
  });

  it('is read back as the same duration', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n) + 1n, max: 2n ** 63n - 1n }), (nanoseconds) => {
        expect(parseDuration(formatDuration(nanoseconds))).toBe(nanoseconds);
      }),
    );
  });
});

it('takes numbers as whole seconds', () => {
  expect(secondsToDuration(1.9)).toBe(1_000_000_000n);
});
