import { spendSteps } from '../../json/budget.ts';
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
import { findByKeys, type KeyValues, keyOf, keysOfOverlay } from './key.ts';
import { dropped, type Merged, type MergeNode, type MergeRun, mostMisses, skipped } from './run.ts';
import type { MapNode, OverlayNode } from './tree.ts';

/** The state of one list merge. */
interface ListWork {
  readonly before: JsonArray;
  readonly original: JsonArray | undefined;
  readonly keys: readonly string[] | undefined;
  readonly schema: SchemaNode | undefined;
  readonly run: MergeRun;
  readonly merge: MergeNode;
  /** The existing items; undefined for a deleted one. */
  readonly items: (Json | undefined)[];
  readonly added: Json[];
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
  spendSteps(1 + 2 * before.length);
  const work: ListWork = {
    before,
    original,
    keys,
    schema,
    run,
    merge,
    items: [...before],
    added: [],
  };
  for (const item of overlay) {
    if (mergeItem(item, work) === dropped) return dropped;
  }
  if (overlay.length > 1) restoreUnchanged(work);
  return finish(work, current);
}

/** Two overlay items may change a field and change it back. */
function restoreUnchanged({ before, items }: ListWork): void {
  for (const [index, was] of before.entries()) {
    const item = items[index];
    if (item !== was && item !== undefined && equal(item, was)) items[index] = was;
  }
}

function mergeItem(item: OverlayNode, work: ListWork): typeof dropped | undefined {
  const { keys, run } = work;
  if (item.type !== 'map') {
    if (keys !== undefined && keys.length > 0) throw keyMissing(work);
    addIfAbsent(item, work);
    return undefined;
  }
  const wanted = keys === undefined ? undefined : keysOfOverlay(item, keys, run);
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
  const { before, items, schema, run } = work;
  if (before.length === 0)
    return work.merge(item, undefined, undefined, schema, run) === dropped ? dropped : undefined;
  let held = false;
  let failed = false;
  for (let index = 0; index < before.length; index++) {
    spendSteps(4);
    const value = items[index];
    if (!isObject(value)) continue;
    const node = item.nameless !== undefined && keyOf(value, 'name') ? item.nameless : item;
    run.path.push(index);
    const merged = work.merge(node, originalOf(index, value, work), value, schema, run);
    run.path.pop();
    if (merged === dropped) failed = true;
    if (merged === dropped || merged === skipped) continue;
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
  wanted: KeyValues,
  work: ListWork,
): typeof dropped | undefined {
  const { items, added, schema, run } = work;
  const index = findByKeys(items, keys, wanted, run);
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
  const inAdded = findByKeys(added, keys, wanted, run);
  const earlier = added[inAdded];
  const fresh = work.merge(item, undefined, earlier, schema, run);
  if (fresh === dropped) return dropped;
  if (fresh === skipped || fresh === undefined || item.inside.conditions) return undefined;
  if (earlier !== undefined) added[inAdded] = fresh;
  else if (isContainerList(run.path) && !hasImage(fresh)) missContainer(wanted[0], run);
  else added.push(fresh);
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
function missContainer(name: string | undefined, run: MergeRun): void {
  if (run.misses.length >= mostMisses) return;
  const note = 'no container has this name, and none is added without an image';
  run.misses.push({ anchor: 'name', path: [...run.path], expected: name ?? null, actual: undefined, note });
}

function setItem(index: number, before: Json, after: Json | undefined, work: ListWork): void {
  if (after !== before) work.items[index] = after;
}

/** An item without anchors beside anchored ones, in a list without keys. */
function addIfAbsent(item: OverlayNode, work: ListWork): void {
  const value = work.merge(item, undefined, undefined, work.schema, work.run);
  if (value === undefined || value === skipped || value === dropped) return;
  spendSteps(work.items.length + work.added.length);
  const there = (other: Json | undefined): boolean => other !== undefined && equal(other, value);
  if (!work.items.some(there) && !work.added.some(there)) work.added.push(value);
}

function finish(work: ListWork, current: JsonArray | undefined): Merged {
  const { before, items, added } = work;
  let isChanged = added.length > 0;
  let isWhole = true;
  for (let index = 0; index < items.length; index++) {
    if (items[index] !== before[index]) isChanged = true;
    if (items[index] === undefined) isWhole = false;
  }
  if (!isChanged) return current;
  if (isWhole && added.length === 0) return items as JsonArray;
  return [...added, ...items.filter((item): item is Json => item !== undefined)];
}

function keyMissing({ keys, run }: ListWork): PatchError {
  const list = run.path.join('.');
  return new PatchError(
    'KYM_PATCH_KEY_MISSING',
    [...run.path],
    `an item for '${list}' has neither the merge key ${keys?.join(' and ')} nor an anchor`,
  );
}
