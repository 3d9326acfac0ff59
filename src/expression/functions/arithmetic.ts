import { jsonNumber } from '../../json/json-text.ts';
import { isNumber, type Json } from '../../json/value.ts';
import { formatDuration, nanosecondsPerSecond, parseDuration } from '../duration.ts';
import { formatGoNumber } from '../go/format.ts';
import {
  addQuantities,
  approximateNumber,
  divideQuantities,
  formatQuantity,
  multiplyQuantities,
  parseQuantity,
  type Quantity,
  subtractQuantities,
} from '../quantity.ts';
import { type Arguments, defineFunctions } from './define.ts';

export const arithmeticFunctions = defineFunctions({
  add: {
    parameters: ['any', 'any'],
    returns: 'number|string',
    description: 'The sum of two numbers, quantities or durations.',
    example: { expression: "add('10Mi', '10Mi')", result: '20Mi' },
    call: (args) => add(args, args.any(0), args.any(1)),
  },
  sum: {
    parameters: ['array'],
    returns: 'number|string',
    description: 'The sum of a list of numbers, quantities or durations.',
    example: { expression: 'sum(`["1Gi", "512Mi"]`)', result: '1536Mi' },
    call: (args) => {
      const [first, ...rest] = args.list(0);
      if (first === undefined) return args.fail('at least one element in the array is required');
      return rest.reduce((total, item) => add(args, total, item), first);
    },
  },
  subtract: {
    parameters: ['any', 'any'],
    returns: 'number|string',
    description: 'The difference of two numbers, quantities or durations.',
    example: { expression: "subtract('3h', '1h')", result: '2h0m0s' },
    call: (args) => {
      const [a, b] = operands(args);
      if (a.kind === 'quantity' && b.kind === 'quantity')
        return formatQuantity(subtractQuantities(a.value, b.value));
      if (a.kind === 'duration' && b.kind === 'duration') return durationText(args, a.value - b.value);
      if (a.kind === 'number' && b.kind === 'number') return finite(args, a.value - b.value);
      return mismatch(args);
    },
  },
  multiply: {
    parameters: ['any', 'any'],
    returns: 'number|string',
    description: 'A number, quantity or duration times a number.',
    example: { expression: "multiply('12s', `2`)", result: '24s' },
    call: (args) => {
      const [a, b] = operands(args);
      return a.kind === 'number' ? multiply(args, b, a) : multiply(args, a, b);
    },
  },
  divide: {
    parameters: ['any', 'any'],
    returns: 'number|string',
    description:
      'Two operands of one type give a number; a quantity or duration divided by a number keeps its type.',
    example: { expression: "divide('10Gi', `2`)", result: '5Gi' },
    call: divide,
  },
  modulo: {
    parameters: ['any', 'any'],
    returns: 'number|string',
    description: 'The remainder of dividing two integers, quantities or durations.',
    example: { expression: "modulo('35s', '10s')", result: '5s' },
    call: modulo,
  },
});

type Operand =
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'quantity'; readonly value: Quantity }
  | { readonly kind: 'duration'; readonly value: bigint };

/** A string that parses as a quantity is one, so `30m` is 0.03 and not half an hour. */
function operand(args: Arguments, value: Json): Operand {
  if (isNumber(value)) return { kind: 'number', value: Number(value) };
  if (typeof value === 'string') {
    const quantity = parseQuantity(value);
    if (quantity !== undefined) return { kind: 'quantity', value: quantity };
    const duration = parseDuration(value);
    if (duration !== undefined) return { kind: 'duration', value: duration };
  }
  return args.fail('invalid operand');
}

function operands(args: Arguments): readonly [Operand, Operand] {
  return [operand(args, args.any(0)), operand(args, args.any(1))];
}

function mismatch(args: Arguments): never {
  return args.fail('Types mismatch');
}

function finite(args: Arguments, value: number): number | bigint {
  return Number.isFinite(value) ? jsonNumber(value) : args.fail('the result is too large');
}

const int64Limit = 2n ** 63n;

function durationText(args: Arguments, nanoseconds: bigint): string {
  if (nanoseconds >= int64Limit || nanoseconds < -int64Limit) return args.fail('the result is too large');
  return formatDuration(nanoseconds);
}

function add(args: Arguments, left: Json, right: Json): Json {
  const [a, b] = [operand(args, left), operand(args, right)];
  if (a.kind === 'quantity' && b.kind === 'quantity') return formatQuantity(addQuantities(a.value, b.value));
  if (a.kind === 'duration' && b.kind === 'duration') return durationText(args, a.value + b.value);
  if (a.kind === 'number' && b.kind === 'number') return finite(args, a.value + b.value);
  return mismatch(args);
}

function multiply(args: Arguments, subject: Operand, factor: Operand): Json {
  if (factor.kind !== 'number') return mismatch(args);
  if (subject.kind === 'number') return finite(args, subject.value * factor.value);
  if (subject.kind === 'duration') return scaleDuration(args, seconds(subject.value) * factor.value);
  return formatQuantity(multiplyQuantities(subject.value, quantityOf(args, factor.value)));
}

function divide(args: Arguments): Json {
  const [a, b] = operands(args);
  if (a.kind !== b.kind && b.kind !== 'number') return mismatch(args);
  if (isZero(b)) return args.fail('Zero divisor passed');
  if (a.kind === 'number' && b.kind === 'number') return finite(args, a.value / b.value);
  if (a.kind === 'duration' && b.kind === 'duration')
    return finite(args, seconds(a.value) / seconds(b.value));
  if (a.kind === 'quantity' && b.kind === 'quantity') {
    return finite(args, approximateNumber(a.value) / approximateNumber(b.value));
  }
  if (a.kind === 'duration' && b.kind === 'number') return scaleDuration(args, seconds(a.value) / b.value);
  if (a.kind === 'quantity' && b.kind === 'number') {
    return formatQuantity(divideQuantities(a.value, quantityOf(args, b.value)));
  }
  return mismatch(args);
}

function modulo(args: Arguments): Json {
  const [a, b] = operands(args);
  if (a.kind !== b.kind) return mismatch(args);
  if (a.kind === 'duration' && b.kind === 'duration') {
    return b.value === 0n ? args.fail('Zero divisor passed') : formatDuration(a.value % b.value);
  }
  const [dividend, divisor] = [wholeNumber(args, a), wholeNumber(args, b)];
  if (divisor === 0n) return args.fail('Zero divisor passed');
  const remainder = dividend % divisor;
  if (a.kind === 'quantity') return formatQuantity({ unscaled: remainder, scale: 0, format: a.value.format });
  return Number(remainder);
}

function wholeNumber(args: Arguments, value: Operand): bigint {
  const number = value.kind === 'quantity' ? approximateNumber(value.value) : Number(value.value);
  if (!Number.isInteger(number) || Math.abs(number) >= 2 ** 63) {
    return args.fail('Non-integer argument(s) passed for modulo');
  }
  return BigInt(number);
}

function isZero(value: Operand): boolean {
  return value.kind === 'quantity' ? value.value.unscaled === 0n : Number(value.value) === 0;
}

function quantityOf(args: Arguments, value: number): Quantity {
  return parseQuantity(formatGoNumber(value)) ?? args.fail('invalid operand');
}

function seconds(nanoseconds: bigint): number {
  return Number(nanoseconds / nanosecondsPerSecond) + Number(nanoseconds % nanosecondsPerSecond) / 1e9;
}

function scaleDuration(args: Arguments, value: number): string {
  return durationText(args, BigInt(Math.trunc(Number(finite(args, value * 1e9)))));
}
