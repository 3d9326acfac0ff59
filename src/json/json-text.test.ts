import { expect, it } from 'vitest';
import { jsonText, shareText } from './json-text.ts';
import type { Json } from './value.ts';

it.each<Json>([
  null,
  true,
  0,
  -1.5e-7,
  1e21,
  '',
  'plain text',
  'a "quote"',
  'back\\slash',
  'tab\tand \u0000',
  'schön 東京 🚀',
  'half of a pair \ud800',
  [],
  {},
  [1, 'a', { b: null }],
  { '"': '\\', nested: { list: [] } },
])('%j as JSON', (value) => {
  expect(jsonText(value)).toBe(JSON.stringify(value));
});

it('a value that is shared gives the same text each time', () => {
  const value = shareText({ pool: 'general', tags: ['ü'] });
  expect([jsonText(value), jsonText(value), jsonText({ ...value })]).toEqual(
    Array(3).fill('{"pool":"general","tags":["ü"]}'),
  );
});
