import { readDuration } from '../../expression/duration.ts';
import { parseGoFloat, parseGoInteger } from '../../expression/go/format.ts';
import { parseRfc3339, type Time } from '../../expression/go/time.ts';
import { type FunctionDeclaration, overload } from '../types/environment.ts';
import { checkedInteger, checkedTimestamp, checkedUint } from '../value/arithmetic.ts';
import { CelError } from '../value/error.ts';
import { type Integer, toBigInt, toNumber } from '../value/integer.ts';
import { doubleNumber, doubleOf } from '../value/kinds.ts';
import { formatDouble, formatSeconds, formatTimestamp, formatValue } from '../value/text.ts';
import {
  Bytes,
  Duration,
  type IntegralDouble,
  type Timestamp,
  type Uint,
  type Value,
} from '../value/value.ts';

const identity = (value: Value): Value => value;
const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const truths: ReadonlySet<string> = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);
const falsehoods: ReadonlySet<string> = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False']);

function textToBool(text: string): boolean {
  if (truths.has(text)) return true;
  if (falsehoods.has(text)) return false;
  throw new CelError(`type conversion error from 'string' to 'bool'`);
}

function textToInteger(text: string): Value {
  const value = parseGoInteger(text);
  if (value === undefined)
    throw new CelError(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  return checkedInteger(value);
}

function textToUint(text: string): Value {
  if (!/^\d{1,100}$/.test(text)) {
    throw new CelError(`strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`);
  }
  return checkedUint(BigInt(text));
}

function textToDouble(text: string): Value {
  const special = /^([+-]?)(inf|infinity|nan)$/i.exec(text);
  if (special !== null) {
    if (special[2]?.toLowerCase() === 'nan') return Number.NaN;
    return special[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  }
  const value = parseGoFloat(text);
  if (value === undefined) {
    throw new CelError(`strconv.ParseFloat: parsing ${JSON.stringify(text)}: invalid syntax`);
  }
  return doubleOf(value);
}

/** Truncated towards zero. Doubles at the ends of the range do not convert, because rounding may have put them there. */
function doubleToInteger(value: number | IntegralDouble): Value {
  const number = doubleNumber(value);
  if (!(number > -(2 ** 63) && number < 2 ** 63)) throw new CelError('integer overflow');
  return checkedInteger(BigInt(Math.trunc(number)));
}

function doubleToUint(value: number | IntegralDouble): Value {
  const number = doubleNumber(value);
  if (!(number >= 0 && number < 2 ** 64)) throw new CelError('unsigned integer overflow');
  return checkedUint(BigInt(Math.trunc(number)));
}

function bytesToText(value: Bytes): string {
  try {
    return decoder.decode(value.data);
  } catch {
    throw new CelError('invalid UTF-8 in bytes, cannot convert to string');
  }
}

function textToTimestamp(text: string): Timestamp {
  let time: Time;
  try {
    time = parseRfc3339(text);
  } catch {
    throw new CelError(`invalid RFC 3339 timestamp ${JSON.stringify(text)}`);
  }
  return checkedTimestamp(time.nanoseconds, time.offsetSeconds);
}

function textToDuration(text: string): Duration {
  const value = readDuration(text);
  if (typeof value === 'string') throw new CelError(value);
  return new Duration(value);
}

export const conversionFunctions: readonly FunctionDeclaration[] = [
  overload('dyn', '(A) -> dyn', identity),
  overload('bool', '(bool) -> bool', identity),
  overload('bool', '(string) -> bool', textToBool),
  overload('bytes', '(bytes) -> bytes', identity),
  overload('bytes', '(string) -> bytes', (text: string) => new Bytes(encoder.encode(text))),
  overload('double', '(double) -> double', identity),
  overload('double', '(int) -> double', (value: Integer) => doubleOf(toNumber(value))),
  overload('double', '(string) -> double', textToDouble),
  overload('double', '(uint) -> double', (value: Uint) => doubleOf(Number(value.value))),
  overload('duration', '(duration) -> duration', identity),
  overload('duration', '(string) -> duration', textToDuration),
  overload('int', '(int) -> int', identity),
  overload('int', '(double) -> int', doubleToInteger),
  overload('int', '(duration) -> int', (value: Duration) => checkedInteger(value.nanoseconds)),
  overload('int', '(string) -> int', textToInteger),
  overload('int', '(timestamp) -> int', (value: Timestamp) => checkedInteger(seconds(value.nanoseconds))),
  overload('int', '(uint) -> int', (value: Uint) => checkedInteger(value.value)),
  overload('string', '(string) -> string', identity),
  overload('string', '(bool) -> string', (value: boolean) => String(value)),
  overload('string', '(bytes) -> string', bytesToText),
  overload('string', '(double) -> string', (value: number | IntegralDouble) =>
    formatDouble(doubleNumber(value)),
  ),
  overload('string', '(duration) -> string', formatSeconds),
  overload('string', '(int) -> string', (value: Integer) => formatValue(value)),
  overload('string', '(timestamp) -> string', formatTimestamp),
  overload('string', '(uint) -> string', (value: Uint) => String(value.value)),
  overload('timestamp', '(timestamp) -> timestamp', identity),
  overload('timestamp', '(int) -> timestamp', (value: Integer) =>
    checkedTimestamp(toBigInt(value) * 1_000_000_000n),
  ),
  overload('timestamp', '(string) -> timestamp', textToTimestamp),
  overload('uint', '(uint) -> uint', identity),
  overload('uint', '(double) -> uint', doubleToUint),
  overload('uint', '(int) -> uint', (value: Integer) => checkedUint(toBigInt(value))),
  overload('uint', '(string) -> uint', textToUint),
];

/** Whole seconds, rounded down. */
function seconds(nanoseconds: bigint): bigint {
  const quotient = nanoseconds / 1_000_000_000n;
  return nanoseconds % 1_000_000_000n < 0n ? quotient - 1n : quotient;
}
