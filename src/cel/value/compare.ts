import { compareText } from '../../expression/go/format.ts';
import { spendSteps } from '../../json/budget.ts';
import { noSuchOverload } from './error.ts';
import { isList, isPlainObject } from './kinds.ts';
import { CelMap, mapEntries, mapGet, mapSize } from './map.ts';
import {
  Bytes,
  Duration,
  IntegralDouble,
  LazyObject,
  Opaque,
  Optional,
  StructValue,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
  type ValueObject,
} from './value.ts';

/** Equality at run time: numbers by value, values of different kinds are unequal. */
export function equals(a: Value, b: Value): boolean {
  if (a === b) return !(typeof a === 'number' && Number.isNaN(a));
  if (typeof a === 'string') {
    // Only strings of the same length are read to the end.
    if (typeof b === 'string' && a.length === b.length) spendSteps(1 + (a.length >> 5));
    return false;
  }
  if (typeof a === 'boolean' || a === null || b === null) return false;
  if (isNumeric(a)) return isNumeric(b) && compareNumbers(a, b) === 0;
  if (typeof b !== 'object') return false;
  if (isList(a)) return isList(b) && equalLists(a, b);
  if (a instanceof CelMap || isPlainObject(a)) {
    return (b instanceof CelMap || isPlainObject(b)) && equalMaps(a, b);
  }
  return equalSpecial(a, b);
}

function equalLists(a: readonly Value[], b: readonly Value[]): boolean {
  if (a.length !== b.length) return false;
  spendSteps(a.length);
  for (let index = 0; index < a.length; index++) {
    if (!equals(a[index] as Value, b[index] as Value)) return false;
  }
  return true;
}

function equalMaps(a: ValueObject | CelMap, b: ValueObject | CelMap): boolean {
  const size = mapSize(a);
  if (size !== mapSize(b)) return false;
  spendSteps(size);
  for (const [key, value] of mapEntries(a)) {
    const other = mapGet(b, key);
    if (other === undefined || !equals(value, other)) return false;
  }
  return true;
}

function equalSpecial(a: Value, b: Value): boolean {
  if (a instanceof Bytes) return b instanceof Bytes && compareBytes(a.data, b.data) === 0;
  if (a instanceof Timestamp) return b instanceof Timestamp && a.nanoseconds === b.nanoseconds;
  if (a instanceof Duration) return b instanceof Duration && a.nanoseconds === b.nanoseconds;
  if (a instanceof TypeValue) return b instanceof TypeValue && a.name === b.name;
  if (a instanceof Optional) {
    if (!(b instanceof Optional)) return false;
    if (a.value === undefined || b.value === undefined) return a.value === b.value;
    return equals(a.value, b.value);
  }
  if (a instanceof StructValue) {
    return b instanceof StructValue && a.typeName === b.typeName && equalMaps(a.fields, b.fields);
  }
  if (a instanceof Opaque) {
    return (
      b instanceof Opaque &&
      a.typeName === b.typeName &&
      a.identity !== undefined &&
      a.identity === b.identity
    );
  }
  if (a instanceof LazyObject) return false;
  throw noSuchOverload([a, b]);
}

type Numeric = number | bigint | Uint | IntegralDouble;

function isNumeric(value: Value): value is Numeric {
  return (
    typeof value === 'number' ||
    value instanceof IntegralDouble ||
    typeof value === 'bigint' ||
    value instanceof Uint
  );
}

/** NaN when one of the numbers is. Mixed with a double, large integers are rounded as in Go. */
function compareNumbers(a: Numeric, b: Numeric): number {
  const x = typeof a === 'object' ? a.value : a;
  const y = typeof b === 'object' ? b.value : b;
  if (typeof x === 'number' && typeof y === 'number')
    return x < y ? -1 : x > y ? 1 : x === y ? 0 : Number.NaN;
  if (typeof x === 'bigint' && typeof y === 'bigint') return x < y ? -1 : x > y ? 1 : 0;
  const isExact = (value: Numeric): boolean => typeof value !== 'number' || Number.isSafeInteger(value);
  if (isExact(a) && isExact(b)) return x < y ? -1 : x > y ? 1 : 0;
  const [p, q] = [Number(x), Number(y)];
  return p < q ? -1 : p > q ? 1 : p === q ? 0 : Number.NaN;
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const shorter = Math.min(a.length, b.length);
  spendSteps(1 + (shorter >> 3));
  for (let index = 0; index < shorter; index++) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

function compareBigInts(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The order of two values of comparable types; NaN is unordered. */
export function compare(a: Value, b: Value): number {
  if (typeof a === 'string' && typeof b === 'string') {
    spendSteps(1 + (Math.min(a.length, b.length) >> 4));
    return compareText(a, b);
  }
  if (isNumeric(a) && isNumeric(b)) return compareNumbers(a, b);
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b);
  if (a instanceof Timestamp && b instanceof Timestamp) return compareBigInts(a.nanoseconds, b.nanoseconds);
  if (a instanceof Duration && b instanceof Duration) return compareBigInts(a.nanoseconds, b.nanoseconds);
  if (a instanceof Bytes && b instanceof Bytes) return compareBytes(a.data, b.data);
  throw noSuchOverload([a, b]);
}
