import { formatDuration, readDuration } from '../duration.ts';
import { parseGoInteger } from '../go/format.ts';
import {
  addDuration,
  durationBetween,
  formatRfc3339,
  inUtc,
  parseTime,
  rfc3339,
  type Time,
  timeOfDate,
  truncateTime,
  wallClock,
} from '../go/time.ts';
import { type Arguments, defineFunctions } from './define.ts';

export const timeFunctions = defineFunctions({
  time_now: {
    parameters: [],
    returns: 'string',
    description: 'The current time.',
    example: { expression: 'time_now()' },
    volatile: true,
    call: ({ environment }) => formatRfc3339(timeOfDate(environment.now())),
  },
  time_now_utc: {
    parameters: [],
    returns: 'string',
    description: 'The current time in UTC.',
    example: { expression: 'time_now_utc()' },
    volatile: true,
    call: ({ environment }) => formatRfc3339(timeOfDate(environment.now())),
  },
  time_add: {
    parameters: ['string', 'string'],
    returns: 'string',
    description: 'A time plus a duration.',
    example: {
      expression: "time_add('2021-01-02T15:04:05-07:00', '3h')",
      result: '2021-01-02T18:04:05-07:00',
    },
    call: (args) => formatRfc3339(addDuration(time(args, 0), duration(args, 1))),
  },
  time_after: {
    parameters: ['string', 'string'],
    returns: 'boolean',
    description: 'Whether the first time is later than the second.',
    example: { expression: "time_after('2021-01-02T00:00:00Z', '2021-01-01T00:00:00Z')", result: true },
    call: (args) => time(args, 0).nanoseconds > time(args, 1).nanoseconds,
  },
  time_before: {
    parameters: ['string', 'string'],
    returns: 'boolean',
    description: 'Whether the first time is earlier than the second.',
    example: { expression: "time_before('2021-01-01T00:00:00Z', '2021-01-02T00:00:00Z')", result: true },
    call: (args) => time(args, 0).nanoseconds < time(args, 1).nanoseconds,
  },
  time_between: {
    parameters: ['string', 'string', 'string'],
    returns: 'boolean',
    description: 'Whether the first time is between the other two, exclusively.',
    example: {
      expression: "time_between('2021-01-02T00:00:00Z', '2021-01-01T00:00:00Z', '2021-01-03T00:00:00Z')",
      result: true,
    },
    call: (args) => {
      const [moment, start, end] = [time(args, 0), time(args, 1), time(args, 2)];
      return moment.nanoseconds > start.nanoseconds && moment.nanoseconds < end.nanoseconds;
    },
  },
  time_diff: {
    parameters: ['string', 'string'],
    returns: 'string',
    description: 'The duration from the first time to the second.',
    example: { expression: "time_diff('2021-01-01T00:00:00Z', '2021-01-02T01:00:00Z')", result: '25h0m0s' },
    call: (args) => formatDuration(durationBetween(time(args, 0), time(args, 1))),
  },
  time_parse: {
    parameters: ['string', 'string'],
    returns: 'string',
    description: 'Parses a time with a Go layout, or as seconds since 1970 when the layout is a number.',
    example: { expression: "time_parse('2006-01-02', '2021-03-04')", result: '2021-03-04T00:00:00Z' },
    call: timeParse,
  },
  time_since: {
    parameters: ['string', 'string', 'string'],
    returns: 'string',
    description: 'The duration between two times; the layout defaults to RFC 3339 and the end to now.',
    example: {
      expression: "time_since('', '2021-01-02T15:04:05-07:00', '2021-01-10T03:14:05-07:00')",
      result: '180h10m0s',
    },
    volatile: true,
    call: (args) => {
      const layout = args.text(0) === '' ? rfc3339 : args.text(0);
      const start = time(args, 1, layout);
      const end = args.text(2) === '' ? timeOfDate(args.environment.now()) : time(args, 2, layout);
      return formatDuration(durationBetween(start, end));
    },
  },
  time_to_cron: {
    parameters: ['string'],
    returns: 'string',
    description: 'The cron expression for a time.',
    example: { expression: "time_to_cron('2022-04-11T03:14:05-07:00')", result: '14 3 11 4 1' },
    call: (args) => {
      const clock = wallClock(time(args, 0));
      const date = `${clock.getUTCDate()} ${clock.getUTCMonth() + 1} ${clock.getUTCDay()}`;
      return `${clock.getUTCMinutes()} ${clock.getUTCHours()} ${date}`;
    },
  },
  time_truncate: {
    parameters: ['string', 'string'],
    returns: 'string',
    description: 'A time rounded down to a multiple of a duration.',
    example: { expression: "time_truncate('2021-01-02T17:04:05Z', '1h')", result: '2021-01-02T17:00:00Z' },
    call: (args) => formatRfc3339(truncateTime(time(args, 0), duration(args, 1))),
  },
  time_utc: {
    parameters: ['string'],
    returns: 'string',
    description: 'A time in UTC.',
    example: { expression: "time_utc('2021-01-02T18:04:05-05:00')", result: '2021-01-02T23:04:05Z' },
    call: (args) => formatRfc3339(inUtc(time(args, 0))),
  },
});

function time(args: Arguments, index: number, layout = rfc3339): Time {
  return args.attempt(() => parseTime(layout, args.text(index)));
}

function duration(args: Arguments, index: number): bigint {
  const result = readDuration(args.text(index));
  return typeof result === 'bigint' ? result : args.fail(result);
}

/** The limit of a Date. */
const lastSecond = 8_640_000_000_000n;

function timeParse(args: Arguments): string {
  if (parseGoInteger(args.text(0)) === undefined) return formatRfc3339(time(args, 1, args.text(0)));
  const seconds = parseGoInteger(args.text(1));
  if (seconds === undefined || seconds > lastSecond || seconds < -lastSecond) {
    return args.fail(`${JSON.stringify(args.text(1))} is not a number of seconds`);
  }
  return formatRfc3339({ nanoseconds: seconds * 1_000_000_000n, offsetSeconds: 0 });
}
