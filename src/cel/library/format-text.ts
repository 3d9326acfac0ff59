import { compareText, formatGoDecimal } from '../../expression/go/format.ts';
import { spendList, spendText } from '../../json/budget.ts';
import { checkedString } from '../value/arithmetic.ts';
import { CelError } from '../value/error.ts';
import { isInteger, toBigInt } from '../value/integer.ts';
import { doubleNumber, isDouble, isList, isMap, typeNameOf } from '../value/kinds.ts';
import { mapEntries } from '../value/map.ts';
import { formatDouble, formatSeconds, formatTimestamp } from '../value/text.ts';
import { Bytes, Duration, Timestamp, TypeValue, Uint, type Value } from '../value/value.ts';

/**
 * `string.format` has two forms: Kubernetes uses an older one that writes nested values as CEL literals and numbers
 * in the American way; cel-spec defines a newer one.
 */
export type FormatStyle = 'kubernetes' | 'standard';

/** One `%` clause of a format string. */
export interface FormatClause {
  readonly letter: string;
  readonly precision: number | undefined;
}

const clauseLetters = 'sdfebxXo';
const defaultPrecision = 6;
const largestPrecision = 100;

/** Splits a format string into text and clauses; throws CelError for a clause that does not exist. */
export function parseFormat(format: string, argumentCount: number): readonly (string | FormatClause)[] {
  const parts: (string | FormatClause)[] = [];
  const clause = /%(?:%|(\.\d*)?([\s\S])?)|[^%]+/g;
  let used = 0;
  for (const [all, dot, letter] of format.matchAll(clause)) {
    if (!all.startsWith('%')) parts.push(all);
    else if (all === '%%') parts.push('%');
    else {
      if (used >= argumentCount) throw new CelError(`index ${used} out of range`);
      used++;
      parts.push(readClause(dot, letter));
    }
  }
  return parts;
}

function readClause(dot: string | undefined, letter: string | undefined): FormatClause {
  const failed = 'could not parse formatting clause';
  if (letter === undefined) {
    throw new CelError(
      dot === undefined ? 'unexpected end of string' : `${failed}: could not find end of precision specifier`,
    );
  }
  const precision = dot === undefined ? undefined : Number(dot.slice(1));
  if (dot === '.') throw new CelError(`${failed}: error while parsing precision`);
  if (precision !== undefined && precision > largestPrecision) {
    throw new CelError(
      `${failed}: precision ${precision} exceeds maximum allowed precision ${largestPrecision}`,
    );
  }
  if (!clauseLetters.includes(letter)) {
    throw new CelError(`${failed}: unrecognized formatting clause "${letter}"`);
  }
  return { letter, precision };
}

export function formatText(format: string, args: readonly Value[], style: FormatStyle): string {
  let result = '';
  let index = 0;
  for (const part of parseFormat(format, args.length)) {
    const added = typeof part === 'string' ? part : formatClause(part, args[index++] as Value, style);
    spendText(added.length);
    result = checkedString(result + added);
  }
  return result;
}

function formatClause({ letter, precision }: FormatClause, value: Value, style: FormatStyle): string {
  const formatted = formatLetter(letter, precision ?? defaultPrecision, value, style);
  if (formatted === undefined) throw new CelError(clauseError(letter, typeNameOf(value), style));
  return formatted;
}

/** Why a clause does not take a value of a type. */
export function clauseError(letter: string, type: string, style: FormatStyle): string {
  const [integers, doubles] =
    style === 'kubernetes' ? ['integers', 'doubles'] : ['ints and uints', 'ints, uints, and doubles'];
  const wording: Readonly<Record<string, string>> = {
    s: 'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps',
    d: `decimal clause can only be used on ${style === 'kubernetes' ? integers : doubles}`,
    f: `fixed-point clause can only be used on ${doubles}`,
    e: `scientific clause can only be used on ${doubles}`,
    b: `only ${style === 'kubernetes' ? 'integers and bools' : 'ints, uints, and bools'} can be formatted as binary`,
    o: `octal clause can only be used on ${integers}`,
  };
  const hex = `only ${style === 'kubernetes' ? 'integers, byte buffers, and strings' : 'ints, uints, bytes, and strings'} can be formatted as hex`;
  return `error during formatting: ${wording[letter] ?? hex}, was given ${type}`;
}

