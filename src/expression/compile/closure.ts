import type { Json, JsonObject } from '../../json/value.ts';
import type { FunctionTable } from '../functions/function-signature.ts';
import { EvaluationError, type Scope } from '../scope.ts';

/**
 * A compiled node. Undefined means Kyverno's "Unknown key": an error as the result of the whole
 * expression, null almost everywhere else.
 */
export type Closure = (current: Json, scope: Scope) => Json | undefined;

/** The key that made the last evaluation undefined. */
export interface MissingKey {
  key: string;
  /** The image that does not have it, for a part of an image. */
  image?: JsonObject | undefined;
}

/** Shared by the nodes of one expression at compile time. */
export interface ClosureContext {
  readonly functions: FunctionTable;
  /** Values of the nested variables, by index. */
  readonly variables: readonly ((scope: Scope) => Json)[];
  /** Root names that are read. */
  readonly roots: Set<string>;
  /** The key of the latest undefined, for the message. */
  readonly missing: MissingKey;
}

/** In `roots`: any binding may be read. */
export const ANY_ROOT = '@';

/** A failed function call. */
export class CallError extends EvaluationError {}

export function isFalse(value: Json | undefined): boolean {
  if (typeof value !== 'object' || value === null)
    return value === undefined || value === null || value === false || value === '';
  return Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0;
}
