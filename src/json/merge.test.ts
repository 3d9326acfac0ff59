import { describe, expect, it } from 'vitest';
import { mergeMembers } from './merge.ts';
import type { JsonObject } from './value.ts';

describe('mergeMembers', () => {
  it.each<[string, JsonObject, JsonObject, JsonObject]>([
    ['members of both', { a: 1 }, { b: 2 }, { a: 1, b: 2 }],
    ['objects at any depth', { a: { b: { c: 1 } } }, { a: { b: { d: 2 } } }, { a: { b: { c: 1, d: 2 } } }],
    ['the second wins over a scalar', { a: 1 }, { a: { b: 2 } }, { a: { b: 2 } }],
    ['the second wins over an object', { a: { b: 2 } }, { a: null }, { a: null }],
    ['lists are replaced', { a: [1, 2] }, { a: [3] }, { a: [3] }],
  ])('%s', (_, first, second, expected) => {
    expect(mergeMembers(first, second)).toEqual(expected);
  });

  it('__proto__ is a key like any other', () => {
    const hostile = JSON.parse('{"__proto__": {"a": 1}}') as JsonObject;
    expect(JSON.stringify(mergeMembers({ b: 1 }, hostile))).toBe('{"b":1,"__proto__":{"a":1}}');
  });
});
