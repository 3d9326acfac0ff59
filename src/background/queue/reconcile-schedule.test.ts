import { describe, expect, it } from 'vitest';
import { isDue, lastRound } from './reconcile-schedule.ts';

const hour = 3_600_000;
const rule = { id: 'uid/rule', createdAt: 1_000_000 };

describe('the regular look', () => {
  it('first comes one interval after the policy was created, then every interval', () => {
    const rounds = (hours: number) => lastRound(rule, hour, rule.createdAt + hours * hour);
    expect([0, 0.5, 0.99, 1.05, 1.9, 2.05, 7.06].map(rounds)).toEqual([0, 0, 0, 1, 1, 2, 7]);
  });

  it('falls due once, however often somebody looks', () => {
    let due = 0;
    for (let now = rule.createdAt; now < rule.createdAt + 3.5 * hour; now += 60_000)
      if (isDue(rule, hour, now - 60_000, now)) due += 1;
    expect(due).toBe(3);
  });

  it('does not come because somebody started to look', () => {
    const now = rule.createdAt + 5.5 * hour;
    expect(isDue(rule, hour, now, now)).toBe(false);
    expect(isDue(rule, hour, now, now + 60_000)).toBe(false);
  });

  it('is spread out for policies that were created together', () => {
    const times = new Set<number>();
    for (let index = 0; index < 50; index++) {
      const each = { id: `uid-${index}`, createdAt: 0 };
      let now = hour;
      while (!isDue(each, hour, 0, now)) now += 1_000;
      times.add(now);
      expect(now).toBeLessThanOrEqual(hour * 1.051);
    }
    expect(times.size).toBeGreaterThan(30);
  });
});
