import { replaceText, splitText } from '../../expression/go/strings.ts';
import { spendList, spendSteps, spendText } from '../../json/budget.ts';
import { type FunctionDeclaration, type Library, overload } from '../types/environment.ts';
import { checkedString } from '../value/arithmetic.ts';
import { CelError, noSuchOverload } from '../value/error.ts';
import { type Integer, toNumber } from '../value/integer.ts';
import type { Value } from '../value/value.ts';
import { type FormatStyle, formatText } from './format-text.ts';

/** Positions count code points. Strings without surrogates, nearly all, are indexed directly. */
function units(text: string): string | readonly string[] {
  spendText(text.length);
  return /[\ud800-\udfff]/.test(text) ? Array.from(text) : text;
}

function outOfRange(index: number): CelError {
  return new CelError(`index out of range: ${index}`);
}

function charAt(text: string, position: Integer): string {
  const characters = units(text);
  const index = toNumber(position);
  if (index < 0 || index > characters.length) throw outOfRange(index);
  return characters[index] ?? '';
}

function substring(text: string, from: Integer, to?: Integer): string {
  const characters = units(text);
  const start = toNumber(from);
  const end = to === undefined ? characters.length : toNumber(to);
  if (to !== undefined && start > end) {
    throw new CelError(`invalid substring range. start: ${start}, end: ${end}`);
  }
  if (start < 0 || start > characters.length) throw outOfRange(start);
  if (end < 0 || end > characters.length) throw outOfRange(end);
  const part = characters.slice(start, end);
  return typeof part === 'string' ? part : part.join('');
}

function matchesAt(
  characters: string | readonly string[],
  part: string | readonly string[],
  start: number,
): boolean {
  let length = 0;
  while (length < part.length && characters[start + length] === part[length]) length++;
  // A part that nearly matches everywhere makes a search quadratic.
  spendSteps(1 + (length >> 3));
  return length === part.length;
}

function indexOf(text: string, part: string, from: Integer = 0): number {
  const start = toNumber(from);
  if (start < 0) throw outOfRange(start);
  const characters = units(text);
  if (part === '') return Math.min(start, characters.length);
  if (typeof characters === 'string') return characters.indexOf(part, start);
  const wanted = units(part);
  for (let index = start; index <= characters.length - wanted.length; index++) {
    if (matchesAt(characters, wanted, index)) return index;
  }
  return -1;
}

function lastIndexOf(text: string, part: string, from?: Integer): number {
  const characters = units(text);
  const start = from === undefined ? characters.length : toNumber(from);
  if (start < 0) throw outOfRange(start);
  if (part === '') return Math.min(start, characters.length);
  if (from !== undefined && start >= characters.length) return -1;
  const wanted = units(part);
  for (let index = Math.min(start, characters.length - wanted.length); index >= 0; index--) {
    if (matchesAt(characters, wanted, index)) return index;
  }
  return -1;
}

function replace(text: string, search: string, replacement: string, count: Integer = -1): string {
  const occurrences = search === '' ? text.length + 1 : text.length / search.length;
  if (occurrences * replacement.length > 2 ** 26) throw new CelError('the result of replace() is too long');
  const result = checkedString(replaceText(text, search, replacement, toNumber(count)));
  spendText(result.length);
  return result;
}

function split(text: string, separator: string, count: Integer = -1): readonly string[] {
  const limit = toNumber(count);
  if (limit === 0) return [];
  const parts = splitText(text, separator);
  spendList(parts.length);
  if (limit < 0 || parts.length <= limit) return parts;
  return [...parts.slice(0, limit - 1), parts.slice(limit - 1).join(separator)];
}

function join(list: readonly Value[], separator = ''): string {
  let result = '';
  list.forEach((item, index) => {
    if (typeof item !== 'string') throw noSuchOverload([list]);
    spendText(separator.length + item.length);
    result = checkedString(index === 0 ? item : result + separator + item);
  });
  return result;
}

/** Go's `unicode.IsSpace`. */
const space = '[\\t\\n\\v\\f\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]';
const isSpace = new RegExp(`^${space}$`);

/** By hand: a regular expression that looks for space at the end is quadratic. */
function trim(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isSpace.test(text[start] ?? '')) start++;
  while (end > start && isSpace.test(text[end - 1] ?? '')) end--;
  spendSteps((start + text.length - end) >> 1);
  return text.slice(start, end);
}

const quoteEscapes: ReadonlyMap<string, string> = new Map([
  ['\x07', '\\a'],
  ['\b', '\\b'],
  ['\f', '\\f'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
  ['\v', '\\v'],
  ['\\', '\\\\'],
  ['"', '\\"'],
]);

function quote(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to escape.
  return `"${text.replace(/[\x07-\r\\"]/g, (character) => quoteEscapes.get(character) ?? character)}"`;
}

function functions(style: FormatStyle): readonly FunctionDeclaration[] {
  return [
    overload('charAt', 'string.(int) -> string', charAt),
    overload('indexOf', 'string.(string) -> int', indexOf),
    overload('indexOf', 'string.(string, int) -> int', indexOf),
    overload('lastIndexOf', 'string.(string) -> int', lastIndexOf),
    overload('lastIndexOf', 'string.(string, int) -> int', lastIndexOf),
    overload('lowerAscii', 'string.() -> string', (text: string) =>
      text.replace(/[A-Z]+/g, (part) => part.toLowerCase()),
    ),
    overload('upperAscii', 'string.() -> string', (text: string) =>
      text.replace(/[a-z]+/g, (part) => part.toUpperCase()),
    ),
    overload('replace', 'string.(string, string) -> string', replace),
    overload('replace', 'string.(string, string, int) -> string', replace),
    overload('split', 'string.(string) -> list(string)', split),
    overload('split', 'string.(string, int) -> list(string)', split),
    overload('substring', 'string.(int) -> string', substring),
    overload('substring', 'string.(int, int) -> string', substring),
    overload('trim', 'string.() -> string', trim),
    overload('join', 'list(string).() -> string', join),
    overload('join', 'list(string).(string) -> string', join),
    overload('strings.quote', '(string) -> string', quote),
    overload('format', 'string.(list(dyn)) -> string', (text: string, args: readonly Value[]) => {
      const result = formatText(text, args, style);
      spendText(result.length);
      return result;
    }),
  ];
}

/** The strings extension of cel-go, version 2, whose `format` Kubernetes uses. */
export const stringsLibrary: Library = { functions: functions('kubernetes') };

/** The newest version of the extension: `format` as cel-spec defines it, and `reverse`. */
export const newestStringsLibrary: Library = {
  functions: [
    ...functions('standard'),
    overload('reverse', 'string.() -> string', (text: string) => Array.from(text).reverse().join('')),
  ],
};
