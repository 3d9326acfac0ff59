import { compareNumbers, isNumber, type Json, type JsonArray } from '../../json/value.ts';
import { compareText, parseGoNumber } from '../go/format.ts';
import { type Arguments, defineFunctions } from './define.ts';

export const numberFunctions = defineFunctions({
  abs: {
    parameters: ['number'],
    returns: 'number',
    description: 'The absolute value.',
    example: { expression: 'abs(`-3`)', result: 3 },
    call: (args) => {
      const value = args.any(0);
      return typeof value === 'bigint' && value < 0n
        ? -value
        : isExact(value)
          ? value
          : Math.abs(args.number(0));
    },
  },
  avg: {
    parameters: ['array[number]'],
    returns: 'number',
    description: 'The average; null for an empty list.',
    example: { expression: 'avg(`[1, 2]`)', result: 1.5 },
    call: (args) => {
      const items = args.list(0).map(Number);
      if (items.length === 0) return null;
      const mean = items.reduce((sum, item) => sum + item, 0) / items.length;
      return Number.isFinite(mean) ? mean : args.fail('the result is too large');
    },
  },
  ceil: {
    parameters: ['number'],
    returns: 'number',
    description: 'The number rounded up to an integer.',
    example: { expression: 'ceil(`1.2`)', result: 2 },
    call: (args) => (isExact(args.any(0)) ? args.any(0) : Math.ceil(args.number(0))),
  },
  floor: {
    parameters: ['number'],
    returns: 'number',
    description: 'The number rounded down to an integer.',
    example: { expression: 'floor(`1.8`)', result: 1 },
    call: (args) => (isExact(args.any(0)) ? args.any(0) : Math.floor(args.number(0))),
  },
  max: {
    parameters: ['array[number]|array[string]'],
    returns: 'number|string',
    description: 'The largest item; null for an empty list.',
    example: { expression: 'max(`[1, 3, 2]`)', result: 3 },
    call: (args) => extreme(args.list(0), 1),
  },
  min: {
    parameters: ['array[number]|array[string]'],
    returns: 'number|string',
    description: 'The smallest item; null for an empty list.',
    example: { expression: 'min(`[2, 1, 3]`)', result: 1 },
    call: (args) => extreme(args.list(0), -1),
  },
  round: {
    parameters: ['number', 'number'],
    returns: 'number',
    description: 'Rounds to a number of decimal places, halves away from zero.',
    example: { expression: 'round(`3.14159`, `2`)', result: 3.14 },
    call: round,
  },
  to_number: {
    parameters: ['any'],
    returns: 'number',
    description: 'Parses a number from a string; null when it is not a number.',
    example: { expression: "to_number('2.50')", result: 2.5 },
    call: (args) => {
      const value = args.any(0);
      if (isNumber(value)) return value;
      return typeof value === 'string' ? (parseGoNumber(value) ?? null) : null;
    },
  },
});

/** A bigint has no fraction to round. */
function isExact(value: Json): value is bigint {
  return typeof value === 'bigint';
}

function round(args: Arguments): Json {
  const value = args.any(0);
  const places = args.number(1);
  if (!Number.isInteger(places)) return args.fail('Non-integer argument(s) passed for round off');
  if (places < 0) return args.fail('the number of decimal places is out of bounds');
  if (isExact(value)) return value;
  const shift = 10 ** places;
  const shifted = Math.abs(args.number(0)) * shift;
  if (!Number.isFinite(shifted)) return args.number(0);
  const whole = Math.floor(shifted);
  return (Math.sign(args.number(0)) * (shifted - whole >= 0.5 ? whole + 1 : whole)) / shift;
}

/** Orders two values of the same type, numbers or strings; undefined for anything else. */
export function orderOf(a: Json, b: Json): number | undefined {
  if (isNumber(a) && isNumber(b)) return compareNumbers(a, b);
  return typeof a === 'string' && typeof b === 'string' ? compareText(a, b) : undefined;
}

function extreme(items: JsonArray, direction: 1 | -1): Json {
  let best: Json = items[0] ?? null;
  for (const item of items) if ((orderOf(item, best) ?? 0) * direction > 0) best = item;
  return best;
}
