import { expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Json } from '../../json/value.ts';
import { applyJsonPatch, readJsonPatch } from './json.ts';

const apply = (document: string, patch: string) =>
  applyJsonPatch(parse(document) as Json, readJsonPatch(parse(patch) as Json));

it.each([
  [
    'J-01 add',
    '{a: 1}',
    '[{op: add, path: /b, value: {c: [1, null, true]}}]',
    '{a: 1, b: {c: [1, null, true]}}',
  ],
  ['J-01 remove', '{a: 1, b: 2}', '[{op: remove, path: /a}]', '{b: 2}'],
  ['J-01 replace', '{a: 1}', '[{op: replace, path: /a, value: x}]', '{a: x}'],
  ['J-01 move', '{a: {b: 1}, c: {}}', '[{op: move, from: /a/b, path: /c/d}]', '{a: {}, c: {d: 1}}'],
  ['J-01 copy', '{a: [1]}', '[{op: copy, from: /a, path: /b}]', '{a: [1], b: [1]}'],
  ['J-01 test', '{a: {b: [1]}}', '[{op: test, path: /a, value: {b: [1]}}, {op: remove, path: /a}]', '{}'],
  ['J-01 escapes', '{a/b: {c~d: 1}}', '[{op: replace, path: /a~1b/c~0d, value: 2}]', '{a/b: {c~d: 2}}'],
  ['J-01 append', '{l: [1]}', '[{op: add, path: /l/-, value: 2}]', '{l: [1, 2]}'],
  ['J-01 insert', '{l: [1, 3]}', '[{op: add, path: /l/1, value: 2}]', '{l: [1, 2, 3]}'],
  [
    'J-02 a negative index counts from the end',
    '{l: [1, 2, 3]}',
    '[{op: replace, path: /l/-1, value: x}, {op: remove, path: /l/-3}]',
    '{l: [2, x]}',
  ],
  [
    'J-02 a negative index to insert at',
    '{l: [1, 2]}',
    '[{op: add, path: /l/-1, value: 3}, {op: add, path: /l/-2, value: x}]',
    '{l: [1, 2, x, 3]}',
  ],
  ['J-03 replace adds a member', '{a: {}}', '[{op: replace, path: /a/b, value: 1}]', '{a: {b: 1}}'],
  ['J-03 copy of nothing is null', '{a: 1}', '[{op: copy, from: /b, path: /c}]', '{a: 1, c: null}'],
  [
    'J-06 types survive',
    '{}',
    "[{op: add, path: /v, value: [1, '1', 1.5, true, 'true', null, {}]}]",
    "{v: [1, '1', 1.5, true, 'true', null, {}]}",
  ],
  ['names of prototypes are names', '{}', '[{op: add, path: /constructor, value: 1}]', '{constructor: 1}'],
])('%s', (_title, document, patch, result) => {
  expect(apply(document, patch)).toEqual(parse(result));
});

it.each([
  ['J-04 remove of nothing', '{a: 1}', '[{op: remove, path: /b}]', /the member "b" to remove does not exist/],
  [
    'J-04 an inherited name',
    '{}',
    '[{op: remove, path: /toString}]',
    /the member "toString" to remove does not exist/,
  ],
  ['J-03 J-04 a missing parent', '{a: 1}', '[{op: replace, path: /b/c, value: 1}]', /\/b does not exist/],
  [
    'J-04 a parent that is a scalar',
    '{a: 1}',
    '[{op: add, path: /a/c, value: 1}]',
    /\/a is neither a map nor a list/,
  ],
  [
    'J-04 an index past the end',
    '{l: [1]}',
    '[{op: add, path: /l/3, value: 1}]',
    /index 3 is outside the list/,
  ],
  [
    'J-04 an index before the start',
    '{l: [1]}',
    '[{op: remove, path: /l/-2}]',
    /index -2 is outside the list/,
  ],
  [
    'J-04 a test that fails',
    '{a: 1}',
    '[{op: test, path: /a, value: 2}]',
    /operation \[0\] test \/a: the value differs/,
  ],
  ['J-04 an unknown operation', '{a: 1}', '[{op: merge, path: /a}]', /unknown op: "merge"/],
  ['J-04 no path', '{a: 1}', '[{op: remove}]', /operation \[0\] has no path/],
  [
    'a move of nothing',
    '{a: 1}',
    '[{op: move, from: /b, path: /c}]',
    /the member "b" to remove does not exist/,
  ],
])('%s is an error', (_title, document, patch, message) => {
  expect(() => apply(document, patch)).toThrow(message);
});
