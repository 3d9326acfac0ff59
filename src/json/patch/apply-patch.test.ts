import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../value.ts';
import { applyPatch, PatchApplyError } from './apply-patch.ts';
import type { UserPatchOperation } from './operation.ts';

const add = (path: string, value: Json): UserPatchOperation => ({ op: 'add', path, value });
const replace = (path: string, value: Json): UserPatchOperation => ({ op: 'replace', path, value });
const remove = (path: string): UserPatchOperation => ({ op: 'remove', path });
const test = (path: string, value: Json): UserPatchOperation => ({ op: 'test', path, value });
const copy = (from: string, path: string): UserPatchOperation => ({ op: 'copy', from, path });
const move = (from: string, path: string): UserPatchOperation => ({ op: 'move', from, path });

type Row = readonly [name: string, document: Json, operation: UserPatchOperation, expected: Json];

describe('as Kyverno does (lenient)', () => {
  it.each<Row>([
    [
      'add creates parents',
      { metadata: {} },
      add('/metadata/labels/a', 'x'),
      { metadata: { labels: { a: 'x' } } },
    ],
    ['add - creates the list', { spec: {} }, add('/spec/t/-', 1), { spec: { t: [1] } }],
    ['add 0 creates the list', {}, add('/spec/t/0', 1), { spec: { t: [1] } }],
    ['add -1 creates the list', {}, add('/l/-1', 1), { l: [1] }],
    ['add creates list and item', { spec: {} }, add('/spec/l/0/name', 'x'), { spec: { l: [{ name: 'x' }] } }],
    ['add creates the item after the last', { l: [1] }, add('/l/1/name', 'x'), { l: [1, { name: 'x' }] }],
    ['add -1 inside a path is the last item', { l: [{}, {}] }, add('/l/-1/n', 1), { l: [{}, { n: 1 }] }],
    ['a created parent may have an escaped name', {}, add('/a~1b/c', 1), { 'a/b': { c: 1 } }],
    ['a null parent becomes an object', { a: null }, add('/a/b', 1), { a: { b: 1 } }],
    ['a null parent becomes a list', { a: null }, add('/a/-', 1), { a: [1] }],
    ['a null item becomes an object', { l: [null, 2] }, add('/l/0/b', 1), { l: [{ b: 1 }, 2] }],
    ['add -1 appends', { l: [1, 2] }, add('/l/-1', 3), { l: [1, 2, 3] }],
    ['add -2 is before the last', { l: [1, 2] }, add('/l/-2', 3), { l: [1, 3, 2] }],
    ['add at the length appends', { l: [1, 2] }, add('/l/2', 3), { l: [1, 2, 3] }],
    ['add inserts', { l: [1, 2] }, add('/l/1', 3), { l: [1, 3, 2] }],
    ['add on an existing member replaces', { a: 1 }, add('/a', 2), { a: 2 }],
    ['add at the root replaces all', { a: 1 }, add('', { b: 2 }), { b: 2 }],
    ['add null writes null', { a: 1 }, add('/b', null), { a: 1, b: null }],
    ['remove of a missing member', { a: 1 }, remove('/b'), { a: 1 }],
    ['remove below a missing parent', { a: 1 }, remove('/b/c/d'), { a: 1 }],
    ['remove below a scalar', { a: 1 }, remove('/a/b'), { a: 1 }],
    ['remove below null', { a: null }, remove('/a/b'), { a: null }],
    ['remove of an index outside', { l: [1] }, remove('/l/5'), { l: [1] }],
    ['remove of a negative index outside', { l: [1] }, remove('/l/-2'), { l: [1] }],
    ['remove -1 takes the last', { l: [1, 2] }, remove('/l/-1'), { l: [1] }],
    ['remove of the root', { a: 1 }, remove(''), { a: 1 }],
    ['replace -1 replaces the last', { l: [1, 2] }, replace('/l/-1', 5), { l: [1, 5] }],
    ['replace of the root', { a: 1 }, replace('', { b: 1 }), { b: 1 }],
    ['replace null', { a: null }, replace('/a', 1), { a: 1 }],
    ['copy', { a: { x: 1 }, l: [] }, copy('/a', '/l/-'), { a: { x: 1 }, l: [{ x: 1 }] }],
    ['copy from a negative index', { l: [1, 2] }, copy('/l/-1', '/a'), { l: [1, 2], a: 2 }],
    ['move', { a: 1 }, move('/a', '/b'), { b: 1 }],
    ['~1 and ~0 are decoded', { 'a/b': 1, 'c~d': 1 }, remove('/a~1b'), { 'c~d': 1 }],
    ['a tilde alone stands for itself', {}, add('/a~b', 1), { 'a~b': 1 }],
    ['a trailing slash on an object is the empty key', { a: {} }, add('/a/', 1), { a: { '': 1 } }],
    ['a test for null holds on an absent member', { a: {} }, test('/a/b', null), { a: {} }],
    ['a test may count from the end', { l: [1, 2] }, test('/l/-1', 2), { l: [1, 2] }],
  ])('%s', (_, document, operation, expected) => {
    expect(applyPatch(document, [operation], { lenient: true })).toEqual(expected);
  });

  it.each<readonly [string, Json, UserPatchOperation, string]>([
    ['add below - of a missing list', { spec: {} }, add('/spec/a/-/b', 1), '/spec/a/- does not exist'],
    ['add below - of a list', { l: [{}] }, add('/l/-/b', 1), '/l/- does not exist'],
    ['add through a scalar', { a: 1 }, add('/a/b', 1), '/a is a number, not an object or a list'],
    ['add through a scalar, deeper', { a: 'x' }, add('/a/b/c', 1), '/a is a string, not an object or a list'],
    ['add past the end', { l: [1] }, add('/l/3', 1), 'index 3 is outside the list, which has 1 item'],
    ['add before the start', { l: [1] }, add('/l/-3', 1), 'index -3 is outside the list, which has 1 item'],
    ['add below an index past the end', { l: [1] }, add('/l/3/a', 1), 'index 3 is outside the list'],
    ['a gap in a new list', {}, add('/l/3', 1), 'index 3 is outside the list, which has 0 items'],
    ['a new list from the back', {}, add('/l/-2', 1), 'index -2 is outside the list'],
    ['add with a name in a list', { l: [1] }, add('/l/x', 1), "'x' is not a list index"],
    ['a trailing slash on a list', { l: [1] }, add('/l/', 1), "'' is not a list index"],
    ['replace of a missing member', { a: 1 }, replace('/b', 1), '/b does not exist'],
    ['replace below a missing parent', { a: 1 }, replace('/b/c', 1), '/b does not exist'],
    ['replace of an index outside', { l: [1] }, replace('/l/1', 1), '/l/1 does not exist'],
    ['remove of a name in a list', { l: [1] }, remove('/l/x'), "'x' is not a list index"],
    [
      'a test that does not hold',
      { a: 'secret' },
      test('/a', 'x'),
      'the value differs from the expected value',
    ],
    [
      'a test for null on a value',
      { a: 'secret' },
      test('/a', null),
      'the value differs from the expected value',
    ],
    ['a test of a missing member', { a: 1 }, test('/b', 1), '/b does not exist'],
    ['a test for null below a missing parent', { a: 1 }, test('/b/c', null), '/b does not exist'],
    ['copy from a missing path', { a: 1 }, copy('/b', '/c'), '/b does not exist'],
    ['copy to a missing parent', { a: 1 }, copy('/a', '/b/c'), '/b does not exist'],
    ['move from a missing path', { a: 1 }, move('/b', '/c'), '/b does not exist'],
    ['move into itself', { a: { b: {} } }, move('/a', '/a/b/c'), 'cannot be moved into itself'],
    ['a path without a slash', { a: 1 }, add('a', 1), "must start with '/'"],
  ])('refuses: %s', (_, document, operation, reason) => {
    const failing = () => applyPatch(document, [test('', document), operation], { lenient: true });
    expect(failing).toThrow(reason);
    expect(failing).not.toThrow('secret');
    expect(failing).toThrow(
      expect.objectContaining({ name: 'PatchApplyError', index: 1, op: operation.op, path: operation.path }),
    );
  });
});

