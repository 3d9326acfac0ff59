import { describe, expect, it } from 'vitest';
import { equal } from './equal.ts';
import type { Json } from './value.ts';

describe('equal', () => {
  it.each<[Json, Json, boolean]>([
    [1, 1, true],
    [0, -0, true],
    [1, '1', false],
    [null, {}, false],
    [{}, [], false],
    [[], {}, false],
    [{ a: 1, b: 2 }, { b: 2, a: 1 }, true],
    [{ a: 1 }, { a: 1, b: 2 }, false],
    [{ a: null }, { b: null }, false],
    [[1, [2]], [1, [2]], true],
    [[1, 2], [2, 1], false],
    [[1], [1, 2], false],
    [{ a: { b: [1] } }, { a: { b: [2] } }, false],
  ])('%j and %j: %s', (a, b, expected) => {
    expect(equal(a, b)).toBe(expected);
    expect(equal(b, a)).toBe(expected);
  });

  it('does not take an inherited name for a member', () => {
    expect(equal({ constructor: 1 } as unknown as Json, { a: 1 })).toBe(false);
    expect(equal(JSON.parse('{"__proto__":{}}'), JSON.parse('{"a":{}}'))).toBe(false);
    expect(equal(JSON.parse('{"__proto__":1}'), JSON.parse('{"__proto__":1}'))).toBe(true);
  });
});

it.each<[Json, Json, boolean]>([
  [9007199254740993n, 9007199254740993n, true],
  [9007199254740993n, 9007199254740992, false],
  [9007199254740994n, 9007199254740993n, false],
  [123456789012345680n, 123456789012345680, true],
  [9007199254740993n, '9007199254740993', false],
  [0, -0, true],
])('%s and %s', (left, right, expected) => {
  expect([equal(left, right), equal([left], [right])]).toEqual([expected, expected]);
});
