import { integerOf } from '../value/integer.ts';
import { doubleOf } from '../value/kinds.ts';
import { Bytes, Uint, type Value } from '../value/value.ts';
import type { Token } from './lexer.ts';
import { CelSyntaxError } from './problem.ts';

const maximumUint = 2n ** 64n - 1n;
const longestNumber = 100;

export function readInteger(token: Token, negative: boolean): Value {
  const magnitude = readBigInt(token, token.text);
  const value = magnitude === undefined ? undefined : integerOf(negative ? -magnitude : magnitude);
  if (value === undefined)
    throw new CelSyntaxError('invalid int literal', token.offset, 'An int has 64 bits.');
  return value;
}

export function readUint(token: Token): Value {
  const value = readBigInt(token, token.text.slice(0, -1));
  if (value === undefined || value > maximumUint) {
    throw new CelSyntaxError('invalid uint literal', token.offset, 'A uint has 64 bits.');
  }
  return new Uint(value);
}

function readBigInt(token: Token, digits: string): bigint | undefined {
  return token.text.length > longestNumber ? undefined : BigInt(digits);
}

export function readDouble(token: Token, negative: boolean): Value {
  const value = Number(token.text);
  if (!Number.isFinite(value)) throw new CelSyntaxError('invalid double literal', token.offset);
  return doubleOf(negative ? -value : value);
}

const simpleEscapes: ReadonlyMap<string, number> = new Map([
  ['a', 7],
  ['b', 8],
  ['f', 12],
  ['n', 10],
  ['r', 13],
  ['t', 9],
  ['v', 11],
  ['\\', 92],
  ['?', 63],
  ['"', 34],
  ["'", 39],
  ['`', 96],
]);
const escapeSequence =
  /\\(?:([abfnrtv\\?"'`])|[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2}))/y;

/** A part of a string literal: characters as written, or the number of an escape. */
type Part = string | { readonly code: number; readonly isCodePoint: boolean };

function* readParts(token: Token): Generator<Part> {
  const { text } = token;
  let position = 0;
  while (position < text.length) {
    const backslash = text.indexOf('\\', position);
    if (backslash < 0) {
      yield text.slice(position);
      return;
    }
    if (backslash > position) yield text.slice(position, backslash);
    escapeSequence.lastIndex = backslash;
    const match = escapeSequence.exec(text);
    if (match === null) throw invalidEscape(token, text.slice(backslash, backslash + 2));
    const [all, simple, hex, short, long, octal] = match;
    const code =
      simple === undefined
        ? octal === undefined
          ? Number.parseInt(hex ?? short ?? long ?? '', 16)
          : Number.parseInt(octal, 8)
        : (simpleEscapes.get(simple) ?? 0);
    yield { code, isCodePoint: short !== undefined || long !== undefined };
    position = backslash + all.length;
  }
}

function invalidEscape(token: Token, escaped: string): CelSyntaxError {
  return new CelSyntaxError(
    `Syntax error: invalid escape sequence '${escaped}' in a ${token.kind === 'bytes' ? 'bytes' : 'string'} literal`,
    token.offset,
    'Double the backslash, or write a raw string: r"…".',
  );
}

export function readString(token: Token): string {
  const text = token.text.replace(/\r\n?/g, '\n');
  if (token.raw || !text.includes('\\')) return text;
  let result = '';
  for (const part of readParts({ ...token, text })) {
    if (typeof part === 'string') {
      result += part;
      continue;
    }
    const { code } = part;
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) throw invalidEscape(token, '\\u');
    result += String.fromCodePoint(code);
  }
  return result;
}

const encoder = new TextEncoder();

export function readBytes(token: Token): Bytes {
  const text = token.text.replace(/\r\n?/g, '\n');
  if (token.raw) return new Bytes(encoder.encode(text));
  const bytes: number[] = [];
  for (const part of readParts({ ...token, text })) {
    if (typeof part === 'string') for (const byte of encoder.encode(part)) bytes.push(byte);
    else if (part.isCodePoint) throw invalidEscape(token, '\\u');
    else bytes.push(part.code);
  }
  return new Bytes(Uint8Array.from(bytes));
}
