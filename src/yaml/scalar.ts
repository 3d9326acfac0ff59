import { jsonInteger, parseInteger } from '../json/json-text.ts';

/**
 * Resolves a plain YAML scalar as Kubernetes does: YAML 1.1 booleans, octal with a leading zero, no sexagesimal
 * numbers. Dates and numbers that are too large for a float are strings. Both YAML parsers of the project use this
 * function, so that policies and resources are read alike.
 */
export function resolveYamlScalar(text: string): null | boolean | number | bigint | string {
  switch (text.charCodeAt(0)) {
    case 0x2b: // +
    case 0x2d: // -
      return resolveNumber(text);
    case 0x2e: // .
      return resolveFraction(text);
    default: {
      const first = text.charCodeAt(0);
      if (first >= 0x30 && first <= 0x39) return resolveNumber(text);
      const word = words.get(text);
      return word === undefined ? text : word;
    }
  }
}

/** First characters of plain scalars that are not strings; '' is the empty scalar. */
export const typedScalarStarts: readonly string[] = ['', ...'+-.0123456789~yYnNtTfFoO'];

const words = new Map<string, null | boolean>([
  ...['', '~', 'null', 'Null', 'NULL'].map((word): [string, null] => [word, null]),
  ...['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'].map(
    (word): [string, boolean] => [word, true],
  ),
  ...['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'].map(
    (word): [string, boolean] => [word, false],
  ),
]);

const decimalInteger = /^[-+]?(?:0|[1-9][0-9]*)$/;
const prefixedInteger = /^([-+]?)0(?:[xX]([0-9a-fA-F]+)|[bB]([01]+)|[oO]?([0-7]+))$/;
const decimalFloat = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
const nonFinite = /^[-+]?\.(?:inf|Inf|INF)$|^\.(?:nan|NaN|NAN)$/;

function resolveNumber(text: string): number | bigint | string {
  if (nonFinite.test(text)) throw new NonFiniteNumberError(text);
  const digits = text.includes('_') ? text.replaceAll('_', '') : text;
  if (decimalInteger.test(digits)) return integer(digits, text);
  const prefixed = prefixedInteger.exec(digits);
  if (prefixed !== null) return resolvePrefixed(prefixed, text);
  return decimalFloat.test(digits) ? finite(digits, text) : text;
}

function resolvePrefixed(match: RegExpExecArray, text: string): number | bigint | string {
  const [, sign, hexadecimal, binary, octal] = match;
  const literal =
    hexadecimal !== undefined ? `0x${hexadecimal}` : binary !== undefined ? `0b${binary}` : `0o${octal}`;
  const magnitude = BigInt(literal);
  const limit = sign === '-' ? 1n << 63n : (1n << 64n) - 1n;
  if (magnitude > limit) return text;
  return jsonInteger(sign === '-' ? -magnitude : magnitude);
}

function resolveFraction(text: string): number | string {
  if (nonFinite.test(text)) throw new NonFiniteNumberError(text);
  return decimalFloat.test(text) ? finite(text, text) : text;
}

/** Integers of up to 15 digits fit a double. */
function integer(digits: string, text: string): number | bigint | string {
  if (digits.length <= 15) return finite(digits, text);
  const value = parseInteger(digits.startsWith('+') ? digits.slice(1) : digits);
  return typeof value === 'bigint' || Number.isFinite(value) ? value : text;
}

function finite(digits: string, text: string): number | string {
  const value = Number(digits);
  if (!Number.isFinite(value)) return text;
  return value === 0 ? 0 : value;
}

/** `!!binary` yields the decoded string, as JSON has no bytes. */
export function decodeBase64(text: string): string {
  const binary = atob(text.replace(/\s+/g, ''));
  return new TextDecoder().decode(Uint8Array.from(binary, (character) => character.charCodeAt(0)));
}

/** JSON has no infinity and no NaN, so Kubernetes rejects them. */
export class NonFiniteNumberError extends Error {
  override readonly name = 'NonFiniteNumberError';
  constructor(text: string) {
    super(`${text} is not a valid JSON number; put quotes around it to make it a string`);
  }
}
