import { spendList, spendSteps } from '../../json/budget.ts';
import type { Draft } from '../../json/draft.ts';
import { isObject, type Json } from '../../json/value.ts';
import { PatchError } from '../compiled-patch.ts';
import type { MergeRun } from './run.ts';
import type { MapNode } from './tree.ts';

/** The merge keys of one list item, in the order of the schema. The first is always set. */
type KeyValues = readonly (string | undefined)[];

/** A merge key of an overlay item. */
export function keyOfOverlay(item: MapNode, key: string | undefined, run: MergeRun): string | undefined {
  const node = key === undefined ? undefined : item.plain.get(key);
  if (node?.type === 'scalar') return textOf(node.value);
  return node?.type === 'variable' ? textOf(run.slots[node.slot]) : undefined;
}

/** Scalars compare as strings, so that the port 80 equals "80". */
export function textOf(value: Json | undefined): string | undefined {
  return value === undefined || value === null || typeof value === 'object' ? undefined : String(value);
}

/**
 * The index of the item with the keys of an overlay item, or -1. `first` is the first of these keys. The last of several
 * with the same key, which is the one Kubernetes uses. A second key that one side omits matches any (`protocol` defaults
 * to TCP). Otherwise the only item with the first key matches. With a draft, no items may be added to the list.
 */
export function findByKeys(
  items: readonly (Json | undefined)[],
  keys: readonly string[],
  first: string,
  overlay: MapNode,
  run: MergeRun,
  draft?: Draft,
): number {
  if (keys.length > 1) {
    const wanted = keys.map((key) => keyOfOverlay(overlay, key, run));
    return findByAll(items, keys, wanted, run);
  }
  const [key] = keys;
  return findInIndex(items, key, first, draft) ?? findByOne(items, key, first);
}

function findByOne(items: readonly (Json | undefined)[], key: string | undefined, wanted: string): number {
  spendSteps(items.length);
  let index = items.length - 1;
  while (index >= 0 && keyOf(items[index], key) !== wanted) index--;
  return index;
}

/** Searching a shorter list takes less time than an index. */
const longList = 64;

/**
 * The same in a loop: with an index, its elements do not search the list again and again. Undefined when there is no
 * index, or when the item has been deleted or has lost its key since. A merge never gives an item another key.
 */
function findInIndex(
  items: readonly (Json | undefined)[],
  key: string | undefined,
  wanted: string,
  draft: Draft | undefined,
): number | undefined {
  if (items.length < longList || draft === undefined) return undefined;
  spendSteps(2);
  const index = draft.note(items, () => indexByKey(items, key)).get(wanted) ?? -1;
  return index < 0 || keyOf(items[index], key) === wanted ? index : undefined;
}

function indexByKey(
  items: readonly (Json | undefined)[],
  key: string | undefined,
): ReadonlyMap<string | undefined, number> {
  spendList(items.length);
  return new Map(items.map((item, index) => [keyOf(item, key), index]));
}

function findByAll(
  items: readonly (Json | undefined)[],
  keys: readonly string[],
  wanted: KeyValues,
  run: MergeRun,
): number {
  spendSteps(items.length);
  const candidates: number[] = [];
  const fitting: number[] = [];
  for (const [index, item] of items.entries()) {
    if (keyOf(item, keys[0]) !== wanted[0]) continue;
    candidates.push(index);
    if (restFits(item, keys, wanted)) fitting.push(index);
  }
  const partial = wanted.includes(undefined);
  if (partial && fitting.length > 1 && !keys.includes('protocol')) throw ambiguous(keys, wanted, run);
  const [only] = candidates;
  return fitting.at(-1) ?? (partial && candidates.length === 1 && only !== undefined ? only : -1);
}

export function keyOf(item: Json | undefined, key: string | undefined): string | undefined {
  return isObject(item) && key !== undefined && Object.hasOwn(item, key) ? textOf(item[key]) : undefined;
}

function restFits(item: Json | undefined, keys: readonly string[], wanted: KeyValues): boolean {
  for (let index = 1; index < keys.length; index++) {
    const key = keys[index];
    const here = keyOf(item, key) ?? implied(key);
    const there = wanted[index] ?? implied(key);
    if (here !== there && here !== undefined && there !== undefined) return false;
  }
  return true;
}

function implied(key: string | undefined): string | undefined {
  return key === 'protocol' ? 'TCP' : undefined;
}

function ambiguous(keys: readonly string[], wanted: KeyValues, run: MergeRun): PatchError {
  const missing = keys.filter((_key, index) => wanted[index] === undefined);
  return new PatchError(
    'KYM_PATCH_KEY_MISSING',
    [...run.path],
    `several items of '${run.path.join('.')}' have ${keys[0]} ${wanted[0]}: specify ${missing.join(' and ')} too`,
  );
}
