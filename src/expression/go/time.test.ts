import { describe, expect, it, test } from 'vitest';
import { formatRfc3339, parseRfc3339, parseTime, truncateTime } from './time.ts';

describe('parseTime', () => {
  test.each([
    ['2006-01-02', '2021-03-04', '2021-03-04T00:00:00Z'],
    ['2006-01-02T15:04:05Z07:00', '2021-01-02T15:04:05-07:00', '2021-01-02T15:04:05-07:00'],
    ['2006-01-02T15:04:05Z07:00', '2021-01-02T15:04:05.999999Z', '2021-01-02T15:04:05Z'],
    ['2006-01-02T15:04:05Z07:00', '2021-01-02T15:04:05+00:00', '2021-01-02T15:04:05Z'],
    ['2006-01-02T15:04:05.000Z07:00', '2021-01-01T00:00:00.123Z', '2021-01-01T00:00:00Z'],
    ['2006-01-02T15:04:05.999', '2021-01-01T00:00:00.5', '2021-01-01T00:00:00Z'],
    ['2006-01-02T15:04:05Z0700', '2021-01-01T00:00:00+0130', '2021-01-01T00:00:00+01:30'],
    ['2006-01-02T15:04:05-07', '2021-01-01T00:00:00-05', '2021-01-01T00:00:00-05:00'],
    ['Mon Jan _2 15:04:05 2006', 'Tue Mar  4 05:06:07 2020', '2020-03-04T05:06:07Z'],
    ['Mon, 02 Jan 2006 15:04:05 MST', 'Sat, 05 Dec 2020 10:11:12 UTC', '2020-12-05T10:11:12Z'],
    ['Mon, 02 Jan 2006 15:04:05 -0700', 'Sat, 05 Dec 2020 10:11:12 +0200', '2020-12-05T10:11:12+02:00'],
    ['Monday, January 2 2006', 'friday, march 5 1999', '1999-03-05T00:00:00Z'],
    ['Jan 2, 2006 at 3:04pm (MST)', 'Feb 3, 2013 at 7:54pm (PST)', '2013-02-03T19:54:00Z'],
    ['3:04PM', '12:54AM', '0000-01-01T00:54:00Z'],
    ['2006-002', '2020-366', '2020-12-31T00:00:00Z'],
    ['__2 2006', ' 45 2021', '2021-02-14T00:00:00Z'],
    ['2006/1/2 4:5', '2021/3/4 6:7', '2021-03-04T00:06:07Z'],
    ['06', '69', '1969-01-01T00:00:00Z'],
    ['06', '68', '2068-01-01T00:00:00Z'],
    ['MST 2006', 'GMT+3 2020', '2020-01-01T03:00:00+03:00'],
    ['15h04', '3h04', '0000-01-01T03:04:00Z'],
  ])('by %j reads %j as %s', (layout, text, expected) => {
    expect(formatRfc3339(parseTime(layout, text))).toBe(expected);
  });

  test.each([
    ['2006-01-02', '2021-3-4', 'parsing time "2021-3-4" as "2006-01-02": cannot parse "3-4" as "01"'],
    ['2006-01-02', '2021-13-04', 'parsing time "2021-13-04": month out of range'],
    ['2006-01-02', '2021-02-29', 'parsing time "2021-02-29": day out of range'],
    ['2006-01-02', '2021-01-00', 'parsing time "2021-01-00": day out of range'],
    ['2006-01-02 15', '2021-01-01 24', 'hour out of range'],
    ['3PM', '13PM', 'hour out of range'],
    ['15:04', '01:60', 'minute out of range'],
    ['15:04:05', '01:00:60', 'second out of range'],
    ['2006-01-02', '2021-03-04x', 'parsing time "2021-03-04x": extra text: "x"'],
    ['2006-002', '2021-366', 'day-of-year out of range'],
    ['2006-01-002', '2021-03-001', 'day-of-year does not match month'],
    ['2006-01-02T15:04:05Z07:00', 'yesterday', 'cannot parse "yesterday" as "2006"'],
    ['Monday', 'Caturday', 'cannot parse'],
  ])('by %j refuses %j', (layout, text, message) => {
    expect(() => parseTime(layout, text)).toThrow(message);
  });
});

it('truncates to multiples counted from the year 1, also before 1970', () => {
  const truncate = (text: string, nanoseconds: bigint): string =>
    formatRfc3339(truncateTime(parseRfc3339(text), nanoseconds));
  expect(truncate('2021-01-02T17:04:05Z', 3_600_000_000_000n)).toBe('2021-01-02T17:00:00Z');
  expect(truncate('2021-01-06T17:04:05Z', 604_800_000_000_000n)).toBe('2021-01-04T00:00:00Z');
  expect(truncate('1960-01-01T00:00:01Z', 60_000_000_000n)).toBe('1960-01-01T00:00:00Z');
  expect(truncate('2021-01-02T17:04:05Z', 0n)).toBe('2021-01-02T17:04:05Z');
});
