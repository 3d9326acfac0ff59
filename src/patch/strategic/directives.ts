import { spendSteps } from '../../json/budget.ts';
import { removeMember, setMember } from '../../json/edit.ts';
import { stringifyJson } from '../../json/json-text.ts';
import {
  isArray,
  isObject,
  type Json,
  type JsonArray,
  type JsonObject,
  type Path,
} from '../../json/value.ts';
import { PatchError } from '../compiled-patch.ts';
import { textOf } from './key.ts';
import type { MergeRun } from './run.ts';
import type { Directive, FieldDirective, Filled, PostMergeDirectives } from './tree.ts';
import type { OverlayBuild } from './tree-build.ts';

/** Applies `$deleteFromPrimitiveList/x`, `$setElementOrder/x` and `$retainKeys` to a merged map. */
export function applyDirectives(directives: PostMergeDirectives, map: JsonObject, run: MergeRun): JsonObject {
  let result = map;
  for (const { field, values } of directives.deletions) {
    const list = listAt(result, field);
    if (list !== undefined) result = setMember(result, field, without(list, listOf(values, run)));
  }
  for (const { field, values } of directives.orders) {
    const list = listAt(result, field);
    if (list !== undefined) result = setMember(result, field, inOrder(list, listOf(values, run)));
  }
  if (directives.retainKeys === undefined) return result;
  const retained = new Set(listOf(directives.retainKeys, run).map(textOf));
  for (const key of Object.keys(result)) if (!retained.has(key)) result = removeMember(result, key);
  return result;
}

function listAt(map: JsonObject, field: string): JsonArray | undefined {
  const list = Object.hasOwn(map, field) ? map[field] : undefined;
  return isArray(list) ? list : undefined;
}

function listOf(filled: Filled, run: MergeRun): JsonArray {
  const value = filled.slot === undefined ? filled.value : (run.slots[filled.slot] ?? null);
  if (isArray(value)) return value;
  throw new PatchError('KYM_PATCH_DIRECTIVE', [...run.path], 'the value of this directive must be a list');
}

function without(list: JsonArray, values: JsonArray): JsonArray {
  const unwanted = new Set(values.map(textOf));
  const kept = list.filter((item) => !unwanted.has(textOf(item) ?? ' '));
  return kept.length === list.length ? list : kept;
}

/** Sorts the named items among the positions they have. All others keep their position. */
function inOrder(list: JsonArray, order: JsonArray): JsonArray {
  spendSteps(list.length * order.length);
  const rank = (item: Json): number => order.findIndex((wanted) => names(wanted, item));
  const ranked = list.map((item) => ({ item, rank: rank(item) }));
  const sorted = ranked.filter((entry) => entry.rank >= 0).sort((a, b) => a.rank - b.rank);
  let next = 0;
  const result = ranked.map((entry) => (entry.rank < 0 ? entry.item : (sorted[next++]?.item ?? entry.item)));
  return result.every((item, index) => item === list[index]) ? list : result;
}

function names(wanted: Json, item: Json): boolean {
  if (!isObject(wanted)) return textOf(wanted) !== undefined && textOf(wanted) === textOf(item);
  const keys = Object.keys(wanted);
  return (
    isObject(item) &&
    keys.length > 0 &&
    keys.every((key) => Object.hasOwn(item, key) && textOf(item[key]) === textOf(wanted[key]))
  );
}

/** The directives of one overlay map. */
export interface MapDirectives {
  directive: Directive;
  retainKeys?: Filled | undefined;
  readonly deletions: FieldDirective[];
  readonly orders: FieldDirective[];
}

const orderPrefix = '$setElementOrder/';
const deletionPrefix = '$deleteFromPrimitiveList/';

/** Whether the key is a strategic merge directive, which is not written. */
export function takeDirective(
  key: string,
  value: Json,
  path: Path,
  build: OverlayBuild,
  into: MapDirectives,
): boolean {
  if (!key.startsWith('$')) return false;
  if (key === '$patch') into.directive = directiveWord(value, path, build);
  else if (key === '$retainKeys') into.retainKeys = compileNames(value, path, build);
  else if (key.startsWith(orderPrefix)) {
    into.orders.push({ field: key.slice(orderPrefix.length), values: compileNames(value, path, build) });
  } else if (key.startsWith(deletionPrefix)) {
    into.deletions.push({
      field: key.slice(deletionPrefix.length),
      values: compileNames(value, path, build),
    });
  } else return false;
  return true;
}

/** An item that consists of `$patch` alone applies to the whole list. */
export function takeListDirective(item: Json, path: Path, build: OverlayBuild): Directive | undefined {
  if (!isObject(item) || !Object.hasOwn(item, '$patch') || Object.keys(item).length !== 1) return undefined;
  return directiveWord(item['$patch'] ?? null, [...path, '$patch'], build);
}

function directiveWord(value: Json, path: Path, build: OverlayBuild): Directive {
  if (value === 'merge' || value === 'replace' || value === 'delete') return value;
  build.reporter.error(
    path,
    'KYM_PATCH_DIRECTIVE',
    `unknown patch strategy ${stringifyJson(value)}`,
    '$patch must be merge, replace or delete.',
  );
  return 'merge';
}

function compileNames(value: Json, path: Path, build: OverlayBuild): Filled {
  const filled = build.fill(value, path);
  if (filled.slot === undefined && !isArray(filled.value)) {
    build.reporter.error(path, 'KYM_PATCH_DIRECTIVE', `${String(path.at(-1))} must be a list`);
  }
  return filled;
}
