import { spendSteps } from '../budget.ts';
import type { PatchOperation } from '../patch/operation.ts';
import {
  countMembers,
  isArray,
  isObject,
  type Json,
  type JsonArray,
  type JsonObject,
  member,
} from '../value.ts';
import { alignLists } from './align.ts';
import { type DiffSink, OperationSink, TextSink } from './diff-sink.ts';
import { PathText } from './path-text.ts';
import { textIsShorterThan } from './text-length.ts';

/**
 * The operations that turn `before` into `after`, to be applied in sequence. Only add, replace and remove.
 * Subtrees shared by both (===) cost nothing. Unchanged list items keep their position; a changed item is
 * patched in place. Members come in the order of `after`, removed members last.
 *
 * @example diff({ l: [1, 2] }, { l: [0, 1, 2] }) // [{ op: 'add', path: '/l/0', value: 0 }]
 */
export function diff(before: Json, after: Json): PatchOperation[] {
  const sink = new OperationSink();
  diffValue(before, after, PathText.root(), sink);
  return sink.operations;
}

/** The same operations as JSON; `[]` when there are none. */
export function diffText(before: Json, after: Json): string {
  const sink = new TextSink();
  diffValue(before, after, PathText.root(), sink);
  return sink.text;
}

function diffValue(before: Json, after: Json, path: PathText, sink: DiffSink): void {
  if (before === after) return;
  spendSteps(1);
  if (isArray(before) && isArray(after)) diffList(before, after, path, sink);
  else if (isObject(before) && isObject(after)) diffObject(before, after, path, sink);
  else sink.put('replace', path, after);
}

function diffObject(before: JsonObject, after: JsonObject, path: PathText, sink: DiffSink): void {
  let kept = 0;
  for (const key in after) {
    spendSteps(1);
    const value = after[key] as Json;
    kept += 1;
    // No inherited member is a JSON value, so this needs no hasOwn check.
    if (before[key] === value) continue;
    const old = member(before, key);
    const childPath = path.child(key);
    if (old === undefined) {
      kept -= 1;
      sink.put('add', childPath, value);
    } else diffValue(old, value, childPath, sink);
  }
  if (countMembers(before) === kept) return;
  for (const key in before) {
    if (!Object.hasOwn(after, key)) sink.remove(path.child(key));
  }
}

// From this many operations on, one replace of the whole list is considered.
const manyOperations = 5;

function diffList(before: JsonArray, after: JsonArray, path: PathText, sink: DiffSink): void {
  const start = sink.count;
  // The index of the next item of `after` after the operations so far.
  let index = 0;
  let areAllPatched = true;
  for (const step of alignLists(before, after)) {
    switch (step.type) {
      case 'keep':
        index += step.count;
        break;
      case 'change':
        diffItem(before[step.before] as Json, after[step.after] as Json, path.child(index), sink);
        areAllPatched &&= typeof after[step.after] === 'object';
        index++;
        break;
      case 'remove':
        sink.remove(path.child(index));
        areAllPatched = false;
        break;
      case 'add':
        sink.put('add', path.child(index), after[step.after] as Json);
        areAllPatched = false;
        index++;
        break;
    }
  }
  // Each patch was shorter than replacing its item, so all of them are shorter than replacing the list.
  if (areAllPatched) return;
  const count = sink.count - start;
  if (count >= manyOperations && count >= sizeOf(after)) replaceIfShorter(sink, start, path, after);
}

/** An item may have changed completely: then replacing it is shorter. */
function diffItem(before: Json, after: Json, path: PathText, sink: DiffSink): void {
  const start = sink.count;
  diffValue(before, after, path, sink);
  const count = sink.count - start;
  if (count > 1 && count >= sizeOf(after)) replaceIfShorter(sink, start, path, after);
}

/** With fewer operations, replacing the value is rarely shorter. */
function sizeOf(value: Json): number {
  if (isArray(value)) return value.reduce<number>((size, item) => size + Math.max(1, sizeOf(item)), 0);
  return isObject(value) ? countMembers(value) / 2 : 0;
}

function replaceIfShorter(sink: DiffSink, start: number, path: PathText, value: Json): void {
  const frame = '{"op":"replace","path":"","value":},'.length + path.escaped.length;
  if (!textIsShorterThan(value, sink.lengthFrom(start) - frame)) return;
  sink.dropFrom(start);
  sink.put('replace', path, value);
}
