import { assignMember } from './edit.ts';
import { isArray, type Json, type JsonObject } from './value.ts';

/**
 * Parses JSON. Integers beyond ±(2^53 − 1) become bigints. Throws SyntaxError, also for a number that is
 * out of the range of a double.
 *
 * @param bytes the text in UTF-8, if available: they are faster to scan.
 * @example parseJson('{"a":9007199254740993}') // { a: 9007199254740993n }
 */
export function parseJson(text: string, bytes?: Uint8Array): Json {
  const value = JSON.parse(text) as Json;
  const isLong = bytes === undefined ? longInteger.test(text) : hasLongInteger(bytes);
  return isLong || largeExponent.test(text) ? exactValue(text, value) : value;
}

/** The value of a string that is JSON; otherwise undefined. */
export function tryParseJson(text: string): Json | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** An integer in decimal notation; infinite if it is out of the range of a double. */
export function parseInteger(digits: string): number | bigint {
  const value = Number(digits);
  return Number.isSafeInteger(value) || !Number.isFinite(value) ? value : BigInt(digits);
}

/** A computed number as Json represents it: a large double is the integer that its JSON is read as. */
export function jsonNumber(value: number): number | bigint {
  if (!Number.isInteger(value) || Number.isSafeInteger(value) || Math.abs(value) >= 1e21) return value;
  return BigInt(String(value));
}

/** The integer as Json represents it. */
export function jsonInteger(value: bigint): number | bigint {
  const double = Number(value);
  return Number.isSafeInteger(double) ? double : value;
}

/** Writes a value that contains Json as JSON, like JSON.stringify, which throws for a bigint. */
export function stringifyJson(value: unknown, indent?: number): string {
  try {
    return JSON.stringify(value, null, indent);
  } catch (error) {
    if (error instanceof TypeError && /bigint/i.test(error.message)) return writeExact(value, indent);
    throw error;
  }
}

/** JSON with escapes instead of characters beyond ASCII. */
export function asciiJson(value: unknown): string {
  if (typeof value === 'string' && needsNoEscape.test(value)) return `"${value}"`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
  return stringifyJson(value).replace(/[^\x00-\x7f]/g, escapeUnit);
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Integers of up to 15 digits fit a double. */
const shortestLong = 16;
const longInteger = /[0-9]{16}/;
/** Doubles end at 1.8e308. */
const largeExponent = /[0-9][eE]\+?[0-9]{3,}(?:[\s,\]}]|$)/;

/**
 * Whether the bytes have a run of 16 digits. Every such run contains a byte at a multiple of 16, so the scan reads
 * only those: it costs a review about 0.3 %.
 */
function hasLongInteger(bytes: Uint8Array): boolean {
  for (let at = shortestLong - 1; at < bytes.length; at += shortestLong) {
    if (isDigit(bytes[at]) && isInLongRun(bytes, at)) return true;
  }
  return false;
}

function isInLongRun(bytes: Uint8Array, at: number): boolean {
  let start = at;
  let end = at + 1;
  while (end - start < shortestLong && isDigit(bytes[start - 1])) start--;
  while (end - start < shortestLong && isDigit(bytes[end])) end++;
  return end - start >= shortestLong;
}

function isDigit(code = 0): boolean {
  return code >= 0x30 && code <= 0x39;
}

/** Node 20 gives no access to the source of a number, so integers are parsed a second time as strings. */
function exactValue(text: string, value: Json): Json {
  const quoted = quoteIntegers(text);
  return quoted === undefined ? value : restoreIntegers(value, JSON.parse(quoted) as Json);
}

const numberToken = /-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?/g;

/** The text with quotes around each unsafe integer; undefined when there are none. */
function quoteIntegers(text: string): string | undefined {
  let quoted = '';
  let copied = 0;
  for (let at = 0; at < text.length; ) {
    const quote = text.indexOf('"', at);
    const end = quote === -1 ? text.length : quote;
    for (const match of text.slice(at, end).matchAll(numberToken)) {
      const [token, fraction, exponent] = match;
      if (!Number.isFinite(Number(token)))
        throw new SyntaxError(`the number ${shorten(token)} is out of range`);
      const isInteger = fraction === undefined && exponent === undefined;
      if (!isInteger || Number.isSafeInteger(Number(token))) continue;
      const start = at + match.index;
      quoted += `${text.slice(copied, start)}"${token}"`;
      copied = start + token.length;
    }
    at = quote === -1 ? text.length : endOfString(text, quote);
  }
  return copied === 0 ? undefined : quoted + text.slice(copied);
}

