import { spendList, spendText } from '../../json/budget.ts';
import { CelError, noSuchOverload } from './error.ts';
import { type Integer, integerOf, isInteger, maximumInteger, minimumInteger, toBigInt } from './integer.ts';
import { doubleNumber, doubleOf, isDouble, isList } from './kinds.ts';
import { Bytes, Duration, Timestamp, Uint, type Value } from './value.ts';

/** What no Kubernetes object can hold; larger strings and lists are an error, not a lack of memory. */
const longestString = 2 ** 24;
const longestList = 2 ** 22;

const maximumUint = 2n ** 64n - 1n;
/** 0001-01-01T00:00:00Z to 9999-12-31T23:59:59.999999999Z. */
const firstMoment = -62_135_596_800_000_000_000n;
const lastMoment = 253_402_300_799_999_999_999n;

export function checkedInteger(value: bigint): Integer {
  const integer = integerOf(value);
  if (integer === undefined) throw new CelError('integer overflow');
  return integer;
}

export function checkedUint(value: bigint): Uint {
  if (value < 0n || value > maximumUint) throw new CelError('unsigned integer overflow');
  return new Uint(value);
}

export function checkedTimestamp(nanoseconds: bigint, offsetSeconds = 0): Timestamp {
  if (nanoseconds < firstMoment || nanoseconds > lastMoment) throw new CelError('timestamp overflow');
  return new Timestamp(nanoseconds, offsetSeconds);
}

export function checkedDuration(nanoseconds: bigint): Duration {
  if (nanoseconds < minimumInteger || nanoseconds > maximumInteger) throw new CelError('duration overflow');
  return new Duration(nanoseconds);
}

export function checkedString(text: string): string {
  if (text.length > longestString) throw new CelError(`a string is longer than ${longestString} characters`);
  return text;
}

export function checkedList(list: readonly Value[]): readonly Value[] {
  if (list.length > longestList) throw new CelError(`a list has more than ${longestList} elements`);
  return list;
}

function joined(a: string, b: string): string {
  const text = checkedString(a + b);
  spendText(text.length);
  return text;
}

function concatenateLists(a: readonly Value[], b: readonly Value[]): readonly Value[] {
  spendList(a.length + b.length);
  return checkedList([...a, ...b]);
}

export function concatenateBytes(a: Bytes, b: Bytes): Bytes {
  const length = a.data.length + b.data.length;
  if (length > longestString) throw new CelError(`bytes are longer than ${longestString}`);
  spendText(length);
  const data = new Uint8Array(length);
  data.set(a.data);
  data.set(b.data, a.data.length);
  return new Bytes(data);
}

/** An operation over two ints, two uints or two doubles. */
interface NumberOperation {
  readonly small: (a: number, b: number) => number;
  readonly exact: (a: bigint, b: bigint) => bigint;
}

function calculate(operation: NumberOperation, a: Value, b: Value): Value {
  if (isInteger(a) && isInteger(b)) {
    if (typeof a === 'number' && typeof b === 'number') {
      const result = operation.small(a, b);
      if (Number.isSafeInteger(result)) return result;
    }
    return checkedInteger(operation.exact(toBigInt(a), toBigInt(b)));
  }
  if (isDouble(a) && isDouble(b)) return doubleOf(operation.small(doubleNumber(a), doubleNumber(b)));
  if (a instanceof Uint && b instanceof Uint) return checkedUint(operation.exact(a.value, b.value));
  throw noSuchOverload([a, b]);
}

const addition: NumberOperation = { small: (a, b) => a + b, exact: (a, b) => a + b };
const subtraction: NumberOperation = { small: (a, b) => a - b, exact: (a, b) => a - b };
// -0 is an int zero, so that `0 * -1` stays an int without a sign.
const multiplication: NumberOperation = { small: (a, b) => a * b, exact: (a, b) => a * b };

export function add(a: Value, b: Value): Value {
  if (typeof a === 'number' && typeof b === 'number') {
    const sum = a + b;
    if (Number.isSafeInteger(sum) && Number.isSafeInteger(a) && Number.isSafeInteger(b)) return sum;
  }
  if (typeof a === 'string' && typeof b === 'string') return joined(a, b);
  if (isList(a) && isList(b)) return b.length === 0 ? a : a.length === 0 ? b : concatenateLists(a, b);
  if (a instanceof Bytes && b instanceof Bytes) return concatenateBytes(a, b);
  if (a instanceof Duration) {
    if (b instanceof Duration) return checkedDuration(a.nanoseconds + b.nanoseconds);
    if (b instanceof Timestamp) return moved(b, a.nanoseconds);
  }
  if (a instanceof Timestamp && b instanceof Duration) return moved(a, b.nanoseconds);
  return calculate(addition, a, b);
}

function moved({ nanoseconds, offsetSeconds }: Timestamp, by: bigint): Timestamp {
  return checkedTimestamp(nanoseconds + by, offsetSeconds);
}

export function subtract(a: Value, b: Value): Value {
  if (a instanceof Timestamp && b instanceof Timestamp) return checkedDuration(a.nanoseconds - b.nanoseconds);
  if (a instanceof Timestamp && b instanceof Duration) return moved(a, -b.nanoseconds);
  if (a instanceof Duration && b instanceof Duration) return checkedDuration(a.nanoseconds - b.nanoseconds);
  return calculate(subtraction, a, b);
}

export function multiply(a: Value, b: Value): Value {
  const product = calculate(multiplication, a, b);
  return Object.is(product, -0) ? 0 : product;
}

export function divide(a: Value, b: Value): Value {
  if (isDouble(a) && isDouble(b)) return doubleOf(doubleNumber(a) / doubleNumber(b));
  if (isZero(b)) throw new CelError('division by zero');
  if (isInteger(a) && isInteger(b)) return checkedInteger(toBigInt(a) / toBigInt(b));
  if (a instanceof Uint && b instanceof Uint) return new Uint(a.value / b.value);
  throw noSuchOverload([a, b]);
}

export function modulo(a: Value, b: Value): Value {
  if (isZero(b)) throw new CelError('modulus by zero');
  if (isInteger(a) && isInteger(b)) {
    if (b === -1) checkedInteger(-toBigInt(a));
    return checkedInteger(toBigInt(a) % toBigInt(b));
  }
  if (a instanceof Uint && b instanceof Uint) return new Uint(a.value % b.value);
  throw noSuchOverload([a, b]);
}

function isZero(value: Value): boolean {
  return value === 0 || (value instanceof Uint && value.value === 0n);
}

export function negate(value: Value): Value {
  if (isInteger(value)) return checkedInteger(-toBigInt(value));
  if (isDouble(value)) return doubleOf(-doubleNumber(value));
  throw noSuchOverload([value]);
}
