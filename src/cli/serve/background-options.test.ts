import { describe, expect, it } from 'vitest';
import type { Io } from '../io.ts';
import { scanInterval } from './background-options.ts';

const given = (value?: string) =>
  scanInterval({ env: value === undefined ? {} : { BACKGROUND_SCAN_INTERVAL: value } } as unknown as Io);

describe('the interval of the regular look', () => {
  it.each([
    [undefined, 3_600_000],
    ['', 3_600_000],
    ['30m', 1_800_000],
    ['1h30m', 5_400_000],
    ['45s', 45_000],
    ['0', 0],
    ['0s', 0],
  ])('is read from the environment: %j', (text, milliseconds) => {
    expect(given(text)).toBe(milliseconds);
  });

  it.each(['soon', '-1h', '10', '10ms'])('is refused when it is none: %s', (text) => {
    expect(() => given(text)).toThrow(/BACKGROUND_SCAN_INTERVAL/);
  });
});
