/**
 * What a plain YAML scalar means to Kubernetes: YAML 1.1 booleans, octal with a leading zero, no
 * sexagesimal numbers, dates stay text, a number too large for a float stays text. Both YAML parsers of
 * the project resolve plain scalars here, so that a policy and a resource are read alike.
 */
export function resolveYamlScalar(text: string): null | boolean | number | string {
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

/** Characters that a plain scalar which is not text can begin with; '' stands for the empty scalar. */
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

function resolveNumber(text: string): number | string {
  if (nonFinite.test(text)) throw new NonFiniteNumberError(text);
  const digits = text.includes('_') ? text.replaceAll('_', '') : text;
  if (decimalInteger.test(digits)) return finite(digits, text);
  const prefixed = prefixedInteger.exec(digits);
  if (prefixed !== null) return resolvePrefixed(prefixed, text);
  return decimalFloat.test(digits) ? finite(digits, text) : text;
}

function resolvePrefixed(match: RegExpExecArray, text: string): number | string {
  const [, sign, hexadecimal, binary, octal] = match;
  const literal =
    hexadecimal !== undefined ? `0x${hexadecimal}` : binary !== undefined ? `0b${binary}` : `0o${octal}`;
  const magnitude = BigInt(literal);
  const limit = sign === '-' ? 1n << 63n : (1n << 64n) - 1n;
  if (magnitude > limit) return text;
  return sign === '-' && magnitude !== 0n ? -Number(magnitude) : Number(magnitude);
}

function resolveFraction(text: string): number | string {
  if (nonFinite.test(text)) throw new NonFiniteNumberError(text);
  return decimalFloat.test(text) ? finite(text, text) : text;
}

function finite(digits: string, text: string): number | string {
  const value = Number(digits);
  if (!Number.isFinite(value)) return text;
  return value === 0 ? 0 : value;
}

/** `!!binary` yields the decoded text, as JSON has no bytes. */
export function decodeBase64(text: string): string {
  const binary = atob(text.replace(/\s+/g, ''));
  return new TextDecoder().decode(Uint8Array.from(binary, (character) => character.charCodeAt(0)));
}

/** JSON has no infinity and no NaN, so Kubernetes refuses them too. */
export class NonFiniteNumberError extends Error {
  override readonly name = 'NonFiniteNumberError';
  constructor(text: string) {
    super(`${text} is not a number that JSON can hold; put quotes around it if text is meant`);
  }
}
