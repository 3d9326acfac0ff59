import { spendSteps } from '../../json/budget.ts';
import { editableItems } from '../../json/edit.ts';
import { equal } from '../../json/equal.ts';
import {
  isObject,
  type Json,
  type JsonArray,
  type JsonObject,
  type Path,
  type PathToken,
} from '../../json/value.ts';
import { PatchError } from '../compiled-patch.ts';
import type { SchemaNode } from '../merge-schema.ts';
import { findByKeys, keyOf, keyOfOverlay } from './key.ts';
import {
  addMiss,
  dropped,
  hasRoom,
  isRefusal,
  type Merged,
  type MergeNode,
  type MergeRun,
  skipped,
} from './run.ts';
import type { MapNode, OverlayNode } from './tree.ts';

/** The state of one list merge. */
interface ListWork {
  readonly before: JsonArray;
  readonly original: JsonArray | undefined;
  readonly keys: readonly string[] | undefined;
  readonly schema: SchemaNode | undefined;
  readonly run: MergeRun;
  readonly merge: MergeNode;
  /** The existing items; undefined for a deleted one. `before` itself as long as nothing changes. */
  items: readonly (Json | undefined)[];
  /** An item was deleted. */
  hasGaps: boolean;
  added: Json[] | undefined;
}

/** Merges overlay items into a list, by key or where their anchors hold. */
export function mergeItems(
  overlay: readonly OverlayNode[],
  original: JsonArray | undefined,
  current: JsonArray | undefined,
  keys: readonly string[] | undefined,
  schema: SchemaNode | undefined,
  run: MergeRun,
  merge: MergeNode,
): Merged {
  const before = current ?? [];
  spendSteps(1);
  const work: ListWork = {
    before,
    original,
    keys,
    schema,
    run,
    merge,
    items: before,
    hasGaps: false,
    added: undefined,
  };
  for (const item of overlay) {
    if (mergeItem(item, work) === dropped) return dropped;
  }
  if (overlay.length > 1) restoreUnchanged(work);
  return finish(work, current);
}

/** Two overlay items may change a field and change it back. */
function restoreUnchanged(work: ListWork): void {
  const { before } = work;
  if (work.items === before) return;
  const items = work.items as (Json | undefined)[];
  spendSteps(items.length);
  let isChanged = false;
  for (const [index, was] of before.entries()) {
    const item = items[index];
    if (item !== was && item !== undefined && equal(item, was)) items[index] = was;
    else isChanged ||= item !== was;
  }
  if (!isChanged) work.items = before;
}

function mergeItem(item: OverlayNode, work: ListWork): typeof dropped | undefined {
  const { keys, run } = work;
  if (item.type !== 'map') {
    if (keys !== undefined && keys.length > 0) throw keyMissing(work);
    addIfAbsent(item, work);
    return undefined;
  }
  const wanted = keys === undefined ? undefined : keyOfOverlay(item, keys[0], run);
  const anchoredHere = item.conditions.length > 0 || item.globals.length > 0;
  const anchoredInside = item.inside.conditions || item.inside.adds;
  if (anchoredHere || (wanted === undefined && anchoredInside)) return mergeWhereAnchorsHold(item, work);
  if (wanted !== undefined && keys !== undefined) return mergeByKey(item, keys, wanted, work);
  if (keys !== undefined) throw keyMissing(work);
  addIfAbsent(item, work);
  return undefined;
}

/** Applies an anchored overlay item to every item. It never adds an item and never renames a matching one. */
function mergeWhereAnchorsHold(item: MapNode, work: ListWork): typeof dropped | undefined {
  const { before, schema, run } = work;
  if (before.length === 0)
    return work.merge(item, undefined, undefined, schema, run) === dropped ? dropped : undefined;
  let held = false;
  let failed = false;
  for (let index = 0; index < before.length; index++) {
    spendSteps(4);
    const value = work.items[index];
    if (!isObject(value)) continue;
    const node = item.nameless !== undefined && keyOf(value, 'name') ? item.nameless : item;
    run.path.push(index);
    const merged = work.merge(node, originalOf(index, value, work), value, schema, run);
    run.path.pop();
    if (merged === dropped) failed = true;
    if (isRefusal(merged)) continue;
    held = true;
    setItem(index, value, merged, work);
  }
  return item.inside.globals && failed && !held ? dropped : undefined;
}

