import { spendSize } from '../budget.ts';
import { equal } from '../equal.ts';
import { stringifyJson } from '../json-text.ts';
import { StepError } from '../list-index.ts';
import { formatPointer, PointerSyntaxError } from '../pointer.ts';
import { isObject, type Json, member } from '../value.ts';
import { addAt, type EditMode, readAt, removeAt, replaceAt } from './apply-step.ts';
import {
  type Operation,
  OperationSyntaxError,
  parseOperation,
  type UserPatchOperation,
} from './operation.ts';

export interface ApplyOptions {
  /**
   * False: RFC 6902. True: also the extensions of Kyverno. `add` creates missing parents, `remove` of a missing
   * value is not an error, negative indexes count from the end.
   */
  readonly lenient?: boolean | undefined;
}

/**
 * Applies the operations in order. The document is not modified; the result shares its unchanged parts.
 * Throws PatchApplyError for the first operation that cannot be applied.
 */
export function applyPatch(
  document: Json,
  operations: readonly UserPatchOperation[],
  options: ApplyOptions = {},
): Json {
  const lenient = options.lenient ?? false;
  const mode: EditMode = { lenient };
  return operations.reduce<Json>((result, operation, index) => {
    return applyOperation(result, readOperation(operation as Json, index, lenient), index, mode);
  }, document);
}

/** One operation whose pointers are already split; `index` is its position in the patch, for the message. */
export function applyOperation(document: Json, operation: Operation, index: number, mode: EditMode): Json {
  try {
    return applyChecked(document, operation, mode);
  } catch (error) {
    if (!(error instanceof StepError)) throw error;
    throw new PatchApplyError(index, operation.op, formatPointer(operation.path), error.message);
  }
}

export class PatchApplyError extends Error {
  override readonly name = 'PatchApplyError';
  /** Index of the operation. */
  readonly index: number;
  readonly op: string;
  readonly path: string;
  /** Never contains values of the document: messages are logged. */
  readonly reason: string;
  constructor(index: number, op: string, path: string, reason: string) {
    super(`patch operation [${index}] ${op} ${path === '' ? "''" : path}: ${reason}`);
    this.index = index;
    this.op = op;
    this.path = path;
    this.reason = reason;
  }
}

function readOperation(operation: Json, index: number, lenient: boolean): Operation {
  try {
    return parseOperation(operation, lenient);
  } catch (error) {
    if (!(error instanceof OperationSyntaxError || error instanceof PointerSyntaxError)) throw error;
    const op = isObject(operation) ? member(operation, 'op') : undefined;
    const path = isObject(operation) ? member(operation, 'path') : undefined;
    throw new PatchApplyError(index, nameOf(op), nameOf(path), error.message);
  }
}

/** The string itself; other values as JSON. An object may have a member `toString`, so String() may throw. */
function nameOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : value === undefined ? 'undefined' : stringifyJson(value);
}

function applyChecked(document: Json, operation: Operation, mode: EditMode): Json {
  switch (operation.op) {
    case 'add':
      return addAt(document, operation.path, operation.value, mode, mode.lenient);
    case 'remove':
      return removeAt(document, operation.path, mode, mode.lenient);
    case 'replace':
      return replaceAt(document, operation.path, operation.value, mode);
    case 'copy': {
      const value = readAt(document, operation.from, mode);
      spendSize(value);
      return addAt(document, operation.path, value, mode, false);
    }
    case 'move':
      return move(document, operation.from, operation.path, mode);
    case 'test':
      return test(document, operation.path, operation.value, mode);
  }
}

function move(document: Json, from: readonly string[], path: readonly string[], mode: EditMode): Json {
  const value = readAt(document, from, mode);
  const inside = from.length <= path.length && from.every((token, depth) => token === path[depth]);
  if (inside && from.length === path.length) return document;
  if (inside) throw new StepError("a value cannot be moved into itself ('from' is a parent of 'path')");
  return addAt(removeAt(document, from, mode, false), path, value, mode, false);
}

function test(document: Json, path: readonly string[], expected: Json, mode: EditMode): Json {
  const actual =
    mode.lenient && expected === null ? readOrNull(document, path) : readAt(document, path, mode);
  if (!equal(actual, expected)) throw new StepError('the value differs from the expected value');
  return document;
}

/** In Kyverno, a test for null passes for an absent member. */
function readOrNull(document: Json, path: readonly string[]): Json {
  const parent = path.length > 0 ? readAt(document, path.slice(0, -1), { lenient: true }) : null;
  const key = path.at(-1) ?? '';
  return isObject(parent) && !Object.hasOwn(parent, key) ? null : readAt(document, path, { lenient: true });
}
