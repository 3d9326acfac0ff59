import { spendSteps } from '../budget.ts';
import type { PatchOperation } from '../patch/operation.ts';
import { countMembers, isArray, isObject, type Json, type JsonArray, type JsonObject } from '../value.ts';
import { alignRange, isPairedByPosition, type Range, wholeRange, withoutEqualEnds } from './align.ts';
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

function diffValue<Mark>(before: Json, after: Json, path: PathText, sink: DiffSink<Mark>): void {
  if (before === after) return;
  spendSteps(1);
  if (isArray(before) && isArray(after)) diffList(before, after, path, sink);
  else if (isObject(before) && isObject(after)) diffObject(before, after, path, sink);
  else sink.put('replace', path, after);
}

function diffObject<Mark>(before: JsonObject, after: JsonObject, path: PathText, sink: DiffSink<Mark>): void {
  let count = 0;
  let added = 0;
  for (const key in after) {
    count++;
    const value = after[key] as Json;
    const old = before[key];
    // No inherited member is a JSON value, so equal ones need no hasOwn check.
    if (old === value) continue;
    const childPath = path.child(key);
    if (old === undefined || !Object.hasOwn(before, key)) {
      added++;
      sink.put('add', childPath, value);
    } else diffValue(old, value, childPath, sink);
  }
  spendSteps(count);
  if (countMembers(before) === count - added) return;
  for (const key in before) {
    if (!Object.hasOwn(after, key)) sink.remove(path.child(key));
  }
}

// From this many operations on, one replace of the whole list is considered.
const manyOperations = 5;

function diffList<Mark>(before: JsonArray, after: JsonArray, path: PathText, sink: DiffSink<Mark>): void {
  const { count, mark } = sink;
  spendSteps(before.length + after.length);
  const range = withoutEqualEnds(before, after, wholeRange(before, after));
  const areAllPatched = isPairedByPosition(before, after, range)
    ? diffByPosition(before, after, range, path, sink)
    : diffAligned(before, after, range, path, sink);
  // Each patch was shorter than replacing its item, so all of them are shorter than replacing the list.
  if (areAllPatched) return;
  const written = sink.count - count;
  if (written >= manyOperations && written >= sizeOf(after)) replaceIfShorter(sink, mark, count, path, after);
}

/** The common case, without steps: items are patched in place, or the last ones are removed or added. Returns whether all are patched. */
function diffByPosition<Mark>(
  before: JsonArray,
  after: JsonArray,
  { beforeStart, beforeEnd, afterEnd }: Range,
  path: PathText,
  sink: DiffSink<Mark>,
): boolean {
  let areAllPatched = beforeEnd === afterEnd;
  // The equal items before the range are as many in both lists.
  let index = beforeStart;
  for (const end = Math.min(beforeEnd, afterEnd); index < end; index++) {
    diffItem(before[index] as Json, after[index] as Json, path.child(index), sink);
    areAllPatched &&= typeof after[index] === 'object';
  }
  for (let removed = index; removed < beforeEnd; removed++) sink.remove(path.child(index));
  for (; index < afterEnd; index++) sink.put('add', path.child(index), after[index] as Json);
  return areAllPatched;
}

function diffAligned<Mark>(
  before: JsonArray,
  after: JsonArray,
  range: Range,
  path: PathText,
  sink: DiffSink<Mark>,
): boolean {
  // The index of the next item of `after` after the operations so far.
  let index = range.afterStart;
  let areAllPatched = true;
  for (const step of alignRange(before, after, range)) {
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
  return areAllPatched;
}

/** An item may have changed completely: then replacing it is shorter. */
function diffItem<Mark>(before: Json, after: Json, path: PathText, sink: DiffSink<Mark>): void {
  const { count, mark } = sink;
  diffValue(before, after, path, sink);
  const written = sink.count - count;
  if (written > 1 && written >= sizeOf(after)) replaceIfShorter(sink, mark, count, path, after);
}

/** With fewer operations, replacing the value is rarely shorter. */
function sizeOf(value: Json): number {
  if (isArray(value)) return value.reduce<number>((size, item) => size + Math.max(1, sizeOf(item)), 0);
  return isObject(value) ? countMembers(value) / 2 : 0;
}

function replaceIfShorter<Mark>(
  sink: DiffSink<Mark>,
  mark: Mark,
  count: number,
  path: PathText,
  value: Json,
): void {
  const frame = '{"op":"replace","path":"","value":},'.length + path.escaped.length;
  if (!textIsShorterThan(value, sink.lengthSince(mark) - frame)) return;
  sink.returnTo(mark, count);
  sink.put('replace', path, value);
}
