import { Suspend } from '../../expression/scope.ts';
import { BudgetError } from '../../json/budget.ts';
import { typeNameOf } from './kinds.ts';
import type { Value } from './value.ts';

/** An evaluation error. `&&`, `||`, `all` and `exists` absorb it when another operand decides the result. */
export class CelError extends Error {
  override readonly name = 'CelError';
  /** Position in the expression, when it is known. */
  offset: number | undefined;
  constructor(message: string, offset?: number) {
    // The stack says nothing about the policy, and recording it is slow where `||` absorbs errors.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message);
    Error.stackTraceLimit = stackTraceLimit;
    this.offset = offset;
  }
}

/** No function or operator takes values of these types. */
export function noSuchOverload(values: readonly Value[], offset?: number): CelError {
  const types = values.length === 0 ? '' : `: (${values.map(typeNameOf).join(', ')})`;
  return new CelError(`no such overload${types}`, offset);
}

export function noSuchKey(key: string, offset?: number): CelError {
  return new CelError(`no such key: ${key}`, offset);
}

/** Turns an error of shared code into a CelError. An exhausted budget and a request for data pass through. */
export function attempt<Result>(action: () => Result, prefix = ''): Result {
  try {
    return action();
  } catch (error) {
    if (error instanceof BudgetError || error instanceof Suspend || error instanceof CelError) throw error;
    throw new CelError(`${prefix}${error instanceof Error ? error.message : String(error)}`);
  }
}
