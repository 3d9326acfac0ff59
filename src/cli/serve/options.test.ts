import { describe, expect, it } from 'vitest';
import { type ServeOptions, shutdownDelayMilliseconds } from './options.ts';

const options: ServeOptions = {
  host: '127.0.0.1',
  workers: 1,
  bodyLimit: 1,
  resourceFilters: '',
  grace: 25,
  logLevel: 'info',
};

describe('the delay before a server that was told to stop refuses connections', () => {
  it.each([
    ['none for a server that stands alone', {}, 0],
    ['some seconds in a cluster', { kubeconfig: 'x' }, 5_000],
    ['what was asked for', { kubeconfig: 'x', shutdownDelay: 0 }, 0],
    ['what was asked for, standing alone', { shutdownDelay: 2.5 }, 2_500],
  ])('is %s', (_name, given, milliseconds) => {
    expect(shutdownDelayMilliseconds({ ...options, ...given })).toBe(milliseconds);
  });
});