describe('as RFC 6902 (strict)', () => {
  it.each<readonly [string, Json, UserPatchOperation, string]>([
    ['add with a missing parent', {}, add('/a/b', 1), '/a does not exist'],
    ['add through null', { a: null }, add('/a/b', 1), '/a is null'],
    ['a negative index', { l: [1] }, add('/l/-1', 1), "'-1' is not a list index"],
    ['leading zeros', { l: [1] }, replace('/l/00', 1), "'00' is not a list index"],
    ['remove of a missing member', {}, remove('/a'), '/a does not exist'],
    ['remove of an index outside', [1], remove('/1'), '/1 does not exist'],
    ['remove of the document', {}, remove(''), 'the whole document cannot be removed'],
    ['a test for null on an absent member', {}, test('/a', null), '/a does not exist'],
    ['a tilde that starts no escape', {}, add('/a~2', 1), '~0'],
    ['a path into a scalar document', 1, add('/a', 1), 'the document is a number'],
    ['reading from a scalar document', 1, test('/a', 1), 'the document is neither'],
  ])('refuses: %s', (_, document, operation, reason) => {
    expect(() => applyPatch(document, [operation])).toThrow(reason);
    expect(() => applyPatch(document, [operation])).toThrow(PatchApplyError);
  });

  it.each([
    [{ op: 'spam', path: '/a' }, "'op' must be one of add, remove, replace, move, copy, test"],
    [{ path: '/a' }, "'op' must be one of"],
    [{ op: 'add', value: 1 }, "'path' is missing"],
    [{ op: 'add', path: 1, value: 1 }, "'path' must be a string"],
    [{ op: 'add', path: '/a' }, "'value' is missing"],
    [{ op: 'move', path: '/a' }, "'from' is missing"],
    ['add', 'an operation must be an object'],
  ])('refuses the malformed operation %j', (operation, reason) => {
    expect(() => applyPatch({}, [operation as UserPatchOperation])).toThrow(reason);
  });
});

