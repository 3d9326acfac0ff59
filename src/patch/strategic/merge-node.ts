import { spendSteps } from '../../json/budget.ts';
import { assignMember, editableMembers } from '../../json/edit.ts';
import { equal } from '../../json/equal.ts';
import { countMembers, isObject, type Json, type JsonObject, member, typeOf } from '../../json/value.ts';
import type { SchemaNode } from '../merge-schema.ts';
import { asDeclared } from '../structured/declared.ts';
import { dataNode } from './data.ts';
import { applyDirectives } from './directives.ts';
import { mergeList } from './list.ts';
import {
  dropped,
  isRefusal,
  keyText,
  type Merged,
  type MergeRun,
  mismatch,
  type Refusal,
  recordMiss,
  skipped,
} from './run.ts';
import type { AnchorTest, MapNode, OverlayNode, ScalarNode } from './tree.ts';

/**
 * Merges one overlay node. Conditions test `original`, the value before this overlay, so that list
 * items of one overlay do not see each other's changes. Changes go to `current`, which is returned (===) when nothing
 * changes.
 */
export function mergeNode(
  node: OverlayNode,
  original: Json | undefined,
  current: Json | undefined,
  schema: SchemaNode | undefined,
  run: MergeRun,
): Merged {
  switch (node.type) {
    case 'scalar':
      return mergeScalar(node.value, node.isDeclared, current, run);
    case 'map':
      return mergeMap(node, original, current, schema, run);
    case 'list':
      return mergeList(node, original, current, schema, run, mergeNode);
    case 'variable': {
      const value = run.slots[node.slot] ?? null;
      if (typeof value !== 'object' || value === null) {
        const scalar = asDeclared(value, node.schema) as ScalarNode['value'];
        return mergeScalar(scalar, node.schema !== undefined, current, run);
      }
      return mergeNode(dataNode(value, run.path, node.schema), original, current, schema, run);
    }
  }
}

function mergeScalar(
  value: ScalarNode['value'],
  isDeclared: boolean,
  current: Json | undefined,
  run: MergeRun,
): Json | undefined {
  if (value === null) return undefined;
  if (typeof current === 'object' && current !== null) throw mismatch(run, typeOf(value), current);
  return typeof current === 'string' && !isDeclared ? String(value) : value;
}

function mergeMap(
  node: MapNode,
  original: Json | undefined,
  current: Json | undefined,
  schema: SchemaNode | undefined,
  run: MergeRun,
): Merged {
  for (const test of node.globals) if (!holds(test, original, run)) return dropped;
  for (const test of node.conditions) if (!holds(test, original, run)) return skipped;
  if (node.directive === 'delete') return deleteMap(node, original, current, schema, run);
  const absent = current === undefined || current === null;
  const isPrepared = node.constant !== undefined && (run.observer === undefined || !node.inside.adds);
  if (absent && isPrepared) return node.constant;
  if (!absent && !isObject(current)) throw mismatch(run, 'map', current);
  if (node.directive === 'replace') return replaceMap(node, current ?? {}, schema, run);
  const merged = mergeEntries(
    node,
    isObject(original) ? original : undefined,
    current ?? undefined,
    schema,
    run,
  );
  if (isRefusal(merged)) return merged;
  const completed =
    node.directives === undefined ? merged : applyDirectives(node.directives, merged ?? {}, run);
  if (!absent || !node.inside.conditions) return completed ?? {};
  // A node with only conditions creates nothing.
  return completed === undefined || isEmpty(completed) ? current : completed;
}

/** Conditions at any depth decide whether the whole value is deleted. */
function deleteMap(
  node: MapNode,
  original: Json | undefined,
  current: Json | undefined,
  schema: SchemaNode | undefined,
  run: MergeRun,
): Merged {
  if (!node.inside.conditions || !isObject(original) || !isObject(current)) return undefined;
  const merged = mergeEntries(node, original, current, schema, run);
  return isRefusal(merged) ? merged : undefined;
}

function replaceMap(
  node: MapNode,
  current: JsonObject,
  schema: SchemaNode | undefined,
  run: MergeRun,
): Merged {
  const merged = mergeEntries(node, undefined, undefined, schema, run) ?? {};
  return !isRefusal(merged) && equal(merged, current) ? current : merged;
}

function isEmpty(object: JsonObject): boolean {
  return countMembers(object) === 0;
}

/** Undefined when there was no map and nothing was written. */
function mergeEntries(
  node: MapNode,
  original: JsonObject | undefined,
  current: JsonObject | undefined,
  schema: SchemaNode | undefined,
  run: MergeRun,
): JsonObject | undefined | Refusal {
  let copy: Record<string, Json> | undefined;
  for (const entry of node.entries) {
    spendSteps(2);
    const key = keyText(entry.key, run);
    const before = copy ?? current;
    const value = memberOf(before, key, entry.isOwn);
    const was = original === before ? value : memberOf(original, key, entry.isOwn);
    const isKept = entry.add && (value !== undefined || was !== undefined);
    if (entry.add) run.observer?.anchor(`+(${key})`, [...run.path, key], !isKept);
    if (isKept) continue;
    run.path.push(key);
    const merged = mergeNode(entry.node, was, value, schema?.fields.get(key), run);
    run.path.pop();
    if (isRefusal(merged)) return merged;
    if (merged === value) continue;
    copy ??= current === undefined ? {} : editableMembers(current, run.draft);
    if (merged === undefined) delete copy[key];
    else assignMember(copy, key, merged);
  }
  return copy ?? current;
}

function memberOf(object: JsonObject | undefined, key: string, isOwn: boolean): Json | undefined {
  if (object === undefined) return undefined;
  return isOwn ? object[key] : member(object, key);
}

function holds(test: AnchorTest, original: Json | undefined, run: MergeRun): boolean {
  const key = keyText(test.key, run);
  const actual = isObject(original) ? memberOf(original, key, test.isOwn) : undefined;
  if (actual !== undefined && test.holds(actual, run)) {
    run.observer?.anchor(test.text, [...run.path, key], true);
    return true;
  }
  recordMiss(run, test, key, actual);
  return false;
}
