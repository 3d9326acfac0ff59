import { type FunctionDeclaration, type Library, overload } from '../types/environment.ts';
import { checkedInteger } from '../value/arithmetic.ts';
import { compare } from '../value/compare.ts';
import { CelError } from '../value/error.ts';
import { type Integer, toBigInt, toNumber } from '../value/integer.ts';
import { doubleNumber, doubleOf, isList } from '../value/kinds.ts';
import { type IntegralDouble, Uint, type Value } from '../value/value.ts';

type Double = number | IntegralDouble;

/** The largest or smallest of one or two numbers or a list; of equal ones the first. */
function extremum(sign: 1 | -1): (first: Value, second?: Value) => Value {
  return (first, second) => {
    const values = isList(first) ? first : second === undefined ? [first] : [first, second];
    const [start, ...rest] = values;
    if (start === undefined) throw new CelError('the list must not be empty');
    return rest.reduce((best, value) => (compare(value, best) * sign > 0 ? value : best), start);
  };
}

/** In the order of cel-go: an argument whose type is not known yet takes the first. */
const numbers = ['double', 'int', 'uint'];

function extremumOverloads(name: string, sign: 1 | -1): FunctionDeclaration[] {
  const call = extremum(sign);
  const pairs = numbers.flatMap((a) => numbers.map((b) => `(${a}, ${b}) -> ${a === b ? a : 'dyn'}`));
  const signatures = [
    ...numbers.map((type) => `(${type}) -> ${type}`),
    ...pairs,
    ...numbers.map((type) => `(list(${type})) -> ${type}`),
  ];
  return signatures.map((signature) => overload(name, signature, call));
}

function onDouble(name: string, call: (value: number) => number): FunctionDeclaration {
  return overload(`math.${name}`, '(double) -> double', (value: Double) =>
    doubleOf(call(doubleNumber(value))),
  );
}

function testDouble(name: string, call: (value: number) => boolean): FunctionDeclaration {
  return overload(`math.${name}`, '(double) -> bool', (value: Double) => call(doubleNumber(value)));
}

/** Half away from zero, as Go rounds. */
function round(value: number): number {
  return Number.isFinite(value) ? Math.sign(value) * Math.round(Math.abs(value)) : value;
}

function bits(name: string, call: (a: bigint, b: bigint) => bigint): FunctionDeclaration[] {
  return [
    overload(`math.${name}`, '(int, int) -> int', (a: Integer, b: Integer) =>
      checkedInteger(BigInt.asIntN(64, call(toBigInt(a), toBigInt(b)))),
    ),
    overload(`math.${name}`, '(uint, uint) -> uint', (a: Uint, b: Uint) => new Uint(call(a.value, b.value))),
  ];
}

/** Shifts by 64 or more give zero; a right shift fills with zeros. */
function shift(name: string, call: (bitPattern: bigint, count: bigint) => bigint): FunctionDeclaration[] {
  const apply = (value: bigint, by: Integer): bigint => {
    const count = toBigInt(by);
    if (count < 0n) throw new CelError(`math.${name}() negative offset: ${count}`);
    return count >= 64n ? 0n : BigInt.asUintN(64, call(BigInt.asUintN(64, value), count));
  };
  return [
    overload(`math.${name}`, '(int, int) -> int', (value: Integer, by: Integer) =>
      checkedInteger(BigInt.asIntN(64, apply(toBigInt(value), by))),
    ),
    overload(
      `math.${name}`,
      '(uint, int) -> uint',
      (value: Uint, by: Integer) => new Uint(apply(value.value, by)),
    ),
  ];
}

function absolute(value: Integer): Value {
  const number = toBigInt(value);
  return checkedInteger(number < 0n ? -number : number);
}

export const mathLibrary: Library = {
  macros: ['greatest/*', 'least/*'],
  functions: [
    ...extremumOverloads('math.@max', 1),
    ...extremumOverloads('math.@min', -1),
    onDouble('ceil', Math.ceil),
    onDouble('floor', Math.floor),
    onDouble('round', round),
    onDouble('trunc', Math.trunc),
    testDouble('isInf', (value) => Math.abs(value) === Number.POSITIVE_INFINITY),
    testDouble('isNaN', Number.isNaN),
    testDouble('isFinite', Number.isFinite),
    onDouble('abs', Math.abs),
    overload('math.abs', '(int) -> int', absolute),
    overload('math.abs', '(uint) -> uint', (value: Uint) => value),
    // Not Math.sign alone, which keeps the sign of zero.
    onDouble('sign', (value) => Math.sign(value) + 0),
    overload('math.sign', '(int) -> int', (value: Integer) => Math.sign(toNumber(value))),
    overload('math.sign', '(uint) -> uint', (value: Uint) => new Uint(value.value === 0n ? 0n : 1n)),
    ...bits('bitAnd', (a, b) => a & b),
    ...bits('bitOr', (a, b) => a | b),
    ...bits('bitXor', (a, b) => a ^ b),
    overload('math.bitNot', '(int) -> int', (value: Integer) => checkedInteger(~toBigInt(value))),
    overload('math.bitNot', '(uint) -> uint', (value: Uint) => new Uint(BigInt.asUintN(64, ~value.value))),
    ...shift('bitShiftLeft', (value, count) => value << count),
    ...shift('bitShiftRight', (value, count) => value >> count),
    onDouble('sqrt', Math.sqrt),
    overload('math.sqrt', '(int) -> double', (value: Integer) => doubleOf(Math.sqrt(toNumber(value)))),
    overload('math.sqrt', '(uint) -> double', (value: Uint) => doubleOf(Math.sqrt(Number(value.value)))),
  ],
};

/** Kyverno's `math.round(value, places)`. */
export const kyvernoMathLibrary: Library = {
  functions: [
    overload('math.round', '(double, int) -> double', (value: Double, places: Integer) => {
      const factor = 10 ** toNumber(places);
      return doubleOf(round(doubleNumber(value) * factor) / factor);
    }),
  ],
};
