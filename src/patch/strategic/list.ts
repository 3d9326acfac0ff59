import { spendList } from '../../json/budget.ts';
import { equal } from '../../json/equal.ts';
import { isArray, type Json, type JsonArray } from '../../json/value.ts';
import { PatchError } from '../compiled-patch.ts';
import type { SchemaNode } from '../merge-schema.ts';
import { dataNode } from './data.ts';
import { mergeItems } from './items.ts';
import { textOf } from './key.ts';
import { isRefusal, type Merged, type MergeNode, type MergeRun, mismatch } from './run.ts';
import type { ListNode, OverlayNode } from './tree.ts';

export function mergeList(
  node: ListNode,
  original: Json | undefined,
  current: Json | undefined,
  schema: SchemaNode | undefined,
  run: MergeRun,
  merge: MergeNode,
): Merged {
  if (current !== undefined && current !== null && !isArray(current)) throw mismatch(run, 'list', current);
  if (node.directive === 'delete') return undefined;
  const list = current ?? undefined;
  const keys = node.directive === 'replace' ? undefined : schema?.mergeKeys;
  const anchored = node.inside.conditions || node.inside.adds;
  if (keys === undefined && !anchored) return replaceList(node, list, schema, run, merge);
  const items = fillItems(node.items, run);
  if (keys?.length === 0 && !anchored) return mergeSet(items, list, run);
  if (items.length === 0) return list ?? [];
  const merged = mergeItems(
    items,
    isArray(original) ? original : undefined,
    list,
    keys,
    schema?.items,
    run,
    merge,
  );
  // A null list stays null when no item is added.
  return merged ?? current;
}

function fillItems(items: readonly OverlayNode[], run: MergeRun): readonly OverlayNode[] {
  if (!items.some((item) => item.type === 'variable')) return items;
  return items.map((item) =>
    item.type === 'variable' ? dataNode(run.slots[item.slot] ?? null, run.path, item.schema) : item,
  );
}

/** The overlay replaces a list that is not merged. */
function replaceList(
  node: ListNode,
  current: JsonArray | undefined,
  schema: SchemaNode | undefined,
  run: MergeRun,
  merge: MergeNode,
): Merged {
  // When the whole list is replaced, `$patch: delete` has no item to delete.
  const items = node.directive === 'replace' ? node.items.filter((item) => !isDeletion(item)) : node.items;
  const stated = node.constant ?? freshList(items, schema, run, merge);
  return current !== undefined && equal(current, stated) ? current : stated;
}

function freshList(
  items: readonly OverlayNode[],
  schema: SchemaNode | undefined,
  run: MergeRun,
  merge: MergeNode,
): JsonArray {
  return items.map((item, index) => {
    if (isDeletion(item)) throw undirected(run);
    run.path.push(index);
    const value = merge(item, undefined, undefined, schema?.items, run);
    run.path.pop();
    return value === undefined || isRefusal(value) ? null : value;
  });
}

function isDeletion(item: OverlayNode): boolean {
  return item.type === 'map' && item.directive === 'delete';
}

function undirected(run: MergeRun): PatchError {
  return new PatchError(
    'KYM_PATCH_DIRECTIVE',
    [...run.path],
    `'$patch: delete' cannot identify an item of '${run.path.join('.')}': this list has no merge key`,
  );
}

/** A set of scalars, such as finalizers. New values are prepended. */
function mergeSet(items: readonly OverlayNode[], current: JsonArray | undefined, run: MergeRun): Merged {
  spendList(items.length + (current?.length ?? 0));
  const stated: Json[] = [];
  const seen = new Set<string>();
  for (const item of items) {
    if (item.type !== 'scalar') throw mismatch(run, item.type, current?.[0] ?? '');
    const text = textOf(item.value);
    if (text === undefined || seen.has(text)) continue;
    seen.add(text);
    stated.push(item.value);
  }
  if (current === undefined) return stated;
  const there = new Set(current.map(textOf));
  const added = stated.filter((value) => !there.has(textOf(value)));
  return added.length === 0 ? current : [...added, ...current];
}
