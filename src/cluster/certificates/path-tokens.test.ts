import { describe, expect, it } from 'vitest';
import { defaultTokenTiming, planTokens, type TokenState } from './path-tokens.ts';

const minute = 60_000;
const day = 24 * 60 * minute;
const plan = (state: TokenState | undefined, now: number) =>
  planTokens(state, now, defaultTokenTiming, () => 'new');

/** Runs the leader's check every minute until nothing is due; returns what is accepted at each minute. */
function rotate(state: TokenState, from: number, minutes: number) {
  const history: { readonly at: number; readonly current: string; readonly accepted: string[] }[] = [];
  let known = state;
  for (let at = from; at <= from + minutes * minute; at += minute) {
    known = plan(known, at) ?? known;
    const { current, next, previous } = known;
    const accepted = [
      current.token,
      next?.token,
      previous && at < previous.until ? previous.token : undefined,
    ];
    history.push({
      at: at - from,
      current: current.token,
      accepted: accepted.filter((token) => token !== undefined),
    });
  }
  return { history, state: known };
}

describe('tokens in webhook paths', () => {
  it('are created once, as DNS-1123 labels that cannot be guessed', () => {
    const [one, two] = [planTokens(undefined, 5), planTokens(undefined, 5)];
    expect(one?.current.token).toMatch(/^[a-z0-9]{48}$/);
    expect(one?.current.token).not.toBe(two?.current.token);
    expect(plan({ current: { token: 'a', since: 0 } }, minute)).toBeUndefined();
  });

  it('are rotated daily: the next one is accepted before it is used, and the old one while it may be in use', () => {
    const { history } = rotate({ current: { token: 'old', since: 0 } }, day, 6);
    expect(history[0]).toMatchObject({ current: 'old', accepted: ['old', 'new'] });
    expect(history[1]).toMatchObject({ current: 'new', accepted: ['new', 'old'] });
    expect(history.at(-1)).toMatchObject({ current: 'new', accepted: ['new'] });
    expect(history.find(({ accepted }) => !accepted.includes('old'))?.at).toBeLessThanOrEqual(5 * minute);
  });

  it('are rotated after a review ran into its timeout, and the exposed one expires within five minutes', () => {
    const exposed = { current: { token: 'old', since: 0 }, exposedAt: 30 * minute };
    const { history } = rotate(exposed, 30 * minute, 6);
    expect(history.find(({ accepted }) => !accepted.includes('old'))?.at).toBeLessThanOrEqual(5 * minute);
  });

  it('are rotated for that reason at most once in ten minutes', () => {
    const young = { current: { token: 'a', since: 0 }, exposedAt: minute };
    expect(plan(young, 9 * minute)).toBeUndefined();
    expect(plan(young, 10 * minute)?.next?.token).toBe('new');
    const { state } = rotate({ current: { token: 'a', since: 0 }, exposedAt: 20 * minute }, 20 * minute, 6);
    expect(plan(state, 60 * minute), 'an earlier exposure concerns the old token').toBeUndefined();
  });
});
