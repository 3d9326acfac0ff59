import { expect, it } from 'vitest';
import { formatPointer } from '../../json/pointer.ts';
import type { Json } from '../../json/value.ts';
import { parseFieldPath } from './field-path.ts';
import { fieldPlaces } from './places.ts';

const object: Json = {
  list: [
    { name: 'a', text: 'one', inner: [{ x: 1 }] },
    { name: 'b', inner: [{ x: 2 }, { x: 3 }] },
  ],
  words: ['x', 'y', 'x'],
  json: '{"a": {"b": 1}}',
};
const compare = (text: string) => ({ text, literal: true, matches: (other: string) => other === text });

it.each([
  ['list.0.text', ['/list/0/text']],
  ['list.[name=b].inner.*.x', ['/list/1/inner/0/x', '/list/1/inner/1/x']],
  ['list.*.text', ['/list/0/text']],
  ['list.-.name', ['/list/1/name']],
  ['words.[=x]', ['/words/0', '/words/2']],
  ['json.a.b', ['/json']],
  ['absent.field', []],
  ['list.7', []],
  ['words.field', []],
])('%s', (path, expected) => {
  expect(fieldPlaces(object, parseFieldPath(path, { compare, lastItem: true })).map(formatPointer)).toEqual(
    expected,
  );
});
