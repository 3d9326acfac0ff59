const nanosecondsPerUnit: ReadonlyMap<string, bigint> = new Map([
  ['ns', 1n],
  ['us', 1_000n],
  ['\u00b5s', 1_000n],
  ['\u03bcs', 1_000n],
  ['ms', 1_000_000n],
  ['s', 1_000_000_000n],
  ['m', 60_000_000_000n],
  ['h', 3_600_000_000_000n],
]);

export const nanosecondsPerSecond = 1_000_000_000n;
const maximum = 2n ** 63n - 1n;
const component = /(\d*)(\.\d*)?([^\d.]*)/y;

/** Nanoseconds of a Go duration such as `1h30m` or `-1.5s`; undefined for other strings. */
export function parseDuration(text: string): bigint | undefined {
  if (!startsLikeNumber(text)) return undefined;
  const result = readDuration(text);
  return typeof result === 'bigint' ? result : undefined;
}

/** A fast check: most strings are not durations. */
function startsLikeNumber(text: string): boolean {
  const first = text.charCodeAt(0);
  return (first >= 48 && first <= 57) || first === 43 || first === 45 || first === 46;
}

/** The nanoseconds, or Go's error message for an invalid duration. */
export function readDuration(text: string): bigint | string {
  const negative = text.startsWith('-');
  const body = negative || text.startsWith('+') ? text.slice(1) : text;
  if (body === '0') return 0n;
  const invalid = `time: invalid duration ${JSON.stringify(text)}`;
  if (body === '') return invalid;
  let total = 0n;
  for (let position = 0; position < body.length; ) {
    component.lastIndex = position;
    const [all = '', whole = '', fraction = '', unit = ''] = component.exec(body) ?? [];
    if (whole === '' && fraction.length < 2) return invalid;
    if (unit === '') return `time: missing unit in duration ${JSON.stringify(text)}`;
    const nanoseconds = nanosecondsPerUnit.get(unit);
    if (nanoseconds === undefined) {
      return `time: unknown unit ${JSON.stringify(unit)} in duration ${JSON.stringify(text)}`;
    }
    if (whole.length > 25) return invalid;
    total += BigInt(whole) * nanoseconds + fractionOf(fraction.slice(1), nanoseconds);
    if (total > (negative ? maximum + 1n : maximum)) return invalid;
    position += all.length;
  }
  return negative ? -total : total;
}

/** Drops digits that cannot affect the nanoseconds of an hour. Never rounds up. */
function fractionOf(digits: string, nanoseconds: bigint): bigint {
  const significant = digits.slice(0, 18);
  return (BigInt(significant) * nanoseconds) / 10n ** BigInt(significant.length);
}

/** Go's canonical form: `1h0m30s`, `2.5s`, `1.5ms`, `0s`. */
export function formatDuration(nanoseconds: bigint): string {
  const sign = nanoseconds < 0n ? '-' : '';
  const amount = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  if (amount === 0n) return '0s';
  if (amount < 1_000n) return `${sign}${amount}ns`;
  if (amount < 1_000_000n) return `${sign}${decimal(amount, 1_000n, 3)}\u00b5s`;
  if (amount < nanosecondsPerSecond) return `${sign}${decimal(amount, 1_000_000n, 6)}ms`;
  const minutes = amount / 60_000_000_000n;
  const seconds = `${decimal(amount % 60_000_000_000n, nanosecondsPerSecond, 9)}s`;
  if (minutes === 0n) return sign + seconds;
  const hours = minutes / 60n;
  return `${sign}${hours === 0n ? '' : `${hours}h`}${minutes % 60n}m${seconds}`;
}

function decimal(amount: bigint, unit: bigint, places: number): string {
  const fraction = (amount % unit).toString().padStart(places, '0').replace(/0+$/, '');
  return fraction === '' ? `${amount / unit}` : `${amount / unit}.${fraction}`;
}

/** Converts whole seconds, as Kyverno's operators do with numbers. */
export function secondsToDuration(seconds: number | bigint): bigint {
  const whole = typeof seconds === 'bigint' ? seconds : BigInt(Math.trunc(seconds));
  return whole * nanosecondsPerSecond;
}
