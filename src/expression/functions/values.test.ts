import { describe, expect, it, test } from 'vitest';
import type { Json } from '../../json/value.ts';
import { call, search } from './call.testing.ts';

type Row = readonly [name: string, args: readonly Json[], result: Json];

function table(rows: readonly Row[]): void {
  test.each(rows)('%s(%j) is %j', (name, args, result) => {
    expect(call(name, args)).toEqual(result);
  });
}

function failures(rows: readonly (readonly [name: string, args: readonly Json[], message: string])[]): void {
  test.each(rows)('%s(%j) fails', (name, args, message) => {
    expect(() => call(name, args)).toThrow(`JMESPath function '${name}': ${message}`);
  });
}

describe('strings', () => {
  table([
    ['compare', ['a', 'b'], -1],
    ['compare', ['a', 'a'], 0],
    ['compare', ['b', 'a'], 1],
    ['compare', ['😀', '\uffff'], 1],
    ['equal_fold', ['straße', 'STRASSE'], false],
    ['equal_fold', ['K', 'k'], true],
    ['equal_fold', ['a', 'b'], false],
    ['replace', ['aaaa', 'a', 'b', -1], 'bbbb'],
    ['replace', ['aaaa', 'a', 'b', 0], 'aaaa'],
    ['replace', ['aaaa', 'a', 'b', 1.9], 'baaa'],
    ['replace', ['aaaa', 'a', 'b', 9], 'bbbb'],
    ['replace', ['a😀', '', '-', -1], '-a-😀-'],
    ['replace', ['ab', '', '-', 2], '-a-b'],
    ['replace', ['a$b', '$', '$&', -1], 'a$&b'],
    ['to_upper', ['äß'], 'Äß'],
    ['to_lower', ['ÄB'], 'äb'],
    ['trim', ['xyHixy', 'yx'], 'Hi'],
    ['trim', ['😀a😀', '😀'], 'a'],
    ['trim', ['aaa', 'a'], ''],
    ['trim', [' a ', ''], ' a '],
    ['trim_prefix', ['vv1', 'v'], 'v1'],
    ['trim_prefix', ['1', 'v'], '1'],
    ['split', ['a,b,c', ','], ['a', 'b', 'c']],
    ['split', ['a😀', ''], ['a', '😀']],
    ['split', ['', ','], ['']],
    ['split', ['', ''], []],
    ['truncate', ['añb', 2], 'añ'],
    ['truncate', ['😀😀', 1], '😀'],
    ['truncate', ['abc', -1], ''],
    ['truncate', ['abc', 9], 'abc'],
    ['truncate', ['abc', 1.9], 'a'],
    ['path_canonicalize', ['a/../..'], '..'],
    ['path_canonicalize', ['/..'], '/'],
    ['path_canonicalize', ['./a//b/'], 'a/b'],
    ['path_canonicalize', ['.'], '.'],
    ['path_canonicalize', [''], ''],
    ['to_boolean', ['FALSE'], false],
    ['join', [',', []], ''],
  ]);
  failures([['to_boolean', ['yes'], "lowercase argument must be 'true' or 'false' (provided: 'yes')"]]);
});

describe('numbers', () => {
  table([
    ['round', [2.5, 0], 3],
    ['round', [-2.5, 0], -3],
    ['round', [1.005, 2], 1],
    ['round', [7, 3], 7],
    ['avg', [[]], null],
    ['max', [[]], null],
    ['max', [['a', '😀', '\uffff']], '😀'],
    ['min', [[3, 1, 2]], 1],
    ['to_number', ['x'], null],
    ['to_number', ['-1.5e1'], -15],
    ['to_number', [''], null],
    ['to_number', [[1]], null],
    ['to_number', [true], null],
    ['to_number', [null], null],
    ['abs', [-0.5], 0.5],
  ]);
  failures([
    ['round', [1, 0.5], 'Non-integer argument(s) passed for round off'],
    ['round', [1, -1], 'the number of decimal places is out of bounds'],
  ]);
});

