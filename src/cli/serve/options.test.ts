import { describe, expect, it } from 'vitest';
import type { Io } from '../io.ts';
import { type ServeOptions, scanInterval, shutdownDelayMilliseconds } from './options.ts';

const options: ServeOptions = {
  host: '127.0.0.1',
  workers: 1,
  policyRuleLimit: 250,
  policySizeLimit: 262_144,
  bodyLimit: 1,
  resourceFilters: '',
  grace: 25,
  logLevel: 'info',
};

describe('the delay between a stop signal and refusing connections', () => {
  it.each([
    ['none for a server that stands alone', {}, 0],
    ['some seconds in a cluster', { kubeconfig: 'x' }, 5_000],
    ['what was asked for', { kubeconfig: 'x', shutdownDelay: 0 }, 0],
    ['what was asked for, standing alone', { shutdownDelay: 2.5 }, 2_500],
  ])('is %s', (_name, given, milliseconds) => {
    expect(shutdownDelayMilliseconds({ ...options, ...given })).toBe(milliseconds);
  });
});

const given = (value?: string) =>
  scanInterval({ env: value === undefined ? {} : { BACKGROUND_SCAN_INTERVAL: value } } as unknown as Io);

describe('the resync interval', () => {
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

  it.each(['soon', '-1h', '10', '10ms'])('an invalid interval is refused: %s', (text) => {
    expect(() => given(text)).toThrow(/BACKGROUND_SCAN_INTERVAL/);
  });
});
