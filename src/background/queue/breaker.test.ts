import { describe, expect, it } from 'vitest';
import { manualClock } from '../clock.testing.ts';
import { createBreaker } from './breaker.ts';
import type { UpdateRequest } from './update-request.ts';

const request = (uid: string, oldVersion?: string, operation: 'CREATE' | 'UPDATE' = 'UPDATE') =>
  ({
    trigger: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'ns', name: 'x', uid },
    operation,
    ...(oldVersion === undefined ? {} : { oldVersion }),
  }) as UpdateRequest;

/** Rules write in turn to one object; returns after how many writes it ends, and with which words. */
function fight(rules: readonly string[], rounds: number) {
  const breaker = createBreaker({ clock: manualClock(), rounds });
  for (let version = 1; version < 1_000; version++) {
    const rule = rules[version % rules.length] ?? '';
    const chain = breaker.chainOf(request('u', String(version - 1)));
    const refusal = breaker.refusal(rule, chain);
    if (refusal !== undefined) return { writes: version - 1, refusal };
    breaker.wrote(rule, chain, 'u', String(version));
  }
  throw new Error('nobody stopped it');
}

describe('the breaker', () => {
  it('stops two rules that trigger each other, and says which', () => {
    const { writes, refusal } = fight(['a/red', 'b/blue'], 5);
    expect(writes).toBe(10);
    expect(refusal).toBe('stopped: rule b/blue and a/red trigger each other without end, 5 rounds so far');
  });

  it('stops a rule that triggers itself', () => {
    expect(fight(['a/red'], 3)).toEqual({
      writes: 3,
      refusal: 'stopped: rule a/red triggers itself without end, 3 rounds so far',
    });
  });

  it('lets a rule write as often as others trigger it', () => {
    const breaker = createBreaker({ clock: manualClock() });
    for (let version = 0; version < 100; version++) {
      const chain = breaker.chainOf(request('u', `by-somebody-${version}`));
      expect(breaker.refusal('a/red', chain)).toBeUndefined();
      breaker.wrote('a/red', chain, 'other', String(version));
    }
  });

  it('follows what a rule created', () => {
    const breaker = createBreaker({ clock: manualClock() });
    breaker.wrote('a/generate', [], 'made', undefined);
    expect(breaker.chainOf(request('made', undefined, 'CREATE'))).toEqual(['a/generate']);
    expect(breaker.chainOf(request('made', '5'))).toEqual([]);
  });

  it('forgets', async () => {
    const clock = manualClock();
    const breaker = createBreaker({ clock });
    breaker.wrote('a/red', [], 'u', '1');
    await clock.pass(11 * 60_000);
    breaker.wrote('a/red', [], 'v', '1');
    expect(breaker.chainOf(request('u', '1'))).toEqual([]);
    expect(breaker.chainOf(request('v', '1'))).toEqual(['a/red']);
  });
});
