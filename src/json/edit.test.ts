import { describe, expect, it } from 'vitest';
import { insertItem, removeItem, removeMember, replaceItem, setAt, setMember } from './edit.ts';
import type { Json, JsonObject, Path } from './value.ts';

describe('edits of one container', () => {
  it('return the input itself when nothing changes', () => {
    const object = { a: 1 };
    const list = [1];
    expect(setMember(object, 'a', 1)).toBe(object);
    expect(removeMember(object, 'b')).toBe(object);
    expect(replaceItem(list, 0, 1)).toBe(list);
    expect(removeItem(list, 5)).toBe(list);
  });

  it('leave the input as it was', () => {
    const object = Object.freeze({ a: 1, b: 2 });
    const list = Object.freeze([1, 2, 3]);
    expect(setMember(object, 'a', 5)).toEqual({ a: 5, b: 2 });
    expect(removeMember(object, 'a')).toEqual({ b: 2 });
    expect(insertItem(list, 1, 9)).toEqual([1, 9, 2, 3]);
    expect(removeItem(list, 1)).toEqual([1, 3]);
    expect(replaceItem(list, 1, 9)).toEqual([1, 9, 3]);
  });

  it.each(['__proto__', 'constructor', 'toString'])('take %s for a key like any other', (key) => {
    const set = setMember({ a: 1 }, key, 'x');
    expect(Object.keys(set)).toEqual(['a', key]);
    expect(Object.getPrototypeOf(set)).toBe(Object.prototype);
    expect(Object.keys(removeMember(set, 'a'))).toEqual([key]);
    expect(Object.keys(removeMember(set, key))).toEqual(['a']);
    const object: JsonObject = {};
    expect(removeMember(object, key)).toBe(object);
  });
});

describe('setAt', () => {
  it.each<[string, Json, Path, Json, Json]>([
    ['replaces the root', { a: 1 }, [], 2, 2],
    ['sets a member', { a: { b: 1 } }, ['a', 'b'], 2, { a: { b: 2 } }],
    ['creates objects and lists', {}, ['a', 0, 'b'], 1, { a: [{ b: 1 }] }],
    ['goes through null', { a: null }, ['a', 'b'], 1, { a: { b: 1 } }],
    ['appends', { l: [1] }, ['l', 1], 2, { l: [1, 2] }],
    ['replaces an item', { l: [1, 2] }, ['l', 0], 5, { l: [5, 2] }],
  ])('%s', (_, root, path, value, expected) => {
    expect(setAt(root, path, value)).toEqual(expected);
  });

  it('shares what it does not touch, and returns the root itself when nothing changes', () => {
    const root = { a: { b: 1 }, c: { d: [1] } };
    const changed = setAt(root, ['a', 'b'], 2) as JsonObject;
    expect(changed.c).toBe(root.c);
    expect(setAt(root, ['c', 'd', 0], 1)).toBe(root);
  });

  it.each<[Json, Path, string]>([
    [{ a: 'x' }, ['a', 'b'], 'cannot step into a string'],
    [{ l: [1] }, ['l', 2], 'not an index'],
    [{ l: [1] }, ['l', 'x'], 'not an index'],
    [{}, ['l', 1], 'not an index'],
  ])('refuses %j at %j', (root, path, message) => {
    expect(() => setAt(root, path, 0)).toThrow(message);
  });
});
