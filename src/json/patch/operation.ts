import { parsePointer } from '../pointer.ts';
import { isObject, type Json, member } from '../value.ts';

/** An operation of our own diff. Paths are RFC 6901 pointers. */
export type PatchOperation =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: Json }
  | { readonly op: 'remove'; readonly path: string };

/** An operation that a user may write: all of RFC 6902. */
export type UserPatchOperation =
  | PatchOperation
  | { readonly op: 'test'; readonly path: string; readonly value: Json }
  | { readonly op: 'move' | 'copy'; readonly from: string; readonly path: string };

/** A validated operation with parsed pointers. */
export type Operation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: readonly string[]; readonly value: Json }
  | { readonly op: 'remove'; readonly path: readonly string[] }
  | { readonly op: 'move' | 'copy'; readonly from: readonly string[]; readonly path: readonly string[] };

export type OperationName = Operation['op'];

export const operationNames: readonly OperationName[] = ['add', 'remove', 'replace', 'move', 'copy', 'test'];

export function isOperationName(value: Json | undefined): value is OperationName {
  return typeof value === 'string' && (operationNames as readonly string[]).includes(value);
}

/** The required member of an operation besides `op` and `path`. */
export function requiredMember(op: OperationName): 'value' | 'from' | undefined {
  if (op === 'remove') return undefined;
  return op === 'move' || op === 'copy' ? 'from' : 'value';
}

/** Parses an RFC 6902 operation and ignores unknown members. Throws OperationSyntaxError. */
export function parseOperation(operation: Json, lenient = false): Operation {
  if (!isObject(operation)) throw new OperationSyntaxError('an operation must be an object');
  const op = member(operation, 'op');
  if (!isOperationName(op)) {
    throw new OperationSyntaxError(`'op' must be one of ${operationNames.join(', ')}`);
  }
  const path = parsePointer(textMember(operation, 'path'), { lenient });
  if (op === 'remove') return { op, path };
  if (op === 'move' || op === 'copy') {
    return { op, path, from: parsePointer(textMember(operation, 'from'), { lenient }) };
  }
  const value = member(operation, 'value');
  if (value === undefined) throw new OperationSyntaxError(`'value' is missing`);
  return { op, path, value };
}

function textMember(operation: Readonly<Record<string, Json>>, name: string): string {
  const value = member(operation, name);
  if (value === undefined) throw new OperationSyntaxError(`'${name}' is missing`);
  if (typeof value !== 'string') throw new OperationSyntaxError(`'${name}' must be a string`);
  return value;
}

export class OperationSyntaxError extends Error {
  override readonly name = 'OperationSyntaxError';
}
