import { typeMismatch, typeNameMismatches } from '../../cel/library/object.ts';
import { CelError } from '../../cel/value/error.ts';
import { toJson } from '../../cel/value/json.ts';
import { isList, typeNameOf } from '../../cel/value/kinds.ts';
import { StructValue, type Value } from '../../cel/value/value.ts';
import { Draft } from '../../json/draft.ts';
import { equal } from '../../json/equal.ts';
import { applyOperation, PatchApplyError } from '../../json/patch/apply-patch.ts';
import type { EditMode } from '../../json/patch/apply-step.ts';
import { isOperationName, type Operation, operationNames } from '../../json/patch/operation.ts';
import { PointerSyntaxError, parsePointer } from '../../json/pointer.ts';
import { isArray, isObject, type Json, type JsonObject, valueAt } from '../../json/value.ts';
import { PatchError } from '../compiled-patch.ts';

/**
 * Applies the list of `JSONPatch{…}` that an expression gave. Unlike RFC 6902, `replace` adds a missing member, `add` without a
 * value adds null, `copy` of a missing member copies null, and negative indexes count from the end. A failed `test` is no error:
 * nothing changes then.
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
  const draft = new Draft();
  const mode: EditMode = { lenient: false, draft };
  for (let index = 0; index < value.length; index++) {
    const operation = resolved(document, operationOf(value[index] as Value, index, strict));
    if (operation.op === 'test') {
      if (!passes(document, operation.path, operation.value, index)) return object;
      continue;
    }
    if (operation.op === 'copy') draft.release();
    try {
      document = applyOperation(document, forMissing(document, operation), index, mode);
    } catch (error) {
      throw inPatch(error, index, operation);
    }
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
  // The type of JSONPatch makes sure that these are strings.
  const op = (item.field('op') ?? '') as string;
  if (!isOperationName(op)) {
    throw failed(index, `'${op}' is not an operation; use one of ${operationNames.join(', ')}`);
  }
  const tokens = pointer((item.field('path') ?? '') as string, index);
  switch (op) {
    case 'remove':
      return { op, path: tokens };
    case 'move':
    case 'copy':
      return { op, path: tokens, from: pointer((item.field('from') ?? '') as string, index) };
    default:
      return { op, path: tokens, value: jsonOf(item.field('value'), strict) };
  }
}

/** The name of the outermost type is free; the names below it have to follow the fields. */
function jsonOf(value: Value | undefined, strict: boolean): Json {
  if (value === undefined) return null;
  const mismatch = value instanceof StructValue ? typeNameMismatches(value)[0] : undefined;
  if (mismatch !== undefined) throw typeMismatch(mismatch);
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

/** Most paths are literals of policies, or the same for each object. */
const pointers = new Map<string, readonly string[]>();
const mostPointers = 1_000;
const longestPointer = 200;

function pointer(text: string, index: number): readonly string[] {
  const known = pointers.get(text);
  if (known !== undefined) return known;
  try {
    const tokens = parsePointer(text);
    if (pointers.size >= mostPointers) pointers.clear();
    if (text.length <= longestPointer) pointers.set(text, tokens);
    return tokens;
  } catch (error) {
    if (!(error instanceof PointerSyntaxError)) throw error;
    throw failed(index, `'${text}' is not a JSON pointer: ${error.message}`);
  }
}

/** With negative indexes replaced by those that they stand for. */
function resolved(document: Json, operation: Operation): Operation {
  const path = withIndexes(document, operation.path, operation.op === 'add' ? 1 : 0);
  if (operation.op === 'move' || operation.op === 'copy')
    return { ...operation, path, from: withIndexes(document, operation.from, 0) };
  return path === operation.path ? operation : { ...operation, path };
}

function isNegative(token: string): boolean {
  return token.charCodeAt(0) === 45 && /^-\d+$/.test(token);
}

/** `beyond` is 1 if the last index may be the length of the list. */
function withIndexes(document: Json, path: readonly string[], beyond: 0 | 1): readonly string[] {
  if (!path.some(isNegative)) return path;
  const tokens: string[] = [];
  for (const token of path) {
    const parent = valueAt(document, tokens);
    const isLast = tokens.length === path.length - 1;
    const index = isArray(parent) ? parent.length + (isLast ? beyond : 0) + Number(token) : -1;
    tokens.push(isNegative(token) && index >= 0 ? String(index) : token);
  }
  return tokens;
}

function forMissing(document: Json, operation: Operation): Operation {
  if (operation.op === 'replace' && isMissing(document, operation.path)) return { ...operation, op: 'add' };
  if (operation.op === 'copy' && isMissing(document, operation.from))
    return { op: 'add', path: operation.path, value: null };
  return operation;
}

function isMissing(document: Json, path: readonly string[]): boolean {
  if (path.length === 0) return false;
  const parent = valueAt(document, path.slice(0, -1));
  return isObject(parent) && !Object.hasOwn(parent, path.at(-1) as string);
}

/** A missing member equals null; a missing parent is an error. */
function passes(document: Json, path: readonly string[], expected: Json, index: number): boolean {
  const parent = path.length === 0 ? document : valueAt(document, path.slice(0, -1));
  if (path.length > 0 && !isObject(parent) && !isArray(parent)) {
    throw failed(index, `test: the parent of /${path.join('/')} does not exist`);
  }
  return equal(valueAt(document, path) ?? null, expected);
}

function inPatch(error: unknown, index: number, { op, path }: Operation): unknown {
  if (!(error instanceof PatchApplyError)) return error;
  const message = `operation ${index} (${op} /${path.join('/')}): ${error.reason}`;
  return new PatchError('KYM_JSON_PATCH_FAILED', path, message);
}

function failed(index: number, message: string): PatchError {
  return new PatchError('KYM_JSON_PATCH_FAILED', [], `operation ${index}: ${message}`);
}
