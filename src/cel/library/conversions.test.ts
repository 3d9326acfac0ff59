import { expect, test } from 'vitest';
import { mutatingPolicyEnvironment } from '../environments.ts';
import { compileCel } from '../expression.ts';
import type { Value } from '../value/value.ts';

const environment = mutatingPolicyEnvironment();
const scope = { lookup: () => undefined, effects: { now: () => new Date(0), random: () => 0 } };

function evaluate(source: string): Value | undefined {
  const { expression, problems } = compileCel(source, environment);
  expect(problems).toEqual([]);
  return expression?.evaluate(scope);
}

test.each([
  ['string(100000.0)', '100000'],
  ['string(1e6)', '1e+06'],
  ['string(-1234567.5)', '-1.2345675e+06'],
  ['string(0.0001)', '0.0001'],
  ['string(0.00001)', '1e-05'],
  ['"%s".format([123456789.5])', '1.234567895e+08'],
  ['string(double("1_0.5"))', '10.5'],
  ['string(timestamp("2024-02-29T12:34:56.5+01:00"))', '2024-02-29T12:34:56.5+01:00'],
  ['string(timestamp("2024-02-29T12:34:56-05:30") + duration("1s"))', '2024-02-29T12:34:57-05:30'],
  ['string(duration("1s") + timestamp("2024-02-29T12:34:56+01:00"))', '2024-02-29T12:34:57+01:00'],
  ['string(timestamp("2024-02-29T12:34:56+01:00") - duration("1s"))', '2024-02-29T12:34:55+01:00'],
  [
    'string(time.truncate(timestamp("2024-02-29T12:34:56+05:30"), duration("1h")))',
    '2024-02-29T12:30:00+05:30',
  ],
  ['time.toCron(timestamp("2024-02-29T12:34:56+05:30"))', '34 12 29 2 4'],
  ['timestamp("2024-02-29T12:34:56+01:00") == timestamp("2024-02-29T11:34:56Z")', true],
  ['timestamp("2024-02-29T23:34:56-05:00").getDate()', 1],
  ['timestamp("2024-02-29T12:34:56Z").getHours("+5:30")', 18],
  ['timestamp("2024-02-29T12:34:56Z").getHours("-3:0")', 9],
  ['timestamp("2024-02-29T12:34:56Z").getHours("Local")', 12],
  ['duration("1h30m").getMilliseconds()', 5_400_000],
  ['duration("-90.5s").getMilliseconds()', -90_500],
  ['string(duration("1.000000001s"))', '1.000000001s'],
  ['string(duration("2562047h47m16.854775807s"))', '9223372036.854776s'],
  ['optional.ofNonZeroValue(optional.none()).hasValue()', true],
])('%s is %j', (source, value) => {
  expect(evaluate(source)).toBe(value);
});

test.each([
  ['9223372036854775807 % -1 == 0 && -9223372036854775808 % -1 == 0', 'integer overflow'],
  ['"%s".format([b"\\xff"])', 'error during formatting: invalid UTF-8 in bytes, cannot convert to string'],
])('%s fails', (source, message) => {
  expect(() => evaluate(source)).toThrow(message);
});

test.each([
  ['timestamp(null)', 'invalid timestamp argument'],
  ['duration(null)', 'invalid duration argument'],
  ['double("1e400")', 'strconv.ParseFloat: parsing "1e400": invalid syntax'],
  ['int(dyn([1]))', 'no such overload: (list)'],
  ['double(dyn({"a": 1}))', 'no such overload: (map)'],
])('%s is refused', (source, message) => {
  expect(compileCel(source, environment).problems[0]?.message).toBe(message);
});
