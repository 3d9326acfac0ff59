import { typeNameMismatches } from '../../cel/library/object.ts';
import { CelError } from '../../cel/value/error.ts';
import { toJson } from '../../cel/value/json.ts';
import { isList, typeNameOf } from '../../cel/value/kinds.ts';
import { StructValue, type Value } from '../../cel/value/value.ts';
import { equal } from '../../json/equal.ts';
import { applyOperation, PatchApplyError } from '../../json/patch/apply-patch.ts';
import { isOperationName, type Operation, operationNames } from '../../json/patch/operation.ts';
import { PointerSyntaxError, parsePointer } from '../../json/pointer.ts';
import { isArray, isObject, type Json, type JsonObject, valueAt } from '../../json/value.ts';
import { PatchError } from '../compiled-patch.ts';

/**
 * Applies the list of `JSONPatch{…}` that an expression gave. Unlike RFC 6902, `replace` adds a missing member, and `add`
 * without a value adds null. A failed `test` is no error: nothing changes then.
 */
export function applyJsonPatches(
  object: JsonObject,
  value: Value,
  { strict }: { readonly strict: boolean } = { strict: false },
): JsonObject {
  if (!isList(value)) {
    throw new CelError(`the expression of a JSONPatch gave ${typeNameOf(value)} instead of a list`);
  }
  let document: Json = object;
  for (const [index, item] of value.entries()) {
    const operation = operationOf(item, index, strict);
    if (operation.op === 'test') {
      if (!passes(document, operation.path, operation.value, index)) return object;
      continue;
    }
    document = attempt(index, operation, () =>
      applyOperation(document, upsert(document, operation), index, false),
    );
  }
  if (!isObject(document)) {
    throw new PatchError(
      'KYM_JSON_PATCH_FAILED',
      [],
      'the patch replaces the object by a value that is no object',
    );
  }
  return document;
}

function operationOf(item: Value, index: number, strict: boolean): Operation {
  if (!(item instanceof StructValue) || item.typeName !== 'JSONPatch') {
    throw new CelError(
      `item ${index} of the JSONPatch list is ${typeNameOf(item)}; leave out such items with filter(p, p != null)`,
    );
  }
  const { op = '', path = '', from = '', value } = item.fields;
  if (!isOperationName(op as string)) {
    throw failed(index, `'${String(op)}' is not an operation; use one of ${operationNames.join(', ')}`);
  }
  const tokens = pointer(path as string, index);
  switch (op) {
    case 'remove':
      return { op, path: tokens };
    case 'move':
    case 'copy':
      return { op, path: tokens, from: pointer(from as string, index) };
    default:
      return { op: op as 'add' | 'replace' | 'test', path: tokens, value: jsonOf(value, strict) };
  }
}

/** The name of the outermost type is free; the names below it have to follow the fields. */
function jsonOf(value: Value | undefined, strict: boolean): Json {
  if (value === undefined) return null;
  const mismatch = value instanceof StructValue ? typeNameMismatches(value)[0] : undefined;
  if (mismatch !== undefined) throw new CelError(`type mismatch: ${mismatch}`);
  const json = toJson(value);
  return strict ? withTextForLargeIntegers(json) : json;
}

/** Kyverno writes integers beyond 2^53 as strings of digits. */
function withTextForLargeIntegers(json: Json): Json {
  if (typeof json === 'bigint') return String(json);
  if (isArray(json)) return json.map(withTextForLargeIntegers);
  if (!isObject(json)) return json;
  return Object.fromEntries(Object.entries(json).map(([key, item]) => [key, withTextForLargeIntegers(item)]));
}

function pointer(text: string, index: number): readonly string[] {
  try {
    return parsePointer(text);
  } catch (error) {
    if (!(error instanceof PointerSyntaxError)) throw error;
    throw failed(index, `'${text}' is not a JSON pointer: ${error.message}`);
  }
}

function upsert(document: Json, operation: Operation): Operation {
  if (operation.op !== 'replace' || operation.path.length === 0) return operation;
  const parent = valueAt(document, operation.path.slice(0, -1));
  const isMissing = isObject(parent) && !Object.hasOwn(parent, operation.path.at(-1) as string);
  return isMissing ? { ...operation, op: 'add' } : operation;
}

/** A missing member equals null; a missing parent is an error. */
function passes(document: Json, path: readonly string[], expected: Json, index: number): boolean {
  const parent = path.length === 0 ? document : valueAt(document, path.slice(0, -1));
  if (path.length > 0 && !isObject(parent) && !isArray(parent)) {
    throw failed(index, `test: the parent of /${path.join('/')} does not exist`);
  }
  return equal(valueAt(document, path) ?? null, expected);
}

function attempt<Result>(index: number, { op, path }: Operation, action: () => Result): Result {
  try {
    return action();
  } catch (error) {
    if (!(error instanceof PatchApplyError)) throw error;
    throw new PatchError(
      'KYM_JSON_PATCH_FAILED',
      path,
      `operation ${index} (${op} /${path.join('/')}): ${error.reason}`,
    );
  }
}

function failed(index: number, message: string): PatchError {
  return new PatchError('KYM_JSON_PATCH_FAILED', [], `operation ${index}: ${message}`);
}
