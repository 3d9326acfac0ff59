import { insertItem, removeItem, removeMember, replaceItem, setMember } from '../../json/edit.ts';
import { equal } from '../../json/equal.ts';
import { stringifyJson } from '../../json/json-text.ts';
import { isArray, isObject, type Json, type JsonArray, type JsonObject, member } from '../../json/value.ts';
import { KustomizeError } from '../kustomize-error.ts';
import { isTooLargeToCopy, tooLargeToCopy } from '../resource/copied-value.ts';

/**
 * Applies a JSON patch like kustomize's library: negative indexes count from the end, `replace` adds a missing member,
 * `copy` of a missing member yields null, and a missing parent is always an error.
 */
export function applyJsonPatch(document: Json, operations: readonly JsonPatchOperation[]): Json {
  return operations.reduce<Json>((result, operation, index) => {
    try {
      return applyOperation(result, operation);
    } catch (error) {
      if (!(error instanceof NotApplicable)) throw error;
      const what = `operation [${index}] ${operation.op} ${operation.pointer || "''"}`;
      throw new KustomizeError('KYM_KUSTOMIZE_PATCH', `${what}: ${error.message}`);
    }
  }, document);
}

class NotApplicable extends Error {
  override readonly name = 'NotApplicable';
}

type Container = JsonArray | JsonObject;

function applyOperation(document: Json, operation: JsonPatchOperation): Json {
  const { path } = operation;
  switch (operation.op) {
    case 'add':
      return edit(document, path, (parent, key) => added(parent, key, operation.value));
    case 'remove':
      return edit(document, path, removed);
    case 'replace':
      return path.length === 0 ? operation.value : edit(document, path, replacing(operation.value));
    case 'move': {
      const value = read(document, operation.from);
      const without = edit(document, operation.from, removed);
      return edit(without, path, (parent, key) => added(parent, key, value ?? null));
    }
    case 'copy': {
      const value = read(document, operation.from) ?? null;
      if (isTooLargeToCopy(value)) throw new NotApplicable(tooLargeToCopy);
      return edit(document, path, (parent, key) => added(parent, key, value));
    }
    case 'test':
      if (!equal(path.length === 0 ? document : (read(document, path) ?? null), operation.value)) {
        throw new NotApplicable('the value differs from the value of the test');
      }
      return document;
  }
}

/** Changes the container of the last path segment and copies its ancestors. */
function edit(
  document: Json,
  path: readonly string[],
  change: (parent: Container, key: string) => Json,
  depth = 0,
): Json {
  const parent = containerAt(document, path, depth);
  const key = path[depth];
  if (key === undefined) throw new NotApplicable('the path names the whole document');
  if (depth === path.length - 1) return change(parent, key);
  const child = childOf(parent, key) ?? null;
  return put(parent, key, edit(child, path, change, depth + 1));
}

/** Undefined if the last path segment is a missing member. */
function read(document: Json, path: readonly string[]): Json | undefined {
  let current: Json | undefined = document;
  if (path.length === 0) throw new NotApplicable('the path names the whole document');
  for (const [depth, key] of path.entries()) {
    current = childOf(containerAt(current ?? null, path, depth), key);
  }
  return current;
}

function containerAt(value: Json, path: readonly string[], depth: number): Container {
  if (isArray(value) || isObject(value)) return value;
  const pointer = `/${path.slice(0, depth).join('/')}`;
  throw new NotApplicable(
    value === null ? `${pointer} does not exist` : `${pointer} is neither a map nor a list`,
  );
}

function childOf(parent: Container, key: string): Json | undefined {
  return isArray(parent) ? parent[itemIndex(parent, key)] : member(parent as JsonObject, key);
}

function put(parent: Container, key: string, value: Json): Json {
  return isArray(parent)
    ? replaceItem(parent, itemIndex(parent, key), value)
    : setMember(parent as JsonObject, key, value);
}

function replacing(value: Json): (parent: Container, key: string) => Json {
  return (parent, key) => put(parent, key, value);
}

function added(parent: Container, key: string, value: Json): Json {
  if (!isArray(parent)) return setMember(parent as JsonObject, key, value);
  if (key === '-') return insertItem(parent, parent.length, value);
  return insertItem(parent, indexIn(key, parent.length + 1), value);
}

function removed(parent: Container, key: string): Json {
  if (isArray(parent)) return removeItem(parent, itemIndex(parent, key));
  const object = parent as JsonObject;
  if (!Object.hasOwn(object, key)) throw new NotApplicable(`the member "${key}" to remove does not exist`);
  return removeMember(object, key);
}

function itemIndex(list: JsonArray, key: string): number {
  return indexIn(key, list.length);
}

function indexIn(key: string, length: number): number {
  if (!/^[-+]?[0-9]+$/.test(key)) throw new NotApplicable(`'${key}' is not a list index`);
  const index = Number(key);
  const position = index < 0 ? index + length : index;
  if (position >= 0 && position < length) return position;
  throw new NotApplicable(`index ${key} is outside the list`);
}

interface Location {
  /** As written, for messages. */
  readonly pointer: string;
  readonly path: readonly string[];
}

export type JsonPatchOperation =
  | (Location & { readonly op: 'add' | 'replace' | 'test'; readonly value: Json })
  | (Location & { readonly op: 'remove' })
  | (Location & { readonly op: 'move' | 'copy'; readonly from: readonly string[] });

/** Checks the operations of a JSON patch. */
export function readJsonPatch(patch: Json): readonly JsonPatchOperation[] {
  if (!isArray(patch)) throw invalid('a JSON patch must be a list of operations');
  return patch.map((item, index) => {
    if (!isObject(item)) throw invalid(`operation [${index}] is not a map`);
    return readOperation(item, index);
  });
}

function readOperation(item: JsonObject, index: number): JsonPatchOperation {
  const op = member(item, 'op');
  const pointer = member(item, 'path');
  if (typeof pointer !== 'string') throw invalid(`operation [${index}] has no path`);
  const location = { pointer, path: readPointer(pointer, index) };
  switch (op) {
    case 'add':
    case 'replace':
    case 'test':
      return { ...location, op, value: member(item, 'value') ?? null };
    case 'remove':
      return { ...location, op };
    case 'move':
    case 'copy': {
      const from = member(item, 'from');
      if (typeof from !== 'string') throw invalid(`operation [${index}] ${op} has no from`);
      return { ...location, op, from: readPointer(from, index) };
    }
    default:
      throw invalid(`operation [${index}] has an unknown op: ${stringifyJson(op ?? null)}`);
  }
}

function readPointer(pointer: string, index: number): readonly string[] {
  if (pointer === '') return [];
  if (!pointer.startsWith('/')) {
    throw invalid(`the path '${pointer}' of operation [${index}] does not start with a slash`);
  }
  return pointer
    .slice(1)
    .split('/')
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function invalid(message: string): KustomizeError {
  return new KustomizeError('KYM_KUSTOMIZE_PATCH', message);
}
