import { compareNumbers, isNumber, type Json } from '../../json/value.ts';
import { parseDuration, secondsToDuration } from '../duration.ts';
import { parseGoNumber } from '../go/format.ts';
import { compareQuantities, parseQuantity } from '../quantity.ts';
import { compareVersions, parseVersion } from '../semver-range.ts';
import { durationOf, durationPair } from './operators-equality.ts';

type Accepts = (order: number) => boolean;
type Compare = (key: Json, value: Json) => boolean;

/** GreaterThan, LessThan and so on: compares durations, then quantities, numbers and versions. Incomparable operands give false. */
export function prepareComparison(accepts: Accepts): Compare {
  return (key, value) => {
    const order = isNumber(key) ? orderOfNumber(key, value) : orderOfText(key, value);
    return order !== undefined && accepts(order);
  };
}

function orderOfNumber(key: number | bigint, value: Json): number | undefined {
  if (isNumber(value)) return compareNumbers(key, value);
  if (typeof value !== 'string') return undefined;
  const durations = durationPair(key, value, durationOf(value));
  if (durations !== undefined) return compareNumbers(durations[0], durations[1]);
  const number = parseGoNumber(value);
  return number === undefined ? undefined : compareNumbers(key, number);
}

function orderOfText(key: Json, value: Json): number | undefined {
  if (typeof key !== 'string') return undefined;
  const durations = durationPair(key, value, durationOf(value));
  if (durations !== undefined) return compareNumbers(durations[0], durations[1]);
  const quantity = parseQuantity(key);
  const other = quantity !== undefined && typeof value === 'string' ? parseQuantity(value) : undefined;
  if (quantity !== undefined && other !== undefined) return compareQuantities(quantity, other);
  const number = parseGoNumber(key);
  if (number !== undefined) return orderOfNumber(number, value);
  const version = parseVersion(key);
  const bound = version !== undefined && typeof value === 'string' ? parseVersion(value) : undefined;
  return version === undefined || bound === undefined ? undefined : compareVersions(version, bound);
}

/** The Duration… operators. Plain numbers are seconds. */
export function prepareDurationComparison(accepts: Accepts): Compare {
  return (key, value) => {
    const left = asDuration(key);
    const right = left === undefined ? undefined : asDuration(value);
    return left !== undefined && right !== undefined && accepts(compareNumbers(left, right));
  };
}

function asDuration(value: Json): bigint | undefined {
  if (isNumber(value)) return secondsToDuration(value);
  return typeof value === 'string' ? parseDuration(value) : undefined;
}
