import {
  addQuantities,
  approximateNumber,
  compareQuantities,
  parseQuantity,
  type Quantity,
  subtractQuantities,
} from '../../expression/quantity.ts';
import { compareVersions, parseVersion, type Version } from '../../expression/semver-range.ts';
import { type Library, overload } from '../types/environment.ts';
import { checkedInteger } from '../value/arithmetic.ts';
import { CelError } from '../value/error.ts';
import { type Integer, integerOf, toBigInt } from '../value/integer.ts';
import { doubleOf } from '../value/kinds.ts';
import { Opaque, type Value } from '../value/value.ts';

type QuantityValue = Opaque<Quantity>;

function quantity(data: Quantity): QuantityValue {
  return new Opaque('kubernetes.Quantity', data, quantityIdentity(data));
}

/** Equal amounts have equal identities, however they are written. */
function quantityIdentity({ unscaled, scale }: Quantity): string {
  if (unscaled === 0n) return '0';
  const digits = unscaled.toString();
  const zeros = /0*$/.exec(digits)?.[0].length ?? 0;
  return `${digits.slice(0, digits.length - zeros)}e${scale + zeros}`;
}

function readQuantity(text: string): QuantityValue {
  const data = parseQuantity(text);
  if (data !== undefined) return quantity(data);
  throw new CelError(
    `quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'`,
  );
}

/**
 * The int; undefined for what does not fit into 64 bits, and for what is kept with decimal places even if they are zeros:
 * `1000m`, `1.5Gi`, `1Pi`.
 */
function exactInteger({ unscaled, scale }: Quantity): Integer | undefined {
  return scale >= 0 ? integerOf(unscaled * 10n ** BigInt(scale)) : undefined;
}

function asInteger({ data }: QuantityValue): Value {
  const value = exactInteger(data);
  if (value === undefined) throw new CelError('cannot convert value to integer');
  return value;
}

function whole(value: Integer): Quantity {
  return { unscaled: toBigInt(value), scale: 0, format: 'decimal' };
}

const quantityType = 'struct kubernetes.Quantity';

function compare(a: QuantityValue, b: QuantityValue): number {
  return compareQuantities(a.data, b.data);
}

export const quantityLibrary: Library = {
  functions: [
    overload('quantity', `(string) -> ${quantityType}`, readQuantity),
    overload('isQuantity', '(string) -> bool', (text: string) => parseQuantity(text) !== undefined),
    overload('sign', `(${quantityType}) -> int`, ({ data }: QuantityValue) =>
      data.unscaled < 0n ? -1 : data.unscaled > 0n ? 1 : 0,
    ),
    overload(
      'isGreaterThan',
      `${quantityType}.(${quantityType}) -> bool`,
      (a: QuantityValue, b: QuantityValue) => compare(a, b) > 0,
    ),
    overload(
      'isLessThan',
      `${quantityType}.(${quantityType}) -> bool`,
      (a: QuantityValue, b: QuantityValue) => compare(a, b) < 0,
    ),
    overload('compareTo', `${quantityType}.(${quantityType}) -> int`, compare),
    overload('asApproximateFloat', `${quantityType}.() -> double`, ({ data }: QuantityValue) =>
      doubleOf(approximateNumber(data)),
    ),
    overload('asInteger', `${quantityType}.() -> int`, asInteger),
    overload(
      'isInteger',
      `${quantityType}.() -> bool`,
      ({ data }: QuantityValue) => exactInteger(data) !== undefined,
    ),
    overload(
      'add',
      `${quantityType}.(${quantityType}) -> ${quantityType}`,
      (a: QuantityValue, b: QuantityValue) => quantity(addQuantities(a.data, b.data)),
    ),
    overload('add', `${quantityType}.(int) -> ${quantityType}`, (a: QuantityValue, b: Integer) =>
      quantity(addQuantities(a.data, whole(b))),
    ),
    overload(
      'sub',
      `${quantityType}.(${quantityType}) -> ${quantityType}`,
      (a: QuantityValue, b: QuantityValue) => quantity(subtractQuantities(a.data, b.data)),
    ),
    overload('sub', `${quantityType}.(int) -> ${quantityType}`, (a: QuantityValue, b: Integer) =>
      quantity(subtractQuantities(a.data, whole(b))),
    ),
  ],
};

type VersionValue = Opaque<Version>;

/** Drops a `v` prefix and leading zeros, and adds missing minor and patch numbers. */
function normalizeVersion(text: string): string | undefined {
  const [major = '', minor, ...rest] = text.replace(/^v/, '').split('.');
  const parts = [major, ...(minor === undefined ? [] : [minor])];
  if (rest.length > 0) parts.push(rest.join('.'));
  if (parts.length < 3 && /[+-]/.test(parts.at(-1) ?? '')) return undefined;
  const trimmed = parts.map((part) => part.replace(/^0+(?=\d)/, ''));
  while (trimmed.length < 3) trimmed.push('0');
  return trimmed.join('.');
}

function findVersion(text: string, normalize = false): Version | undefined {
  const normal = normalize ? normalizeVersion(text) : text;
  const version = normal === undefined ? undefined : parseVersion(normal);
  return version?.numbers.every(fitsIn64Bits) === true ? version : undefined;
}

/** The length comes first: a number of a million digits takes long to read. */
function fitsIn64Bits(digits: string): boolean {
  return digits.length <= 20 && BigInt(digits) < 2n ** 64n;
}

function readVersion(text: string, normalize = false): VersionValue {
  const version = findVersion(text, normalize);
  if (version === undefined) throw new CelError(versionError(text));
  // Build metadata does not count for equality.
  const identity = `${version.numbers.join('.')}-${version.prerelease.join('.')}`;
  return new Opaque('kubernetes.Semver', version, identity);
}

function versionError(text: string): string {
  if (text === '') return 'Version string empty';
  return text.split('.').length < 3
    ? 'No Major.Minor.Patch elements found'
    : `Invalid character(s) or leading zeroes found in version ${JSON.stringify(text)}`;
}

const versionType = 'struct kubernetes.Semver';

function versionNumber(index: 0 | 1 | 2): (version: VersionValue) => Value {
  return ({ data }) => checkedInteger(BigInt(data.numbers[index]));
}

function versionOrder(a: VersionValue, b: VersionValue): number {
  return Math.sign(compareVersions(a.data, b.data));
}

export const semverLibrary: Library = {
  functions: [
    overload('semver', `(string) -> ${versionType}`, readVersion),
    overload('semver', `(string, bool) -> ${versionType}`, readVersion),
    overload('isSemver', '(string) -> bool', (text: string) => findVersion(text) !== undefined),
    overload(
      'isSemver',
      '(string, bool) -> bool',
      (text: string, normalize: boolean) => findVersion(text, normalize) !== undefined,
    ),
    overload('major', `${versionType}.() -> int`, versionNumber(0)),
    overload('minor', `${versionType}.() -> int`, versionNumber(1)),
    overload('patch', `${versionType}.() -> int`, versionNumber(2)),
    overload('compareTo', `${versionType}.(${versionType}) -> int`, versionOrder),
    overload(
      'isGreaterThan',
      `${versionType}.(${versionType}) -> bool`,
      (a: VersionValue, b: VersionValue) => versionOrder(a, b) > 0,
    ),
    overload(
      'isLessThan',
      `${versionType}.(${versionType}) -> bool`,
      (a: VersionValue, b: VersionValue) => versionOrder(a, b) < 0,
    ),
  ],
};
