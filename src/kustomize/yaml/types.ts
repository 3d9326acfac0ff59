import { jsonInteger } from '../../json/json-text.ts';

/**
 * The types of plain YAML scalars in the two YAML readers of kustomize. The newer one reads resources, the older one reads
 * kustomizations. The printer quotes strings that the older one would read as another type.
 */

const nulls = ['', '~', 'null', 'Null', 'NULL'];
const trues = ['true', 'True', 'TRUE'];
const falses = ['false', 'False', 'FALSE'];
const oldTrues = ['y', 'Y', 'yes', 'Yes', 'YES', 'on', 'On', 'ON'];
const oldFalses = ['n', 'N', 'no', 'No', 'NO', 'off', 'Off', 'OFF'];
const nonFiniteWords = new Set(
  ['.inf', '.Inf', '.INF'].flatMap((word) => [word, `+${word}`, `-${word}`]).concat('.nan', '.NaN', '.NAN'),
);

function wordTable(trueWords: readonly string[], falseWords: readonly string[]) {
  return new Map<string, null | boolean>([
    ...nulls.map((word): [string, null] => [word, null]),
    ...trueWords.map((word): [string, boolean] => [word, true]),
    ...falseWords.map((word): [string, boolean] => [word, false]),
  ]);
}

const words = wordTable(trues, falses);
const oldWords = wordTable([...trues, ...oldTrues], [...falses, ...oldFalses]);

/** The typed value of a plain scalar; undefined for a string. An integer beyond 2^53 is a bigint. */
export type Typed = null | boolean | number | bigint | undefined;

/** A scalar of a resource: YAML 1.2 booleans; dates are strings. */
export function typedScalar(text: string): Typed {
  const word = words.get(text);
  return word !== undefined ? word : typedNumber(text);
}

/** A scalar of a kustomization: YAML 1.1 booleans. */
export function typedSettingsScalar(text: string): Typed {
  const word = oldWords.get(text);
  return word !== undefined ? word : typedNumber(text);
}

/** Whether the printer must quote the string, because it would be read as another type. */
export function looksTyped(text: string): boolean {
  if (oldWords.has(text)) return true;
  const first = text.charCodeAt(0);
  const isNumberStart =
    first === 0x2b || first === 0x2d || first === 0x2e || (first >= 0x30 && first <= 0x39);
  if (!isNumberStart) return false;
  return (
    nonFiniteWords.has(text) ||
    typedNumber(text) !== undefined ||
    // The reader of kubectl ignores underscores after a leading dot, too.
    (first === 0x2e && text.includes('_') && typedNumber(text.replaceAll('_', '')) !== undefined) ||
    sexagesimal.test(text) ||
    timestampOf(text) !== undefined
  );
}

const sexagesimal = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/;
const decimalInteger = /^[-+]?(?:0|[1-9][0-9]*)$/;
const prefixedInteger = /^([-+]?)0(?:[xX]([0-9a-fA-F]+)|[bB]([01]+)|[oO]?([0-7]+))$/;
const decimalFloat = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;

function typedNumber(text: string): number | bigint | undefined {
  const first = text.charCodeAt(0);
  if (first === 0x2e) return decimalFloat.test(text) ? finite(text) : undefined;
  if (first !== 0x2b && first !== 0x2d && !(first >= 0x30 && first <= 0x39)) return undefined;
  const digits = text.includes('_') ? text.replaceAll('_', '') : text;
  if (decimalInteger.test(digits)) {
    if (digits.length < 16) return Number(digits) + 0;
    return integer(BigInt(digits.startsWith('+') ? digits.slice(1) : digits)) ?? finite(digits);
  }
  const prefixed = prefixedInteger.exec(digits);
  if (prefixed !== null) {
    const [, sign, hexadecimal, binary, octal] = prefixed;
    const literal =
      hexadecimal !== undefined ? `0x${hexadecimal}` : binary !== undefined ? `0b${binary}` : `0o${octal}`;
    const value = integer(sign === '-' ? -BigInt(literal) : BigInt(literal));
    if (value !== undefined) return value;
  }
  return decimalFloat.test(digits) ? finite(digits) : undefined;
}

/** Undefined beyond 64 bits; a number if that is exact, otherwise a bigint. */
function integer(value: bigint): number | bigint | undefined {
  if (value < -(1n << 63n) || value >= 1n << 64n) return undefined;
  return jsonInteger(value);
}

function finite(text: string): number | undefined {
  const value = Number(text);
  return Number.isFinite(value) ? value + 0 : undefined;
}

const timestamp =
  /^(\d{4})-(\d{1,2})-(\d{1,2})(?:(?:[Tt](\d{1,2}):(\d{1,2}):(\d{1,2})(\.\d+)?(Z|[-+]\d\d:\d\d))|(?: +(\d{1,2}):(\d{1,2}):(\d{1,2})(\.\d+)?))?$/;

/** A date in RFC 3339, as the newer reader prints it; undefined if the scalar is not a date. */
export function timestampOf(text: string): string | undefined {
  if (text.length < 8 || text.charCodeAt(4) !== 0x2d) return undefined;
  const match = timestamp.exec(text);
  if (match === null) return undefined;
  const [, year = '', month = '', day = ''] = match;
  const hour = match[4] ?? match[9] ?? '0';
  const minute = match[5] ?? match[10] ?? '0';
  const second = match[6] ?? match[11] ?? '0';
  const days = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
  if (Number(month) < 1 || Number(month) > 12 || Number(day) < 1 || Number(day) > days) return undefined;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  const fraction = (match[7] ?? match[12] ?? '').slice(0, 10).replace(/\.?0+$/, '');
  const two = (part: string) => part.padStart(2, '0');
  const zone = match[8] ?? 'Z';
  return `${year}-${two(month)}-${two(day)}T${two(hour)}:${two(minute)}:${two(second)}${fraction}${zone}`;
}

export function isNonFinite(text: string): boolean {
  return nonFiniteWords.has(text);
}
