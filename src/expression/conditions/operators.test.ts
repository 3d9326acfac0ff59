import { describe, expect, it, test } from 'vitest';
import type { Json } from '../../json/value.ts';
import {
  evaluateOperator,
  isOperator,
  operatorNames,
  operatorSpelling,
  prepareOperator,
} from './operators.ts';

type Row = readonly [operator: string, key: Json, value: Json, expected: boolean];

/** Every row holds with the value known at load and with the value known only later. */
function table(rows: readonly Row[]): void {
  test.each(rows)('%s: %j, %j is %s', (operator, key, value, expected) => {
    expect(evaluateOperator(operator, key, value)).toBe(expected);
    expect(prepareOperator(operator, value)(key, value)).toBe(expected);
  });
}

/** The negation holds for every key but null. */
function withNegation(rows: readonly (readonly [Json, Json, boolean])[]): Row[] {
  return rows.flatMap(([key, value, expected]): Row[] => [
    ['Equals', key, value, expected],
    ['NotEquals', key, value, key !== null && !expected],
  ]);
}

describe('Equals and NotEquals', () => {
  table(
    withNegation([
      [true, true, true],
      [true, false, false],
      [true, 'true', false],
      [10, 10, true],
      [10, '10', true],
      [10.5, '10.50', true],
      [10, 'ten', false],
      [10, true, false],
      [10, null, false],
      ['1h', '60m', true],
      ['1h', 3600, true],
      ['1h', 3600.9, true],
      ['3600', '1h', false],
      ['0', '0s', false],
      ['1h', '1h1m', false],
      ['1Gi', '1024Mi', true],
      ['10', '10.0', true],
      ['5', '*', false],
      ['5', '', false],
      ['10', 10, false],
      ['abc', 'a*', true],
      ['a*', 'abc', false],
      ['abc', 'a?c', true],
      ['abc', 'ABC', false],
      ['', '', true],
      ['a', null, false],
      [{ a: [1] }, { a: [1] }, true],
      [{ a: 1, b: 2 }, { b: 2, a: 1 }, true],
      [{ a: 1 }, '{"a":1}', false],
      [[1, 2], [1, 2], true],
      [[1, 2], [2, 1], false],
      [null, null, false],
      [null, 'x', false],
    ]),
  );
  table([
    ['Equal', 'a', 'a', true],
    ['NotEqual', 'a', 'a', false],
    ['equals', 'a', 'a', false],
  ]);
});

describe('AnyIn, AllIn, AnyNotIn, AllNotIn', () => {
  table([
    ['AnyIn', 'a', ['a', 'b'], true],
    ['AnyIn', 'c', ['a', 'b'], false],
    ['AnyIn', 'abc', ['a*'], true],
    ['AnyIn', 'a*', ['abc'], true],
    ['AnyIn', 5, ['5'], true],
    ['AnyIn', 5, [5], true],
    ['AnyIn', true, ['true'], true],
    ['AnyIn', 'a', [], false],
    ['AnyIn', 'abc', 'a*', true],
    ['AnyIn', 'a*', 'abc', false],
    ['AnyIn', 'b', '["a","b"]', true],
    ['AnyIn', 'c', '["a","b"]', false],
    ['AnyIn', 'a', '[1,2]', false],
    ['AnyNotIn', 'a', '[1,2]', false],
    ['AnyIn', '15m', '10m-20m', true],
    ['AnyIn', '25m', '10m-20m', false],
    ['AnyIn', 5, '1-10', true],
    ['AnyIn', '2Gi', '1Gi-3Gi', true],
    ['AnyIn', 5, '1!-10', false],
    ['AnyIn', 'a', 5, false],
    ['AnyNotIn', 'a', 5, false],
    ['AnyIn', ['a', 'x'], ['x', 'y'], true],
    ['AnyIn', ['a', 'b'], ['x', 'y'], false],
    ['AnyIn', ['x1'], ['x*'], true],
    ['AnyIn', ['x*'], ['x1'], true],
    ['AnyIn', [5], 5, true],
    ['AnyNotIn', [5], 5, false],
    ['AnyNotIn', [6], 5, true],
    ['AllIn', [5], 5, false],
    ['AllNotIn', [6], 5, false],
    ['AnyIn', [1, 20], '1-10', true],
    ['AllIn', [1, 20], '1-10', false],
    ['AllIn', [1, 2], '1-10', true],
    ['AnyNotIn', [1, 20], '1-10', true],
    ['AnyNotIn', [1, 2], '1-10', false],
    ['AllNotIn', [1, 20], '1-10', false],
    ['AllNotIn', [11, 20], '1-10', true],
    ['AllIn', ['a', 'b'], ['a', 'b', 'c'], true],
    ['AllIn', ['a', 'z'], ['a', 'b', 'c'], false],
    ['AllIn', [], ['a'], true],
    ['AllIn', ['a'], 'a', true],
    ['AllNotIn', ['a'], 'a', false],
    ['AnyNotIn', ['a'], 'a', false],
    ['AllIn', ['a', 'b'], '["a","b"]', true],
    ['AnyNotIn', ['a', 'z'], ['a'], true],
    ['AnyNotIn', ['a'], ['a'], false],
    ['AnyNotIn', [], ['a'], false],
    ['AllNotIn', ['x', 'y'], ['a'], true],
    ['AllNotIn', ['a', 'y'], ['a'], false],
    ['AllNotIn', [], ['a'], true],
    ['AnyNotIn', 'a', ['a'], false],
    ['AnyNotIn', 'b', ['a'], true],
    ['AllNotIn', 'b', ['a'], true],
    // A text that is JSON but no list of texts is neither.
    ['AnyIn', '5', '5', true],
    ['AnyNotIn', '5', '5', false],
    ['AnyNotIn', '6', '5', false],
    ['AllNotIn', 6, '5', false],
    ['AllNotIn', 'a', ' true ', false],
    ['AllNotIn', 'a', 'truer', true],
    ['AnyNotIn', 'a', '{"x":1}', false],
    ['AnyNotIn', 'a', '{x', true],
    ['AllNotIn', 'a', '"b"', false],
    ['AllNotIn', 'a', '1.5', false],
    ['AllNotIn', 'a', '[1]', false],
    ['AllIn', '[1]', '[1]', true],
    ['AnyNotIn', ['a'], '5', false],
    ['AllNotIn', ['a'], 'false', false],
    ['AnyIn', ['5'], '5', true],
    ['AnyIn', ['5', '6'], '5', false],
    ['AnyNotIn', 'a', 'null', true],
    ['AnyNotIn', 'x', ['__proto__', 'constructor'], true],
    ['AnyIn', 'constructor', ['a'], false],
  ]);
  for (const operator of ['AnyIn', 'AllIn', 'AnyNotIn', 'AllNotIn', 'In', 'NotIn']) {
    table([
      [operator, null, ['a'], false],
      [operator, { a: 1 }, ['a'], false],
      [operator, 'a', null, false],
      [operator, 'a', { a: 1 }, false],
    ]);
  }
});

