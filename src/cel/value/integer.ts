import type { Value } from './value.ts';

/** An int outside of what a JavaScript number holds exactly. */
export class LargeInteger {
  readonly value: bigint;
  constructor(value: bigint) {
    this.value = value;
  }
}

export type Integer = number | LargeInteger;

export const minimumInteger = -(2n ** 63n);
export const maximumInteger = 2n ** 63n - 1n;

export function isInteger(value: Value): value is Integer {
  return typeof value === 'number' ? Number.isSafeInteger(value) : value instanceof LargeInteger;
}

export function toBigInt(value: Integer): bigint {
  return typeof value === 'number' ? BigInt(value) : value.value;
}

/** Exact for safe integers, rounded otherwise. */
export function toNumber(value: Integer): number {
  return typeof value === 'number' ? value : Number(value.value);
}

/** The int, or undefined when it does not fit into 64 bits. */
export function integerOf(value: bigint): Integer | undefined {
  if (value < minimumInteger || value > maximumInteger) return undefined;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : new LargeInteger(value);
}
