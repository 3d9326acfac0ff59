import { formatDuration } from '../../expression/duration.ts';
import { formatGoNumber } from '../../expression/go/format.ts';
import { formatRfc3339, inUtc } from '../../expression/go/time.ts';
import { isInteger } from './integer.ts';
import { doubleNumber, isDouble, typeNameOf } from './kinds.ts';
import { Duration, Timestamp, TypeValue, Uint, type Value } from './value.ts';

/** A double as Go prints it: `1.5`, `1e+21`, `+Inf`. */
export function formatDouble(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  return Object.is(value, -0) ? '-0' : formatGoNumber(value);
}

/** RFC 3339 in UTC, with as many decimal places as are needed. */
export function formatTimestamp({ nanoseconds }: Timestamp): string {
  const fraction = ((nanoseconds % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n;
  const whole = formatRfc3339(inUtc({ nanoseconds: nanoseconds - fraction, offsetSeconds: 0 }));
  if (fraction === 0n) return whole;
  const digits = fraction.toString().padStart(9, '0').replace(/0+$/, '');
  return whole.replace('Z', `.${digits}Z`);
}

/** Seconds with a unit, as `string(duration)` gives: `90s`, `1.5s`. */
export function formatSeconds({ nanoseconds }: Duration): string {
  const sign = nanoseconds < 0n ? '-' : '';
  const amount = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  const fraction = (amount % 1_000_000_000n).toString().padStart(9, '0').replace(/0+$/, '');
  return `${sign}${amount / 1_000_000_000n}${fraction === '' ? '' : `.${fraction}`}s`;
}

/** A value in a message. */
export function formatValue(value: Value): string {
  if (value === null) return 'null';
  if (typeof value === 'string') return value;
  if (isDouble(value)) return formatDouble(doubleNumber(value));
  if (isInteger(value)) return String(value);
  if (value instanceof Uint) return String(value.value);
  if (value instanceof Timestamp) return formatTimestamp(value);
  if (value instanceof Duration) return formatDuration(value.nanoseconds);
  if (value instanceof TypeValue) return value.name;
  return typeof value === 'boolean' ? String(value) : typeNameOf(value);
}
