export type QuantityFormat = 'decimal' | 'binary' | 'exponent';

/** `unscaled · 10^scale`, and the suffix family of the source, which results keep. */
export interface Quantity {
  readonly unscaled: bigint;
  readonly scale: number;
  readonly format: QuantityFormat;
}

const decimalSuffixes: ReadonlyMap<string, number> = new Map([
  ['n', -9],
  ['u', -6],
  ['m', -3],
  ['', 0],
  ['k', 3],
  ['M', 6],
  ['G', 9],
  ['T', 12],
  ['P', 15],
  ['E', 18],
]);
const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const nano = -9;
const maximumBinary = 2n ** 63n - 1n;
/** With larger exponents a short string would take gigabytes. */
const largestExponent = 400;
const longestNumber = 400;

const syntax = /^([+-]?)0*(\d*)(\.\d*)?((?:[numkMGTPE]|[KMGTPE]i)?|[eE][+-]?\d+)$/;

/**
 * Kubernetes' `resource.ParseQuantity`: `100m`, `1.5Gi`, `12e6`. Finer than nano is rounded away from zero.
 * A bare suffix is zero there (unless very large or small), so it is here.
 */
export function parseQuantity(text: string): Quantity | undefined {
  if (text === '' || text.length > longestNumber) return undefined;
  const match = syntax.exec(text);
  if (match === null) return undefined;
  const [, sign, whole = '', point = '', suffix = ''] = match;
  const digits = (whole === '' ? '0' : whole) + point.slice(1);
  if (/^(?:[PE]i|[eE]-\d+)$/.test(suffix) && !/^[+-]?\.?\d/.test(text)) return undefined;
  const magnitude = BigInt(digits);
  const unscaled = sign === '-' ? -magnitude : magnitude;
  const places = Math.max(point.length - 1, 0);
  const power = binarySuffixes.indexOf(suffix);
  if (power > 0) return binaryQuantity(unscaled, places, power, digits.length);
  const scale = decimalSuffixes.get(suffix);
  const exponent = scale ?? Number(suffix.slice(1));
  if (Math.abs(exponent) > largestExponent) return undefined;
  const format = scale === undefined ? 'exponent' : 'decimal';
  return decimalQuantity(unscaled, exponent - places, digits.length, format);
}

/** Keeps up to eighteen digits at nano or coarser. Rescales anything else to nano. */
function decimalQuantity(unscaled: bigint, scale: number, digits: number, format: QuantityFormat): Quantity {
  if ((digits <= 18 && scale >= nano) || unscaled === 0n) return { unscaled, scale, format };
  return { unscaled: rescale(unscaled, scale, nano), scale: nano, format };
}

function binaryQuantity(unscaled: bigint, places: number, power: number, digits: number): Quantity {
  const value = unscaled << BigInt(10 * power);
  const keptAsWritten = places === 0 && 15 - digits - 3 * power - 1 >= 0;
  if (keptAsWritten || unscaled === 0n) return { unscaled: value, scale: -places, format: 'binary' };
  const nanos = rescale(value, -places, nano);
  const limit = maximumBinary * 10n ** 9n;
  if (nanos > limit) return { unscaled: maximumBinary, scale: 0, format: 'binary' };
  if (nanos < -limit) return { unscaled: -maximumBinary, scale: 0, format: 'binary' };
  const format = nanos < 10n ** 9n && nanos > -(10n ** 9n) ? 'decimal' : 'binary';
  return { unscaled: nanos, scale: nano, format };
}

/** The same amount at another scale, rounded away from zero where digits are lost. */
function rescale(unscaled: bigint, from: number, to: number): bigint {
  if (from >= to) return unscaled * 10n ** BigInt(from - to);
  const divisor = 10n ** BigInt(to - from);
  const quotient = unscaled / divisor;
  if (unscaled % divisor === 0n) return quotient;
  return unscaled < 0n ? quotient - 1n : quotient + 1n;
}

function align(a: Quantity, b: Quantity): readonly [bigint, bigint, number] {
  const scale = Math.min(a.scale, b.scale);
  return [rescale(a.unscaled, a.scale, scale), rescale(b.unscaled, b.scale, scale), scale];
}

export function compareQuantities(a: Quantity, b: Quantity): -1 | 0 | 1 {
  const [x, y] = align(a, b);
  return x < y ? -1 : x > y ? 1 : 0;
}

/** A zero takes over the other operand's suffix family. */
export function addQuantities(a: Quantity, b: Quantity): Quantity {
  const [x, y, scale] = align(a, b);
  return { unscaled: x + y, scale, format: a.unscaled === 0n ? b.format : a.format };
}

export function subtractQuantities(a: Quantity, b: Quantity): Quantity {
  return addQuantities(a, { ...b, unscaled: -b.unscaled });
}

export function multiplyQuantities(a: Quantity, b: Quantity): Quantity {
  return { unscaled: a.unscaled * b.unscaled, scale: a.scale + b.scale, format: a.format };
}

/** Truncated to the finer of the two operands' decimal places, so `1` / 3 is 0 and `1.0` / 3 is 300m. */
export function divideQuantities(a: Quantity, b: Quantity): Quantity {
  const scale = Math.min(a.scale, b.scale);
  const shift = a.scale - b.scale - scale;
  const dividend = shift > 0 ? a.unscaled * 10n ** BigInt(shift) : a.unscaled;
  const divisor = shift < 0 ? b.unscaled * 10n ** BigInt(-shift) : b.unscaled;
  return { unscaled: dividend / divisor, scale, format: a.format };
}

export function approximateNumber(quantity: Quantity): number {
  return Number(quantity.unscaled) * Number(`1e${quantity.scale}`);
}

/** The canonical form: no fraction, the largest suffix that loses nothing. */
export function formatQuantity(quantity: Quantity): string {
  const { unscaled, scale, format } = quantity;
  if (unscaled === 0n) return '0';
  if (format === 'binary') {
    const whole = rescale(unscaled, scale, 0);
    const exact = rescale(whole, 0, Math.min(scale, 0)) === rescale(unscaled, scale, Math.min(scale, 0));
    if (exact && (whole >= 1024n || whole <= -1024n)) return formatBinary(whole);
  }
  return formatDecimal(unscaled, scale, format === 'exponent');
}

function formatBinary(whole: bigint): string {
  let amount = whole;
  let power = 0;
  while (amount % 1024n === 0n && power < binarySuffixes.length - 1) {
    amount /= 1024n;
    power++;
  }
  return `${amount}${binarySuffixes[power]}`;
}

function formatDecimal(unscaled: bigint, scale: number, asExponent: boolean): string {
  let amount = unscaled;
  let exponent = scale;
  while (amount % 10n === 0n) {
    amount /= 10n;
    exponent++;
  }
  const multipleOfThree = Math.floor(exponent / 3) * 3;
  // Kubernetes prints no suffix at all beyond nano and exa; staying inside keeps the value right.
  const target = asExponent ? multipleOfThree : Math.min(Math.max(multipleOfThree, nano), 18);
  amount = rescale(amount, exponent, target);
  if (asExponent) return target === 0 ? `${amount}` : `${amount}e${target}`;
  return `${amount}${suffixOf(target)}`;
}

function suffixOf(exponent: number): string {
  for (const [suffix, value] of decimalSuffixes) if (value === exponent) return suffix;
  return '';
}
