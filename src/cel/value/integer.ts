import { jsonInteger } from '../../json/json-text.ts';
import type { Value } from './value.ts';

/** As in JSON values: a number if it is a safe integer, otherwise a bigint. */
export type Integer = number | bigint;

export const minimumInteger = -(2n ** 63n);
export const maximumInteger = 2n ** 63n - 1n;

export function isInteger(value: Value): value is Integer {
  return typeof value === 'number' ? Number.isSafeInteger(value) : typeof value === 'bigint';
}

export function toBigInt(value: Integer): bigint {
  return BigInt(value);
}

/** Exact for safe integers, rounded otherwise. */
export function toNumber(value: Integer): number {
  return Number(value);
}

/** The int, or undefined when it does not fit into 64 bits. */
export function integerOf(value: bigint): Integer | undefined {
  if (value < minimumInteger || value > maximumInteger) return undefined;
  return jsonInteger(value);
}
