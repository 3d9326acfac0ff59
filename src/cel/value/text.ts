import { formatDuration } from '../../expression/duration.ts';
import { formatGoDecimal, formatGoShortest } from '../../expression/go/format.ts';
import { formatRfc3339 } from '../../expression/go/time.ts';
import { isInteger } from './integer.ts';
import { doubleNumber, isDouble, typeNameOf } from './kinds.ts';
import { Duration, Timestamp, TypeValue, Uint, type Value } from './value.ts';

/** A double as Go prints it: `1.5`, `1e+06`, `+Inf`. */
export function formatDouble(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  return Object.is(value, -0) ? '-0' : formatGoShortest(value);
}

/** RFC 3339 with the zone offset that the timestamp was written in, and as many decimal places as are needed. */
export function formatTimestamp({ nanoseconds, offsetSeconds }: Timestamp): string {
  const fraction = ((nanoseconds % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n;
  const whole = formatRfc3339({ nanoseconds: nanoseconds - fraction, offsetSeconds });
  if (fraction === 0n) return whole;
  const digits = fraction.toString().padStart(9, '0').replace(/0+$/, '');
  return whole.replace(/(?=Z|[+-]\d\d:\d\d$)/, `.${digits}`);
}

/** Seconds with a unit: `90s`, `1.5s`. Seconds are a double, so that long durations lose their last digits. */
export function formatSeconds({ nanoseconds }: Duration): string {
  const seconds = Number(nanoseconds / 1_000_000_000n) + Number(nanoseconds % 1_000_000_000n) / 1e9;
  return `${formatGoDecimal(seconds)}s`;
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
