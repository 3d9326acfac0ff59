import { spendSteps, spendText } from '../../json/budget.ts';
import { parseInteger, stringifyJson } from '../../json/json-text.ts';
import { isArray, isObject, type Json } from '../../json/value.ts';

/** Go orders strings by their UTF-8 bytes, which is the order of code points, not of UTF-16 units. */
export function compareText(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length);
  for (let i = 0; i < shorter; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) {
      if (i > 64) spendSteps(i >> 4);
      return codePointRank(x) - codePointRank(y);
    }
  }
  if (shorter > 64) spendSteps(shorter >> 4);
  return a.length - b.length;
}

/** Surrogates stand for code points above U+FFFF, so they sort after every other unit. */
function codePointRank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

/** A number as Go prints a float64 by default (`%v`): `5`, `0.5`, `1e-05`, `1e+21`. */
export function formatGoNumber(value: number): string {
  const magnitude = Math.abs(value);
  if (magnitude === 0 || (magnitude >= 1e-4 && magnitude < 1e21)) return String(value);
  return padExponent(value.toExponential());
}

/** A number as Go's verb `%g` prints it: `100000`, `1e+06`. */
export function formatGoShortest(value: number): string {
  const magnitude = Math.abs(value);
  if (magnitude === 0 || (magnitude >= 1e-4 && magnitude < 1e6)) return String(value);
  return padExponent(value.toExponential());
}

/** A number in Go's shortest exponent form: `5` is `5E+00`. */
export function formatGoExponent(value: number): string {
  return padExponent(value.toExponential()).replace('e', 'E');
}

/** A number without an exponent: `1e-7` is `0.0000001`. */
export function formatGoDecimal(value: number): string {
  const text = String(value);
  if (!text.includes('e')) return text;
  const [, sign = '', whole = '', fraction = '', exponent = ''] = /^(-?)(\d)\.?(\d*)e(.+)$/.exec(text) ?? [];
  const digits = whole + fraction;
  const point = 1 + Number(exponent);
  return sign + (point > 0 ? digits.padEnd(point, '0') : `0.${'0'.repeat(-point)}${digits}`);
}

function padExponent(text: string): string {
  return text.replace(/e([+-])(\d)$/, 'e$10$2');
}

/** Any value as Go's `fmt.Sprint` prints it. Kyverno compares list items in this form. */
export function formatGoValue(value: Json): string {
  spendSteps(2);
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return formatGoNumber(value);
  if (value === null) return '<nil>';
  if (isArray(value)) return charged(`[${value.map(formatGoValue).join(' ')}]`);
  if (!isObject(value)) return String(value);
  const members = sortedKeys(value).map((key) => `${key}:${formatGoValue(value[key] ?? null)}`);
  return charged(`map[${members.join(' ')}]`);
}

/** Each level of a value copies the text of its parts, also of parts that the value holds more than once. */
function charged(text: string): string {
  spendText(text.length);
  return text;
}

export function sortedKeys(object: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(object).sort(compareText);
}

/** JSON as Go encodes it: members sorted by key, `<`, `>`, `&` and line separators escaped. */
export function formatGoJson(value: Json): string {
  const text = encode(value);
  spendSteps(text.length >> 2);
  return text.replace(/[<>&\u2028\u2029\b\f]|\\[bf]/g, escapeForHtml);
}

const escapes: Readonly<Record<string, string>> = { '\\b': '\\b', '\\f': '\\f' };

function escapeForHtml(text: string): string {
  return escapes[text] ?? `\\u${text.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function encode(value: Json): string {
  spendSteps(4);
  if (isArray(value)) return charged(`[${value.map(encode).join(',')}]`);
  if (!isObject(value)) return stringifyJson(value);
  const members = sortedKeys(value).map((key) => `${JSON.stringify(key)}:${encode(value[key] ?? null)}`);
  return charged(`{${members.join(',')}}`);
}

const decimalNumber = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const separator = /(?<=\d)_(?=\d)/g;

/** Parses Go's decimal float syntax. Undefined for values outside JSON (`inf`, `nan`, overflow). */
export function parseGoFloat(text: string): number | undefined {
  const digits = text.includes('_') ? text.replace(separator, '') : text;
  if (!decimalNumber.test(digits)) return undefined;
  const value = Number(digits);
  return Number.isFinite(value) ? value : undefined;
}

/** A decimal number; an integer is exact. */
export function parseGoNumber(text: string): number | bigint | undefined {
  const value = parseGoFloat(text);
  if (value === undefined || Number.isSafeInteger(value) || !/^[+-]?\d+$/.test(text)) return value;
  return parseInteger(text.startsWith('+') ? text.slice(1) : text);
}

const int64Limit = 2n ** 63n;

/** A decimal int64, exactly. */
export function parseGoInteger(text: string): bigint | undefined {
  if (!/^[+-]?\d{1,400}$/.test(text)) return undefined;
  const value = BigInt(text.startsWith('+') ? text.slice(1) : text);
  return value >= -int64Limit && value < int64Limit ? value : undefined;
}