/** The item before this overlay, since another overlay item may already have changed it. */
function originalOf(
  index: number,
  value: JsonObject,
  { before, original, keys }: ListWork,
): Json | undefined {
  if (original === undefined || original === before) return original?.[index];
  const first = keys?.[0];
  const name = keyOf(value, first);
  if (name !== undefined) {
    spendSteps(original.length);
    return original.findLast((item) => keyOf(item, first) === name);
  }
  return original.length === before.length ? original[index] : value;
}

function mergeByKey(
  item: MapNode,
  keys: readonly string[],
  wanted: string,
  work: ListWork,
): typeof dropped | undefined {
  const { items, schema, run } = work;
  const index = findByKeys(items, keys, wanted, item, run, run.draft);
  const value = items[index];
  if (isObject(value)) {
    run.path.push(index);
    const merged = work.merge(item, originalOf(index, value, work), value, schema, run);
    run.path.pop();
    if (merged === dropped) return dropped;
    if (merged === skipped) return undefined;
    setItem(index, value, merged, work);
    // Duplicates of a deleted item are deleted too.
    return merged === undefined && keys.length === 1 ? mergeByKey(item, keys, wanted, work) : undefined;
  }
  const inAdded = work.added === undefined ? -1 : findByKeys(work.added, keys, wanted, item, run);
  const earlier = work.added?.[inAdded];
  const fresh = work.merge(item, undefined, earlier, schema, run);
  if (fresh === dropped) return dropped;
  if (isRefusal(fresh) || fresh === undefined || item.inside.conditions) return undefined;
  if (earlier !== undefined && work.added !== undefined) work.added[inAdded] = fresh;
  else if (isContainerList(run.path) && !hasImage(fresh)) missContainer(wanted, run);
  else addItem(fresh, work);
  return undefined;
}

const containerLists: ReadonlySet<PathToken | undefined> = new Set([
  'containers',
  'initContainers',
  'ephemeralContainers',
]);

/** Of the built-in kinds, only pod specs have keyed lists with these names. */
function isContainerList(path: Path): boolean {
  return containerLists.has(path.at(-1));
}

function hasImage(container: Json): boolean {
  return isObject(container) && typeof container['image'] === 'string' && container['image'] !== '';
}

/** The API server rejects a container without an image, so the item only patches an existing container. */
function missContainer(name: string, run: MergeRun): void {
  if (!hasRoom(run)) return;
  const note = 'no container has this name, and none is added without an image';
  addMiss(run, { anchor: 'name', path: [...run.path], expected: name, actual: undefined, note });
}

function setItem(index: number, before: Json, after: Json | undefined, work: ListWork): void {
  if (after === before) return;
  const items = editable(work, after === undefined);
  items[index] = after;
  work.items = items;
}

/** A list that the draft owns is changed in place, unless that leaves a gap. */
function editable(work: ListWork, forGap: boolean): (Json | undefined)[] {
  const { before, items, run } = work;
  work.hasGaps ||= forGap;
  if (items !== before) return items as (Json | undefined)[];
  return editableItems(before, forGap ? undefined : run.draft);
}

function addItem(item: Json, work: ListWork): void {
  work.added ??= [];
  work.added.push(item);
}

/** An item without anchors beside anchored ones, in a list without keys. */
function addIfAbsent(item: OverlayNode, work: ListWork): void {
  const value = work.merge(item, undefined, undefined, work.schema, work.run);
  if (value === undefined || isRefusal(value)) return;
  spendSteps(work.items.length + (work.added?.length ?? 0));
  const there = (other: Json | undefined): boolean => other !== undefined && equal(other, value);
  if (!work.items.some(there) && !work.added?.some(there)) addItem(value, work);
}

function finish(work: ListWork, current: JsonArray | undefined): Merged {
  const { before, items, added } = work;
  if (items === before && added === undefined) return current;
  if (!work.hasGaps && added === undefined) return items as JsonArray;
  spendSteps(items.length);
  const left = items.filter((item) => item !== undefined);
  return added === undefined ? left : [...added, ...left];
}

function keyMissing({ keys, run }: ListWork): PatchError {
  const list = run.path.join('.');
  return new PatchError(
    'KYM_PATCH_KEY_MISSING',
    [...run.path],
    `an item for '${list}' has neither the merge key ${keys?.join(' and ')} nor an anchor`,
  );
}
