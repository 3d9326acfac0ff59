import { describe, expect, it } from 'vitest';
import { RepeatedObject } from './repeated.ts';
import type { Value } from './value.ts';

function createObjects() {
  return new RepeatedObject(([first, second]) => ({ first: first ?? null, second: second ?? null }));
}

describe('objects of a literal', () => {
  it('are the same object from the second repetition on', () => {
    const objects = createObjects();
    const members = () => ['a', undefined];
    expect(objects.with(members())).not.toBe(objects.with(members()));
    expect(objects.with(members())).toBe(objects.with(members()));
    expect(objects.with(members())).toEqual({ first: 'a', second: null });
  });

  it('are new when a member differs, also when the former members come again', () => {
    const objects = createObjects();
    for (let round = 0; round < 3; round++) objects.with(['a', 1]);
    expect(objects.with(['a', 2])).toEqual({ first: 'a', second: 2 });
    expect(objects.with(['a', undefined])).toEqual({ first: 'a', second: null });
    expect(objects.with(['a', 1])).toEqual({ first: 'a', second: 1 });
  });

  it.each<[string, Value]>([
    ['a list', []],
    ['a map', {}],
    ['a long string', 'x'.repeat(257)],
    ['a number that is none', Number.NaN],
  ])('are not kept with %s', (_name, member) => {
    const objects = createObjects();
    const build = () => objects.with([member, 1]);
    expect(build()).not.toBe(build());
    expect(build()).not.toBe(build());
  });
});