describe('arithmetic', () => {
  table([
    ['add', [1, 2], 3],
    ['add', ['1', '2'], '3'],
    ['add', ['10Mi', '10Mi'], '20Mi'],
    ['add', ['1h', '30s'], '1h0m30s'],
    ['add', ['1h30m', '1800s'], '2h0m0s'],
    ['subtract', ['1Gi', '1Mi'], '1023Mi'],
    ['subtract', ['3h', '1h'], '2h0m0s'],
    ['subtract', [1, 3], -2],
    ['multiply', ['12s', 2], '24s'],
    ['multiply', [3, '1Ki'], '3Ki'],
    ['multiply', [2, '3'], '6'],
    ['multiply', [2, 3], 6],
    ['multiply', ['1', 0.5], '500m'],
    ['divide', [25, 2], 12.5],
    ['divide', ['10Gi', '2Gi'], 5],
    ['divide', ['10Gi', 2], '5Gi'],
    ['divide', ['10s', 4], '2.5s'],
    ['divide', ['10s', '4s'], 2.5],
    ['modulo', [25, 13], 12],
    ['modulo', [-25, 13], -12],
    ['modulo', ['10Gi', '3Gi'], '1Gi'],
    ['modulo', ['35s', '10s'], '5s'],
    ['sum', [[1, 2, 3]], 6],
    ['sum', [['1Gi', '512Mi']], '1536Mi'],
    ['sum', [['1s', '2s']], '3s'],
    ['sum', [['x']], 'x'],
  ]);
  failures([
    ['add', ['1h', '30m'], 'Types mismatch'],
    ['add', [1, '1'], 'Types mismatch'],
    ['add', ['x', 1], 'invalid operand'],
    ['add', [null, 1], 'invalid operand'],
    ['add', [true, 1], 'invalid operand'],
    ['subtract', ['1', '1h'], 'Types mismatch'],
    ['multiply', ['1Gi', '2'], 'Types mismatch'],
    ['multiply', ['2500000h', 1e9], 'the result is too large'],
    ['divide', [1, 0], 'Zero divisor passed'],
    ['divide', ['1Gi', 0], 'Zero divisor passed'],
    ['divide', ['1h', '0s'], 'Zero divisor passed'],
    ['divide', [1, '1Gi'], 'Types mismatch'],
    ['divide', ['1h', '1Gi'], 'Types mismatch'],
    ['modulo', [1, 0], 'Zero divisor passed'],
    ['modulo', ['1h', '0s'], 'Zero divisor passed'],
    ['modulo', [1.5, 1], 'Non-integer argument(s) passed for modulo'],
    ['modulo', ['1500m', '1'], 'Non-integer argument(s) passed for modulo'],
    ['modulo', [1, '1'], 'Types mismatch'],
    ['sum', [[]], 'at least one element in the array is required'],
    ['sum', [['1Gi', 1]], 'Types mismatch'],
  ]);
});

