import { regexpMatches } from '../../expression/go/regexp.ts';
import { standardMacros } from '../syntax/macros.ts';
import { type FunctionDeclaration, type Library, overload } from '../types/environment.ts';
import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  intType,
  listType,
  mapType,
  nullType,
  stringType,
  timestampType,
  typeType,
  uintType,
} from '../types/type.ts';
import { add, divide, modulo, multiply, negate, subtract } from '../value/arithmetic.ts';
import { compare, equals } from '../value/compare.ts';
import { attempt, noSuchOverload } from '../value/error.ts';
import { isList, isMap, typeNameOf } from '../value/kinds.ts';
import { mapGet, mapSize } from '../value/map.ts';
import { type Bytes, TypeValue, type Value, type ValueObject } from '../value/value.ts';
import { conversionFunctions } from './conversions.ts';
import { timeFunctions } from './time.ts';

type Binary = (a: Value, b: Value) => Value;

/** The operators. Evaluation knows them; their declarations are for the type checker. */
function binary(name: string, call: Binary, signatures: readonly string[]): FunctionDeclaration[] {
  return signatures.map((signature) => overload(name, signature, call));
}

function comparison(name: string, holds: (order: number) => boolean): FunctionDeclaration[] {
  const pairs = ['bool', 'string', 'bytes', 'timestamp', 'duration'].map((type) => [type, type] as const);
  const numbers = ['int', 'uint', 'double'];
  const mixed = numbers.flatMap((a) => numbers.map((b) => [a, b] as const));
  return binary(
    name,
    (a, b) => holds(compare(a, b)),
    [...pairs, ...mixed].map(([a, b]) => `(${a}, ${b}) -> bool`),
  );
}

function contains(item: Value, container: Value): boolean {
  if (isMap(container)) return mapGet(container, item) !== undefined;
  if (!isList(container)) throw noSuchOverload([item, container]);
  return container.some((element) => equals(element, item));
}

const unevaluated = (): Value => {
  throw noSuchOverload([]);
};

const operators: readonly FunctionDeclaration[] = [
  overload('_?_:_', '(bool, A, A) -> A', unevaluated),
  overload('!_', '(bool) -> bool', (value: boolean) => !value),
  ...binary('_==_', equals, ['(A, A) -> bool']),
  ...binary('_!=_', (a, b) => !equals(a, b), ['(A, A) -> bool']),
  ...binary('_+_', add, [
    '(bytes, bytes) -> bytes',
    '(double, double) -> double',
    '(duration, duration) -> duration',
    '(duration, timestamp) -> timestamp',
    '(timestamp, duration) -> timestamp',
    '(int, int) -> int',
    '(list(A), list(A)) -> list(A)',
    '(string, string) -> string',
    '(uint, uint) -> uint',
  ]),
  ...binary('_-_', subtract, [
    '(double, double) -> double',
    '(duration, duration) -> duration',
    '(int, int) -> int',
    '(timestamp, duration) -> timestamp',
    '(timestamp, timestamp) -> duration',
    '(uint, uint) -> uint',
  ]),
  ...binary('_*_', multiply, ['(double, double) -> double', '(int, int) -> int', '(uint, uint) -> uint']),
  ...binary('_/_', divide, ['(double, double) -> double', '(int, int) -> int', '(uint, uint) -> uint']),
  ...binary('_%_', modulo, ['(int, int) -> int', '(uint, uint) -> uint']),
  overload('-_', '(double) -> double', negate),
  overload('-_', '(int) -> int', negate),
  ...comparison('_<_', (order) => order < 0),
  ...comparison('_<=_', (order) => order <= 0),
  ...comparison('_>_', (order) => order > 0),
  ...comparison('_>=_', (order) => order >= 0),
  overload('_[_]', '(list(A), int) -> A', unevaluated),
  overload('_[_]', '(map(A, B), A) -> B', unevaluated),
  ...binary('@in', contains, ['(A, list(A)) -> bool', '(A, map(A, B)) -> bool']),
];

/** The number of code points. */
export function textLength(text: string): number {
  let count = text.length;
  for (let index = 0; index < text.length - 1; index++) {
    const unit = text.charCodeAt(index);
    if (unit >= 0xd800 && unit < 0xdc00) {
      count--;
      index++;
    }
  }
  return count;
}

const sizes: readonly FunctionDeclaration[] = (['($) -> int', '$.() -> int'] as const).flatMap((form) => [
  overload('size', form.replace('$', 'bytes'), (value: Bytes) => value.data.length),
  overload('size', form.replace('$', 'list(A)'), (value: readonly Value[]) => value.length),
  overload('size', form.replace('$', 'map(A, B)'), (value: ValueObject) => mapSize(value)),
  overload('size', form.replace('$', 'string'), textLength),
]);

/** Whether the pattern matches somewhere in the text. */
function matches(text: string, pattern: string): boolean {
  return attempt(() => regexpMatches(pattern, text));
}

const functions: readonly FunctionDeclaration[] = [
  ...sizes,
  overload('type', '(A) -> type(A)', (value: Value) => new TypeValue(typeNameOf(value))),
  overload('contains', 'string.(string) -> bool', (text: string, part: string) => text.includes(part)),
  overload('startsWith', 'string.(string) -> bool', (text: string, part: string) => text.startsWith(part)),
  overload('endsWith', 'string.(string) -> bool', (text: string, part: string) => text.endsWith(part)),
  overload('matches', 'string.(string) -> bool', matches),
  overload('matches', '(string, string) -> bool', matches),
];

/** The functions, macros and types that every CEL environment has. */
export const standardLibrary: Library = {
  macros: standardMacros,
  functions: [...operators, ...functions, ...conversionFunctions, ...timeFunctions],
  types: [
    boolType,
    bytesType,
    doubleType,
    durationType,
    intType,
    listType(dynType),
    mapType(dynType, dynType),
    nullType,
    stringType,
    timestampType,
    typeType(),
    uintType,
  ],
};