/** The kinds of static types that a clause takes. */
export function clauseTypes(letter: string, style: FormatStyle): readonly string[] {
  switch (letter) {
    case 's':
      return 'list map int uint double bool string timestamp bytes duration type null'.split(' ');
    case 'd':
      return style === 'kubernetes' ? ['int', 'uint'] : ['int', 'uint', 'double'];
    case 'f':
    case 'e':
      return style === 'kubernetes' ? ['double', 'string'] : ['int', 'uint', 'double'];
    case 'b':
      return ['int', 'uint', 'bool'];
    case 'o':
      return ['int', 'uint'];
    default:
      return ['int', 'uint', 'string', 'bytes'];
  }
}

function formatLetter(
  letter: string,
  precision: number,
  value: Value,
  style: FormatStyle,
): string | undefined {
  const integer = isInteger(value) ? toBigInt(value) : value instanceof Uint ? value.value : undefined;
  switch (letter) {
    case 's':
      return style === 'kubernetes' ? formatWords(value) : formatPlain(value);
    case 'd':
      if (integer !== undefined) return integer.toString();
      return style === 'standard' && isDouble(value) ? formatLongDouble(doubleNumber(value)) : undefined;
    case 'b':
      return typeof value === 'boolean' ? String(Number(value)) : integer?.toString(2);
    case 'o':
      return integer?.toString(8);
    case 'x':
      return integer?.toString(16) ?? hexText(value);
    case 'X':
      return (integer?.toString(16) ?? hexText(value))?.toUpperCase();
    default: {
      const number = formatNumber(value, integer, style);
      if (number === undefined) return undefined;
      if (!Number.isFinite(number)) {
        const text = infinityText(number, style);
        return letter === 'e' && style === 'kubernetes' ? text.padStart(precision) : text;
      }
      if (letter === 'f')
        return style === 'kubernetes' ? group(fixed(number, precision)) : fixed(number, precision);
      return style === 'kubernetes' ? superscriptExponent(number) : exponent(number, precision);
    }
  }
}

function formatNumber(value: Value, integer: bigint | undefined, style: FormatStyle): number | undefined {
  if (isDouble(value)) return doubleNumber(value);
  if (style === 'standard') return integer === undefined ? undefined : Number(integer);
  const named = typeof value === 'string' && ['NaN', 'Infinity', '-Infinity'].includes(value);
  return named ? Number(value) : undefined;
}

function infinityText(value: number, style: FormatStyle): string {
  if (style === 'standard' || Number.isNaN(value)) return String(value);
  return value > 0 ? '∞' : '-∞';
}

/** Rounds half to even, as Go does; the built-in function rounds half up. */
function fixed(value: number, precision: number): string {
  if (Math.abs(value) >= 1e21) {
    return `${BigInt(value)}${precision === 0 ? '' : `.${'0'.repeat(precision)}`}`;
  }
  const text = value.toFixed(precision);
  const longer = precision < 99 ? value.toFixed(Math.min(precision + 40, 100)) : '';
  const tail = longer.slice(text.length + (precision === 0 ? 1 : 0));
  const isTie = /^50*$/.test(tail) && value === Number(longer);
  if (!isTie) return text;
  const truncated = longer.slice(0, text.length);
  const last = Number(truncated.at(-1));
  return last % 2 === 0 ? truncated : text;
}

function exponent(value: number, precision: number): string {
  return value.toExponential(precision).replace(/e([+-])(\d)$/, 'e$10$2');
}

const superscripts = '⁰¹²³⁴⁵⁶⁷⁸⁹';

