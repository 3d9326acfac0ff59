import { wallClock } from '../../expression/go/time.ts';
import { type FunctionDeclaration, overload } from '../types/environment.ts';
import { checkedInteger } from '../value/arithmetic.ts';
import { CelError } from '../value/error.ts';
import type { Duration, Timestamp, Value } from '../value/value.ts';

const zoneFormats = new Map<string, Intl.DateTimeFormat>();

function zoneFormat(zone: string): Intl.DateTimeFormat {
  const known = zoneFormats.get(zone);
  if (known !== undefined) return known;
  try {
    const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
    zoneFormats.set(zone, format);
    return format;
  } catch {
    throw new CelError(`unknown time zone ${zone}`);
  }
}

/** Seconds east of UTC, for `+02:00`, `-8:30`, `02:00`, `UTC` and names such as `Europe/Berlin`. */
function zoneOffset(zone: string, { nanoseconds }: Timestamp): number {
  const fixed = /^([+-]?)(\d+):(\d+)$/.exec(zone);
  if (fixed !== null) {
    const amount = Number(fixed[2]) * 3600 + Number(fixed[3]) * 60;
    return fixed[1] === '-' ? -amount : amount;
  }
  // Containers have no other local time.
  if (zone === 'UTC' || zone === '' || zone === 'Local') return 0;
  const moment = new Date(Number(nanoseconds / 1_000_000n));
  const text = zoneFormat(zone)
    .formatToParts(moment)
    .find(({ type }) => type === 'timeZoneName')?.value;
  const [, sign = '+', hours = '0', minutes = '0', seconds = '0'] =
    /GMT([+-])(\d{2}):(\d{2})(?::(\d{2}))?/.exec(text ?? '') ?? [];
  const amount = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
  return sign === '-' ? -amount : amount;
}

function clock(time: Timestamp, zone: string): Date {
  return wallClock({ nanoseconds: time.nanoseconds, offsetSeconds: zoneOffset(zone, time) });
}

function dayOfYear(date: Date): number {
  const start = new Date(0);
  start.setUTCFullYear(date.getUTCFullYear(), 0, 1);
  return Math.floor((date.getTime() - start.getTime()) / 86_400_000);
}

function getter(name: string, read: (date: Date) => number): FunctionDeclaration[] {
  return [
    overload(name, 'timestamp.() -> int', (time: Timestamp) => read(clock(time, 'UTC'))),
    overload(name, 'timestamp.(string) -> int', (time: Timestamp, zone: string) => read(clock(time, zone))),
  ];
}

function durationGetter(name: string, read: (nanoseconds: bigint) => bigint): FunctionDeclaration {
  return overload(
    name,
    'duration.() -> int',
    (value: Duration): Value => checkedInteger(read(value.nanoseconds)),
  );
}

export const timeFunctions: readonly FunctionDeclaration[] = [
  ...getter('getFullYear', (date) => date.getUTCFullYear()),
  ...getter('getMonth', (date) => date.getUTCMonth()),
  ...getter('getDayOfYear', dayOfYear),
  ...getter('getDayOfMonth', (date) => date.getUTCDate() - 1),
  ...getter('getDate', (date) => date.getUTCDate()),
  ...getter('getDayOfWeek', (date) => date.getUTCDay()),
  ...getter('getHours', (date) => date.getUTCHours()),
  ...getter('getMinutes', (date) => date.getUTCMinutes()),
  ...getter('getSeconds', (date) => date.getUTCSeconds()),
  ...getter('getMilliseconds', (date) => date.getUTCMilliseconds()),
  durationGetter('getHours', (nanoseconds) => nanoseconds / 3_600_000_000_000n),
  durationGetter('getMinutes', (nanoseconds) => nanoseconds / 60_000_000_000n),
  durationGetter('getSeconds', (nanoseconds) => nanoseconds / 1_000_000_000n),
  durationGetter('getMilliseconds', (nanoseconds) => nanoseconds / 1_000_000n),
];