function shorten(token: string): string {
  return token.length > 40 ? `${token.slice(0, 40)}…` : token;
}

/** The offset after the string that starts at `quote`. */
function endOfString(text: string, quote: number): number {
  for (let at = text.indexOf('"', quote + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text[at - 1 - slashes] === '\\') slashes++;
    if (slashes % 2 === 0) return at + 1;
  }
  return text.length;
}

/** Where `value` has a number and `quoted` a string, the string is the exact integer. */
function restoreIntegers(value: Json, quoted: Json): Json {
  const root: Record<string, Json> = { value };
  const open: [Record<string, Json>, Record<string, Json>][] = [[root, { value: quoted }]];
  for (let pair = open.pop(); pair !== undefined; pair = open.pop()) {
    const [container, other] = pair;
    for (const key of Object.keys(container)) {
      const member = container[key] as Json;
      const exact = other[key] as Json;
      if (typeof member === 'number' && typeof exact === 'string') {
        assignMember(container, key, BigInt(exact));
      } else if (typeof member === 'object' && member !== null) {
        open.push([member as Record<string, Json>, exact as Record<string, Json>]);
      }
    }
  }
  return root['value'] as Json;
}

/** JSON.stringify with bigints as numbers. */
function writeExact(value: unknown, indent = 0): string {
  const step = ' '.repeat(indent);
  const write = (item: unknown, pad: string): string | undefined => {
    if (typeof item === 'bigint') return String(item);
    if (typeof item !== 'object' || item === null) return JSON.stringify(item);
    if ('toJSON' in item && typeof item.toJSON === 'function') return write(item.toJSON(), pad);
    const inner = pad + step;
    const parts = Array.isArray(item)
      ? item.map((each) => write(each, inner) ?? 'null')
      : Object.entries(item).flatMap(([key, member]) => {
          const text = write(member, inner);
          return text === undefined ? [] : [`${JSON.stringify(key)}:${indent > 0 ? ' ' : ''}${text}`];
        });
    const [open, close] = Array.isArray(item) ? '[]' : '{}';
    if (parts.length === 0) return `${open}${close}`;
    if (indent === 0) return `${open}${parts.join(',')}${close}`;
    return `${open}\n${inner}${parts.join(`,\n${inner}`)}\n${pad}${close}`;
  };
  return write(value, '') ?? 'null';
}

const texts = new WeakMap<object, string>();
const notMadeYet = '';

/** Marks a value that occurs in patch after patch, such as a constant of a policy: it is serialized only once. */
export function shareText<Value extends readonly Json[] | JsonObject>(value: Value): Value {
  texts.set(value, notMadeYet);
  return value;
}

/** The value as JSON. */
export function jsonText(value: Json): string {
  if (typeof value === 'string') return quote(value);
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : 'null';
  if (typeof value !== 'object' || value === null) return String(value);
  const shared = texts.get(value);
  if (shared === undefined) return isArray(value) ? stringifyJson(value) : membersText(value as JsonObject);
  if (shared !== notMadeYet) return shared;
  const text = stringifyJson(value);
  texts.set(value, text);
  return text;
}

/** Faster than JSON.stringify for objects of a few strings, which most new ones are. What is below them it leaves to JSON.stringify. */
function membersText(object: JsonObject): string {
  let text = '';
  for (const key in object) {
    const value = object[key];
    if (value === undefined) continue;
    const written = typeof value === 'object' ? stringifyJson(value) : jsonText(value);
    text += `${text === '' ? '{' : ','}${quote(key)}:${written}`;
  }
  return text === '' ? '{}' : `${text}}`;
}

const needsNoEscape = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

/** Twice as fast as JSON.stringify for strings without escapes. */
function quote(text: string): string {
  return needsNoEscape.test(text) ? `"${text}"` : JSON.stringify(text);
}