describe('In and NotIn', () => {
  table([
    ['In', 'a', ['a*'], true],
    ['In', 'b', ['a*'], false],
    ['NotIn', 'b', ['a*'], true],
    ['In', 'a', '["a"]', true],
    ['NotIn', 'b', '["a"]', true],
    ['In', 'b', 'a', false],
    ['NotIn', 'b', 'a', false],
    ['In', ['a'], ['a', 'b'], true],
    ['In', ['a*'], ['ab'], false],
    ['NotIn', ['z'], ['a', 'b'], true],
    ['NotIn', ['a'], ['a', 'b'], false],
    ['In', ['a'], 'a', true],
    ['NotIn', ['a'], 'a', false],
    ['In', [1], ['1'], false],
    ['NotIn', [1], ['1'], false],
    ['In', ['a'], ['a', 1], false],
  ]);
});

describe('GreaterThan, GreaterThanOrEquals, LessThan, LessThanOrEquals', () => {
  table([
    ['GreaterThan', 10, 5, true],
    ['GreaterThan', 5, 5, false],
    ['GreaterThanOrEquals', 5, 5, true],
    ['LessThan', 4, '5', true],
    ['LessThanOrEquals', 5, '5.0', true],
    ['LessThanOrEquals', 5, 4, false],
    ['GreaterThan', 1, '500m', false],
    ['GreaterThan', '1', '500m', true],
    ['GreaterThan', 7200, '1h', true],
    ['GreaterThan', '2h', 3600, true],
    ['GreaterThan', '2h', '1h', true],
    ['LessThan', '30m', '1h', true],
    ['GreaterThan', '10', '1h', false],
    ['GreaterThan', '1Gi', '1000Mi', true],
    ['LessThan', '1Gi', '1Ki', false],
    ['GreaterThan', '10', 5, true],
    ['LessThan', '1.2.3', '1.10.0', true],
    ['GreaterThan', '1.2.3', '1.2.3-rc1', true],
    ['LessThan', 'v1.2.3', 'v1.10.0', false],
    ['GreaterThan', 'b', 'a', false],
    ['LessThan', 'b', 'a', false],
    ['GreaterThan', 5, 'a', false],
    ['GreaterThan', true, 0, false],
    ['LessThan', null, 5, false],
    ['LessThan', 5, null, false],
    ['LessThan', 5, [6], false],
  ]);
});

describe('Duration operators', () => {
  table([
    ['DurationGreaterThan', '2h', '1h', true],
    ['DurationGreaterThanOrEquals', '60m', '1h', true],
    ['DurationLessThan', 5, '10s', true],
    ['DurationLessThanOrEquals', '10s', 10, true],
    ['DurationLessThan', 11, 10, false],
    ['DurationGreaterThan', 'x', '1h', false],
    ['DurationGreaterThan', '1h', 'x', false],
  ]);
});

it('knows its names and their spelling', () => {
  expect(operatorNames).toHaveLength(18);
  expect([isOperator('AnyIn'), isOperator('anyin'), isOperator('Near')]).toEqual([true, false, false]);
  expect(operatorNames.map((name) => operatorSpelling(name.toLowerCase()))).toEqual(operatorNames);
  expect(operatorSpelling('Near')).toBeUndefined();
  expect(evaluateOperator('Near', 'a', 'a')).toBe(false);
});
