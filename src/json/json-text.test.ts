import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  jsonNumber,
  jsonText,
  parseInteger,
  parseJson,
  shareText,
  stringifyJson,
  tryParseJson,
} from './json-text.ts';
import { anyText } from './text.testing.ts';
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
  expect(stringifyJson(value, 2)).toBe(JSON.stringify(value, null, 2));
});

it('a shared value gives the same text each time', () => {
  const value = shareText({ pool: 'general', tags: ['ü'] });
  expect([jsonText(value), jsonText(value), jsonText({ ...value })]).toEqual(
    Array(3).fill('{"pool":"general","tags":["ü"]}'),
  );
});

it('an infinite number is null, as in JSON.stringify', () => {
  expect(jsonText(Number.POSITIVE_INFINITY)).toBe('null');
});

describe('parseJson', () => {
  it.each<[string, Json]>([
    ['9007199254740991', 9007199254740991],
    ['9007199254740992', 9007199254740992n],
    ['-9007199254740993', -9007199254740993n],
    ['18446744073709551616', 18446744073709551616n],
    ['[1,9007199254740993,"9007199254740993"]', [1, 9007199254740993n, '9007199254740993']],
    ['{"a\\"9007199254740993":9007199254740993}', { 'a"9007199254740993': 9007199254740993n }],
    ['{"a\\\\":9007199254740993,"b":"\\\\"}', { 'a\\': 9007199254740993n, b: '\\' }],
    ['{"a":1,"a":9007199254740993}', { a: 9007199254740993n }],
    ['{"a":9007199254740993,"a":1}', { a: 1 }],
    ['0.90071992547409931234', 0.9007199254740993],
    ['9007199254740993.0', 9007199254740992],
    ['9007199254740993e0', 9007199254740992],
    ['1e308', 1e308],
    ['1e-400', 0],
    ['"1e400"', '1e400'],
    ['"1e400, "', '1e400, '],
  ])('%s', (text, value) => {
    expect(parseJson(text)).toEqual(value);
    expect(parseJson(text, new TextEncoder().encode(text))).toEqual(value);
  });

  it.each(['1e400', '[-1e400]', '{"a":1E+309 }', '9'.repeat(400), `[1.5${'0'.repeat(20)}e400]`])(
    'refuses %s, which is out of range',
    (text) => {
      expect(() => parseJson(text)).toThrow(/is out of range$/);
      expect(tryParseJson(text)).toBeUndefined();
    },
  );

  it.each(['', '{', '[9007199254740993', '9007199254740993 1', '01'])('refuses %j', (text) => {
    expect(() => parseJson(text)).toThrow(SyntaxError);
  });

  it('keeps a key __proto__ as data', () => {
    const value = parseJson('{"__proto__":9007199254740993,"b":{"__proto__":{"a":-9007199254740993}}}');
    expect(stringifyJson(value)).toBe(
      '{"__proto__":9007199254740993,"b":{"__proto__":{"a":-9007199254740993}}}',
    );
  });

  it('reads deep nesting without recursion', () => {
    const text = `${'['.repeat(20_000)}9007199254740993${']'.repeat(20_000)}`;
    expect(() => parseJson(text)).not.toThrow();
  });
});

const integers = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n });
const values: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    integers.map((integer) => parseInteger(String(integer))),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((double) => double + 0),
    anyText(),
    fc.string({ unit: fc.constantFrom('"', '\\', '9', '0', 'e', ',', '{', ' ') }),
    fc.constantFrom(null, true, false),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(fc.oneof(fc.string(), fc.constant('__proto__')), tie('value'), {
      maxKeys: 5,
      noNullPrototype: true,
    }),
  ),
})).value;

it('what is written is read back the same, with every digit', () => {
  fc.assert(
    fc.property(values, fc.constantFrom(undefined, 2), (value, indent) => {
      const text = stringifyJson(value, indent);
      expect(stringifyJson(parseJson(text), indent)).toBe(text);
      expect(jsonText(parseJson(text))).toBe(stringifyJson(value));
    }),
    { numRuns: 500 },
  );
});

it.each([0.5, 9007199254740991, 9007199254740992, 1.2345678901234568e17, -1e20, 1e21, 1e300])(
  'the computed number %s is the value that its JSON is read as',
  (value) => {
    expect(jsonNumber(value)).toBe(parseJson(JSON.stringify(value)));
  },
);
