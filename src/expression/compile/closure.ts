import type { Json } from '../../json/value.ts';
import type { FunctionTable } from '../functions/function-signature.ts';
import { EvaluationError, type Scope } from '../scope.ts';

/**
 * A compiled node. Undefined stands for Kyverno's "Unknown key": an error when it is the outcome of the whole
 * expression, null almost everywhere else.
 */
export type Closure = (current: Json, scope: Scope) => Json | undefined;

/** What the nodes of one expression share while they are compiled. */
export interface ClosureContext {
  readonly functions: FunctionTable;
  /** Values of the nested variables, by index. */
  readonly variables: readonly ((scope: Scope) => Json)[];
  /** Root names that are read. */
  readonly roots: Set<string>;
  /** The key behind the latest undefined, for the message. */
  readonly missing: { key: string };
}

/** In `roots`: everything that is bound may be read. */
export const ANY_ROOT = '@';

/** A function call that failed: its arguments do not fit, or it says so itself. */
export class CallError extends EvaluationError {}

export function isFalse(value: Json | undefined): boolean {
  if (typeof value !== 'object' || value === null)
    return value === undefined || value === null || value === false || value === '';
  return Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0;
}