describe('collections', () => {
  table([
    ['contains', [['a', { x: 1 }], { x: 1 }], true],
    ['contains', ['abc', 1], false],
    ['contains', [[1, 2], '1'], false],
    ['length', ['añb'], 3],
    ['length', ['😀'], 1],
    ['length', [{ a: 1, b: 2 }], 2],
    ['reverse', [[1, 2]], [2, 1]],
    ['reverse', ['a😀'], '😀a'],
    ['merge', [{ a: 1 }, {}, { a: 2 }], { a: 2 }],
    ['not_null', [null, null], null],
    ['not_null', [null, false], false],
    ['to_array', [[1]], [1]],
    ['to_array', [null], [null]],
    ['to_string', ['a'], 'a'],
    ['to_string', [1.5], '1.5'],
    ['to_string', [{ b: '<', a: null }], '{"a":null,"b":"\\u003c"}'],
    ['type', [null], 'null'],
    ['type', [[]], 'array'],
    ['type', [{}], 'object'],
    ['lookup', [['p', 'q'], 1], 'q'],
    ['lookup', [['p', 'q'], 2], null],
    ['lookup', [['p', 'q'], -1], null],
    ['lookup', [{ a: 'x' }, 'b'], null],
    ['lookup', [{}, 'constructor'], null],
    ['items', [['x'], 'k', 'v'], [{ k: 0, v: 'x' }]],
    ['object_from_lists', [[1, true], ['a']], { '1': 'a', true: null }],
    ['label_match', [{ a: 'b' }, { a: 'c' }], false],
    ['label_match', [{ a: '*' }, { a: 'c' }], false],
    ['label_match', [{}, {}], true],
    ['label_match', [{ constructor: 'x' }, {}], false],
    ['sort', [['b', '😀', 'a', '\uffff']], ['a', 'b', '\uffff', '😀']],
    ['sort', [[10, 9, 1]], [1, 9, 10]],
  ]);
  failures([
    ['lookup', [{}, 1], 'argument #2 is not of type String'],
    ['lookup', [[], 'a'], 'argument #2 is not of type Number'],
    ['lookup', [[], 0.5], 'argument #2: expected an integer number but got: 0.5'],
    ['object_from_lists', [[{}], []], 'argument #1 is not of type StringArray'],
    ['object_from_lists', [[null], []], 'argument #1 is not of type StringArray'],
  ]);

  it('treats __proto__ as data', () => {
    const merged = call('merge', [{}, JSON.parse('{"__proto__": {"polluted": true}}')]);
    expect(JSON.stringify(merged)).toBe('{"__proto__":{"polluted":true}}');
    expect(JSON.stringify(call('object_from_lists', [['__proto__'], [1]]))).toBe('{"__proto__":1}');
  });

  it('orders by an expression', () => {
    const data = [
      { n: 2, s: 'b' },
      { n: 1, s: 'c' },
      { n: 1, s: 'a' },
    ];
    expect(search('sort_by(@, &n)[].s', data)).toEqual(['c', 'a', 'b']);
    expect(search('sort_by(@, &s)[].n', data)).toEqual([1, 2, 1]);
    expect(search('max_by(@, &s).n', data)).toBe(1);
    expect(search('min_by(@, &n).s', data)).toBe('c');
    expect(search('max_by(@, &n)', [])).toBeNull();
    expect(search('map(&zz, @)', data)).toEqual([null, null, null]);
    expect(search('sort_by(@, &zz)', [{ n: 1 }])).toEqual([{ n: 1 }]);
  });

  test.each([
    ['sort_by(@, &zz)', "JMESPath function 'sort_by': invalid type, must be number of string"],
    ['sort_by(@, &m)', "JMESPath function 'sort_by': error in sort_by comparison"],
    ['max_by(@, &m)', "JMESPath function 'max_by': invalid type, must be number"],
    ['min_by(@, &zz)', "JMESPath function 'min_by': invalid type, must be number of string"],
  ])('%s fails on mixed types', (expression, message) => {
    expect(() => search(expression, [{ m: 1 }, { m: 'a' }])).toThrow(message);
  });
});

describe('matching', () => {
  table([
    ['regex_match', ['12.*', 123], true],
    ['regex_match', ['^0\\.0000001$', 1e-7], true],
    ['regex_match', ['x', 'abc'], false],
    ['pattern_match', ['1*', 123], true],
    ['pattern_match', ['prefix-*', 'pre'], false],
    ['semver_compare', ['1.2.3', '>=1.0.0'], true],
    ['semver_compare', ['v1.2.3', '>=0.0.0'], false],
  ]);
  failures([
    ['regex_match', ['(', 'a'], 'error parsing regexp: missing closing ): `(`'],
    ['semver_compare', ['1.2.3', 'abc'], 'Could not get version from string: "abc"'],
  ]);
});
