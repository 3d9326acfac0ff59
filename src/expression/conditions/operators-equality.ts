import { equal } from '../../json/equal.ts';
import { compareNumbers, isArray, isNumber, isObject, type Json } from '../../json/value.ts';
import { parseDuration, secondsToDuration } from '../duration.ts';
import { parseGoNumber } from '../go/format.ts';
import { compareQuantities, parseQuantity, type Quantity } from '../quantity.ts';
import { compileWildcard, matchesWildcard, type TextMatcher } from '../wildcard.ts';

/** A bare `0` is a number, though Go also reads it as a duration. */
export function durationOf(value: Json): bigint | undefined {
  return typeof value === 'string' && value !== '0' ? parseDuration(value) : undefined;
}

/**
 * Both sides as durations when one is a duration string and the other is a duration string or a number of seconds.
 */
export function durationPair(
  key: Json,
  value: Json,
  valueDuration: bigint | undefined,
): readonly [bigint, bigint] | undefined {
  const keyDuration = durationOf(key);
  if (keyDuration === undefined && valueDuration === undefined) return undefined;
  const left = keyDuration ?? (isNumber(key) ? secondsToDuration(key) : undefined);
  const right = valueDuration ?? (isNumber(value) ? secondsToDuration(value) : undefined);
  return left === undefined || right === undefined ? undefined : [left, right];
}

interface PreparedText {
  readonly duration: bigint | undefined;
  readonly quantity: Quantity | undefined;
  readonly matcher: TextMatcher;
}

export function prepareEquals(constant?: Json): (key: Json, value: Json) => boolean {
  if (typeof constant !== 'string') return (key, value) => equals(key, value, undefined);
  const prepared: PreparedText = {
    duration: durationOf(constant),
    quantity: parseQuantity(constant),
    matcher: compileWildcard(constant),
  };
  return (key, value) => equals(key, value, prepared);
}

function equals(key: Json, value: Json, prepared: PreparedText | undefined): boolean {
  if (typeof key === 'string') return textEquals(key, value, prepared);
  if (isNumber(key)) {
    const other = typeof value === 'string' ? parseGoNumber(value) : value;
    return isNumber(other) && compareNumbers(key, other) === 0;
  }
  if (typeof key === 'boolean') return key === value;
  if (isArray(key)) return isArray(value) && equal(key, value);
  return isObject(key) && isObject(value) && equal(key, value);
}

function textEquals(key: string, value: Json, prepared: PreparedText | undefined): boolean {
  const durations = durationPair(key, value, prepared === undefined ? durationOf(value) : prepared.duration);
  if (durations !== undefined) return durations[0] === durations[1];
  if (typeof value !== 'string') return false;
  const quantity = parseQuantity(key);
  if (quantity !== undefined) {
    const other = prepared === undefined ? parseQuantity(value) : prepared.quantity;
    return other !== undefined && compareQuantities(quantity, other) === 0;
  }
  return prepared === undefined ? matchesWildcard(value, key) : prepared.matcher.matches(key);
}
