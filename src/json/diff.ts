import { alignLists } from './align.ts';
import type { PatchOperation } from './patch-operation.ts';
import { escapeToken } from './pointer.ts';
import { textIsShorterThan, textLength } from './text-length.ts';
import { isArray, isObject, type Json, type JsonArray, type JsonObject, member } from './value.ts';

/**
 * The operations that turn `before` into `after`, to be applied in sequence. Only add, replace and remove.
 * Subtrees shared by both (===) cost nothing. Untouched list items keep their place; a changed item is
 * patched in place. Members come in the order of `after`, removed members last.
 *
 * @example diff({ l: [1, 2] }, { l: [0, 1, 2] }) // [{ op: 'add', path: '/l/0', value: 0 }]
 */
export function diff(before: Json, after: Json): PatchOperation[] {
  const operations: PatchOperation[] = [];
  diffValue(before, after, '', operations);
  return operations;
}

function diffValue(before: Json, after: Json, path: string, operations: PatchOperation[]): void {
  if (before === after) return;
  if (isArray(before) && isArray(after)) diffList(before, after, path, operations);
  else if (isObject(before) && isObject(after)) diffObject(before, after, path, operations);
  else operations.push({ op: 'replace', path, value: after });
}

function diffObject(before: JsonObject, after: JsonObject, path: string, operations: PatchOperation[]): void {
  for (const key of Object.keys(after)) {
    const value = after[key] as Json;
    // No inherited member is a JSON value, so this needs no look at who owns it.
    if (before[key] === value) continue;
    const old = member(before, key);
    const childPath = `${path}/${escapeToken(key)}`;
    if (old === undefined) operations.push({ op: 'add', path: childPath, value });
    else diffValue(old, value, childPath, operations);
  }
  for (const key of Object.keys(before)) {
    if (!Object.hasOwn(after, key)) operations.push({ op: 'remove', path: `${path}/${escapeToken(key)}` });
  }
}

// From this many operations on, one replace of the whole list is considered.
const manyOperations = 5;

function diffList(before: JsonArray, after: JsonArray, path: string, operations: PatchOperation[]): void {
  const start = operations.length;
  // Where the next item of `after` stands once the operations so far are applied.
  let index = 0;
  for (const step of alignLists(before, after)) {
    const itemPath = `${path}/${index}`;
    switch (step.type) {
      case 'keep':
        index += step.count;
        break;
      case 'change':
        diffItem(before[step.before] as Json, after[step.after] as Json, itemPath, operations);
        index++;
        break;
      case 'remove':
        operations.push({ op: 'remove', path: itemPath });
        break;
      case 'add':
        operations.push({ op: 'add', path: itemPath, value: after[step.after] as Json });
        index++;
        break;
    }
  }
  const count = operations.length - start;
  if (count >= manyOperations && count >= sizeOf(after)) replaceIfShorter(operations, start, path, after);
}

/** An item may have become quite another one: then replacing it says so in fewer words. */
function diffItem(before: Json, after: Json, path: string, operations: PatchOperation[]): void {
  const start = operations.length;
  diffValue(before, after, path, operations);
  const count = operations.length - start;
  if (count > 1 && count >= sizeOf(after)) replaceIfShorter(operations, start, path, after);
}

/** Fewer operations than this leave most of the value alone: replacing it could hardly be shorter. */
function sizeOf(value: Json): number {
  if (isArray(value)) return value.reduce<number>((size, item) => size + Math.max(1, sizeOf(item)), 0);
  return isObject(value) ? Object.keys(value).length / 2 : 0;
}

function replaceIfShorter(operations: PatchOperation[], start: number, path: string, value: Json): void {
  let length = 0;
  for (let index = start; index < operations.length; index++) {
    length += operationLength(operations[index] as PatchOperation);
  }
  const frame = operationLength({ op: 'replace', path, value: '' }) - 2;
  if (!textIsShorterThan(value, length - frame)) return;
  operations.length = start;
  operations.push({ op: 'replace', path, value });
}

function operationLength(operation: PatchOperation): number {
  const value = operation.op === 'remove' ? 0 : '"value":,'.length + textLength(operation.value);
  return '{"op":"","path":""},'.length + operation.op.length + operation.path.length + value;
}
