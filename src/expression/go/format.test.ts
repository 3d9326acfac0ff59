import { describe, expect, it, test } from 'vitest';
import {
  compareText,
  formatGoDecimal,
  formatGoExponent,
  formatGoJson,
  formatGoNumber,
  formatGoValue,
  parseGoFloat,
  parseGoInteger,
} from './format.ts';

describe('formatGoNumber', () => {
  test.each([
    [5, '5'],
    [0, '0'],
    [-0.5, '-0.5'],
    [0.0001, '0.0001'],
    [0.00001, '1e-05'],
    [123456789, '123456789'],
    [1e21, '1e+21'],
    [1.5e300, '1.5e+300'],
  ])('%d is %s', (value, text) => {
    expect(formatGoNumber(value)).toBe(text);
  });
});

test.each([
  [5, '5E+00'],
  [10, '1E+01'],
  [0.25, '2.5E-01'],
  [1e300, '1E+300'],
])('exponent form of %d is %s', (value, text) => {
  expect(formatGoExponent(value)).toBe(text);
});

test.each([
  [1e-7, '0.0000001'],
  [-1.25e-7, '-0.000000125'],
  [1e21, '1000000000000000000000'],
  [1.5e22, '15000000000000000000000'],
  [12.5, '12.5'],
])('%d without exponent is %s', (value, text) => {
  expect(formatGoDecimal(value)).toBe(text);
});

test.each([
  [null, '<nil>'],
  [true, 'true'],
  ['a', 'a'],
  [['a', 1, null], '[a 1 <nil>]'],
  [{ b: 1, a: ['x'] }, 'map[a:[x] b:1]'],
])('formatGoValue(%j) is %s', (value, text) => {
  expect(formatGoValue(value)).toBe(text);
});

describe('formatGoJson', () => {
  it('sorts members and escapes what HTML would read', () => {
    expect(formatGoJson({ b: '<a>&"', a: [1, null, 'x\u2028'] })).toBe(
      '{"a":[1,null,"x\\u2028"],"b":"\\u003ca\\u003e\\u0026\\""}',
    );
  });

  it('keeps backslashes that only look like escapes', () => {
    expect(formatGoJson('a\\b\b')).toBe('"a\\\\b\\b"');
  });

  it('treats __proto__ as a member', () => {
    expect(formatGoJson(JSON.parse('{"__proto__":1}'))).toBe('{"__proto__":1}');
  });
});

it('orders texts by code points, so surrogate pairs come last', () => {
  expect(['😀', '\uffff', 'b', 'a', ''].sort(compareText)).toEqual(['', 'a', 'b', '\uffff', '😀']);
});

test.each([
  ['1', 1],
  ['+1.50', 1.5],
  ['.5', 0.5],
  ['5.', 5],
  ['1e3', 1000],
  ['1_000', 1000],
  ['', undefined],
  [' 1', undefined],
  ['_1', undefined],
  ['1x', undefined],
  ['inf', undefined],
  ['1e999', undefined],
])('parseGoFloat(%j) is %s', (text, value) => {
  expect(parseGoFloat(text)).toBe(value);
});

test.each([
  ['12', 12n],
  ['-9223372036854775808', -9223372036854775808n],
  ['9223372036854775808', undefined],
  ['+3', 3n],
  ['1.0', undefined],
  ['', undefined],
])('parseGoInteger(%j) is %s', (text, value) => {
  expect(parseGoInteger(text)).toBe(value);
});
