import { nanosecondsPerSecond } from '../duration.ts';
import { readTimeFields, type TimeFields, TimeSyntaxError } from './time-reader.ts';

/** A point in time with the zone offset it was written in, which results keep. */
export interface Time {
  /** Since 1970-01-01T00:00:00Z. */
  readonly nanoseconds: bigint;
  /** East of UTC. */
  readonly offsetSeconds: number;
}

export const rfc3339 = '2006-01-02T15:04:05Z07:00';

/** Go's `time.Parse`. Throws an Error in Go's words. */
export function parseTime(layout: string, text: string): Time {
  const fields = readTimeFields(layout, text);
  return timeOf(fields, text);
}

export function parseRfc3339(text: string): Time {
  return parseTime(rfc3339, text);
}

function timeOf(fields: TimeFields, text: string): Time {
  const year = fields.year ?? 0;
  const { month, day } =
    fields.yearDay === undefined ? fields : dayOfYear(fields.yearDay, year, fields, text);
  if ((day ?? 1) < 1 || (day ?? 1) > daysInMonth(month ?? 1, year)) {
    throw new TimeSyntaxError(text, 'day out of range');
  }
  let hour = fields.hour ?? 0;
  if (fields.afternoon === true && hour < 12) hour += 12;
  if (fields.afternoon === false && hour === 12) hour = 0;
  const date = new Date(0);
  date.setUTCFullYear(year, (month ?? 1) - 1, day ?? 1);
  date.setUTCHours(hour, fields.minute ?? 0, fields.second ?? 0);
  const offsetSeconds = fields.offsetSeconds ?? 0;
  const seconds = BigInt(date.getTime() / 1000 - offsetSeconds);
  const nanoseconds = seconds * nanosecondsPerSecond + BigInt(fields.nanosecond ?? 0);
  return { nanoseconds, offsetSeconds: fields.shownOffsetSeconds ?? offsetSeconds };
}

function dayOfYear(
  yearDay: number,
  year: number,
  fields: TimeFields,
  text: string,
): Pick<TimeFields, 'month' | 'day'> {
  if (yearDay < 1 || yearDay > (isLeap(year) ? 366 : 365)) {
    throw new TimeSyntaxError(text, 'day-of-year out of range');
  }
  const date = new Date(0);
  date.setUTCFullYear(year, 0, yearDay);
  const [month, day] = [date.getUTCMonth() + 1, date.getUTCDate()];
  if (fields.month !== undefined && fields.month !== month) {
    throw new TimeSyntaxError(text, 'day-of-year does not match month');
  }
  if (fields.day !== undefined && fields.day !== day) {
    throw new TimeSyntaxError(text, 'day-of-year does not match day');
  }
  return { month, day };
}

function isLeap(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

function daysInMonth(month: number, year: number): number {
  if (month === 2) return isLeap(year) ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

/** The wall clock of the time's own zone, as the UTC fields of a Date. */
export function wallClock(time: Time): Date {
  return new Date(Number(floorDivide(time.nanoseconds, 1_000_000n)) + time.offsetSeconds * 1000);
}

function floorDivide(a: bigint, b: bigint): bigint {
  const quotient = a / b;
  return a % b < 0n ? quotient - 1n : quotient;
}

/** Whole seconds; an offset of zero is written `Z`. */
export function formatRfc3339(time: Time): string {
  const date = wallClock(time);
  const digits = (value: number, width = 2): string => String(Math.abs(value)).padStart(width, '0');
  const year = date.getUTCFullYear();
  const day = `${year < 0 ? '-' : ''}${digits(year, 4)}-${digits(date.getUTCMonth() + 1)}-${digits(date.getUTCDate())}`;
  const clock = `${digits(date.getUTCHours())}:${digits(date.getUTCMinutes())}:${digits(date.getUTCSeconds())}`;
  const minutes = Math.trunc(time.offsetSeconds / 60);
  const sign = minutes < 0 ? '-' : '+';
  const zone = minutes === 0 ? 'Z' : `${sign}${digits(Math.trunc(minutes / 60))}:${digits(minutes % 60)}`;
  return `${day}T${clock}${zone}`;
}

export function inUtc(time: Time): Time {
  return { ...time, offsetSeconds: 0 };
}

export function timeOfDate(date: Date): Time {
  return { nanoseconds: BigInt(date.getTime()) * 1_000_000n, offsetSeconds: 0 };
}

export function addDuration(time: Time, nanoseconds: bigint): Time {
  return { ...time, nanoseconds: time.nanoseconds + nanoseconds };
}

const longest = 2n ** 63n - 1n;
const shortest = -(2n ** 63n);

/** From `start` to `end`, clamped to the range of a Go duration (292 years). */
export function durationBetween(start: Time, end: Time): bigint {
  const difference = end.nanoseconds - start.nanoseconds;
  if (difference > longest) return longest;
  if (difference < shortest) return shortest;
  return difference;
}

const sinceYearOne = 62_135_596_800n * nanosecondsPerSecond;

/** Rounds down to a multiple of the duration, counted from the year 1. */
export function truncateTime(time: Time, nanoseconds: bigint): Time {
  if (nanoseconds <= 0n) return time;
  const elapsed = time.nanoseconds + sinceYearOne;
  return { ...time, nanoseconds: floorDivide(elapsed, nanoseconds) * nanoseconds - sinceYearOne };
}