function superscriptExponent(value: number): string {
  const [mantissa = '', power = ''] = exponent(value, defaultPrecision).split('e');
  const digits = power.slice(1).replace(/\d/g, (digit) => superscripts[Number(digit)] ?? digit);
  return `${mantissa}×10${power.startsWith('-') ? '⁻' : ''}${digits}`;
}

/** Commas between groups of three digits. */
function group(text: string): string {
  return text.replace(/\d+/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ','));
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const strictDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function hexText(value: Value): string | undefined {
  const data =
    typeof value === 'string' ? encoder.encode(value) : value instanceof Bytes ? value.data : undefined;
  return data && Array.from(data, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function formatLongDouble(value: number): string {
  return Number.isFinite(value) ? formatGoDecimal(value) : String(value);
}

/** Values as cel-spec writes them: `[a, 1, 2.5]`. */
function formatPlain(value: Value): string | undefined {
  if (isDouble(value)) return formatLongDouble(doubleNumber(value));
  if (isList(value)) return formatItems(value, formatPlain, ', ', '[', ']');
  if (isMap(value)) {
    const entries = mapEntries(value).map(([key, item]) => [formatPlain(key), formatPlain(item)] as const);
    return joinEntries(entries, ': ');
  }
  return formatScalar(value);
}

function formatScalar(value: Value): string | undefined {
  if (value === null) return 'null';
  if (typeof value === 'string' || typeof value === 'boolean') return String(value);
  if (isInteger(value)) return toBigInt(value).toString();
  if (value instanceof Uint) return value.value.toString();
  if (value instanceof Bytes) return formatBytes(value);
  if (value instanceof Timestamp) return formatTimestamp(value);
  if (value instanceof Duration) return formatSeconds(value);
  return value instanceof TypeValue ? value.name : undefined;
}

function formatBytes({ data }: Bytes): string {
  try {
    return strictDecoder.decode(data);
  } catch {
    throw new CelError('error during formatting: invalid UTF-8 in bytes, cannot convert to string');
  }
}

/** Values as Kubernetes writes them: at the top like `string(value)`, below as CEL literals. */
function formatWords(value: Value): string | undefined {
  if (isDouble(value)) return formatDouble(doubleNumber(value));
  if (isList(value)) return formatItems(value, formatLiteral, ', ', '[', ']');
  if (isMap(value)) {
    const entries = mapEntries(value).map(
      ([key, item]) => [formatLiteral(key), formatLiteral(item)] as const,
    );
    return joinEntries(entries, ':');
  }
  return formatScalar(value);
}

function formatLiteral(value: Value): string | undefined {
  if (typeof value === 'string') return JSON.stringify(value);
  if (value instanceof Bytes) return `b${JSON.stringify(decoder.decode(value.data))}`;
  if (value instanceof Timestamp) return `timestamp("${formatTimestamp(value)}")`;
  if (value instanceof Duration) return `duration("${formatSeconds(value)}")`;
  if (!isDouble(value)) return formatWords(value);
  const number = doubleNumber(value);
  return Number.isFinite(number) ? fixed(number, defaultPrecision) : `"${formatDouble(number)}"`;
}

function formatItems(
  items: readonly Value[],
  format: (value: Value) => string | undefined,
  separator: string,
  open: string,
  close: string,
): string | undefined {
  spendList(items.length);
  const texts = items.map(format);
  return texts.includes(undefined) ? undefined : `${open}${texts.join(separator)}${close}`;
}

function joinEntries(
  entries: readonly (readonly [string | undefined, string | undefined])[],
  colon: string,
): string | undefined {
  spendList(entries.length);
  if (entries.some((entry) => entry.includes(undefined))) return undefined;
  const sorted = [...entries].sort(([a = ''], [b = '']) => compareText(a, b));
  return `{${sorted.map(([key, value]) => `${key}${colon}${value}`).join(', ')}}`;
}