describe('copy on write', () => {
  const document = { a: { b: [1, { c: 2 }] }, other: { x: 1 } };

  it('shares what is not touched', () => {
    const result = applyPatch(document, [replace('/a/b/1/c', 3)]) as JsonObject;
    expect(result).toEqual({ a: { b: [1, { c: 3 }] }, other: { x: 1 } });
    expect(result.other).toBe(document.other);
    expect(document.a.b).toEqual([1, { c: 2 }]);
  });

  it.each([
    [[add('/other', { x: 1 })]],
    [[replace('/a/b', [1, { c: 2 }])]],
    [[test('/a/b/0', 1)]],
    [[move('/a', '/a')]],
    [[]],
  ])('%j changes nothing and returns the document itself', (operations) => {
    expect(applyPatch(document, operations)).toBe(document);
  });

  it('takes __proto__ for a key like any other', () => {
    const result = applyPatch({}, [add('/__proto__/polluted', true)], { lenient: true }) as JsonObject;
    expect(Object.keys(result)).toEqual(['__proto__']);
    expect(JSON.stringify(result)).toBe('{"__proto__":{"polluted":true}}');
    expect(({} as JsonObject).polluted).toBeUndefined();
    expect(() => applyPatch({}, [add('/constructor/prototype/x', 1)])).toThrow('/constructor does not exist');
    expect(() => applyPatch({}, [replace('/toString', 1)])).toThrow('/toString does not exist');
  });

  it('walks a path of 20,000 steps', () => {
    const path = '/a'.repeat(20_000);
    expect(() => applyPatch({}, [add(path, 1), test(path, 1)], { lenient: true })).not.toThrow();
  });
});
