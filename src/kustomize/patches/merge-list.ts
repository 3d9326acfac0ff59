import { setMember } from '../../json/edit.ts';
import { stringifyJson } from '../../json/json-text.ts';
import { isObject, type Json, type JsonArray, type JsonObject, member } from '../../json/value.ts';
import type { SchemaNode } from '../../patch/merge-schema.ts';
import { resolveYamlScalar } from '../../yaml/scalar.ts';
import { listDirective, statesDirective, takeDirectiveOfNewMap, takeMapDirective } from './directive.ts';
import {
  appendCells,
  type Cell,
  type CellList,
  cellsOf,
  findCell,
  isNothing,
  keyValues,
  putCell,
  scalarText,
} from './list-cells.ts';

/** Merges the items of a list. */
export interface ItemMerge {
  value(before: Json | undefined, patch: Json | undefined, schema: SchemaNode | undefined): Json | undefined;
  members(before: JsonObject, patch: JsonObject, schema: SchemaNode | undefined): JsonObject;
}

/**
 * Merges a list with merge keys, or a set of scalars without. The steps follow kustomize, because they determine the order of
 * the result and the handling of duplicates and items without keys.
 */
export function mergeKeyedList(
  before: JsonArray | undefined,
  patch: JsonArray | undefined,
  mergeKeys: readonly string[],
  schema: SchemaNode | undefined,
  merge: ItemMerge,
): Json | undefined {
  if (patch === undefined && before !== undefined && isUnchanged(before, mergeKeys, schema, merge))
    return before;
  let directive: ReturnType<typeof listDirective>;
  let stated = patch === undefined ? undefined : cellsOf(patch);
  if (before !== undefined && patch !== undefined) {
    directive = listDirective(patch);
    if (directive === 'delete') return undefined;
    const named = directive;
    if (named !== undefined) stated = cellsOf(patch.filter((item) => !elided(item, named)));
  }
  const isNew = before === undefined || before === patch || directive === 'replace';
  const base = isNew ? stated : cellsOf(before);
  if (base === undefined) return undefined;
  const merged = mergeCells(base, stated, mergeKeys, schema, merge).cells.map((cell) => cell.value);
  const isSame = before !== undefined && merged.length === before.length;
  return isSame && merged.every((item, index) => item === before[index]) ? before : merged;
}

/** Removes the item with the directive, and null and empty items. */
function elided(item: Json, directive: NonNullable<ReturnType<typeof listDirective>>): boolean {
  return isNothing(item) || statesDirective(item, directive);
}

/** Fast path: the first key is unique, so the merge changes nothing. */
function isUnchanged(
  list: JsonArray,
  keys: readonly string[],
  schema: SchemaNode | undefined,
  merge: ItemMerge,
): boolean {
  const seen = new Set<string>();
  for (const item of list) {
    const text =
      keys.length === 0
        ? scalarText(item)
        : isObject(item)
          ? scalarText(member(item, keys[0] ?? '') ?? null)
          : '';
    if (text === '' || seen.has(text)) return false;
    seen.add(text);
    if (keys.length > 0 && merge.value(item, undefined, schema) !== item) return false;
  }
  return true;
}

function mergeCells(
  base: CellList,
  patch: CellList | undefined,
  mergeKeys: readonly string[],
  schema: SchemaNode | undefined,
  merge: ItemMerge,
): CellList {
  const sources = patch === undefined ? [base] : [patch, base];
  const keys = mergeKeys.length === 0 ? [''] : mergeKeys;
  let identities = distinct(
    sources.flatMap((source) => source.cells.map((cell) => keyValues(cell.value, keys))),
  );
  if (identities.length === 0) return base;
  if (keys.length > 1) identities = mergePartialKeys(identities);
  const used = statedKeys(keys, identities);
  const result: CellList = { cells: [] };
  for (const identity of identities) {
    const texts = used.texts(identity);
    const own = statedKeys(used.keys, [texts]);
    const ownValues = own.texts(texts);
    const before = findCell(base, own.keys, ownValues);
    const stated = patch === undefined ? undefined : findCell(patch, own.keys, ownValues);
    const merged = mergeCell(before, stated, schema, merge);
    if (merged === undefined || isNothing(merged.value)) {
      putCell(base, undefined, used.keys, texts);
      continue;
    }
    completeKeys(merged, used.keys, texts);
    putCell(result, merged, used.keys, texts);
  }
  return appendCells(result, base, used.keys);
}

/** The cell of the merged item: the existing one, unless the patch replaces or adds the item. */
function mergeCell(
  before: Cell | undefined,
  stated: Cell | undefined,
  schema: SchemaNode | undefined,
  merge: ItemMerge,
): Cell | undefined {
  if (before === undefined && stated === undefined) return undefined;
  if (stated === undefined || !isObject(stated.value)) {
    const target = stated ?? before;
    if (target === undefined) return undefined;
    const value = merge.value(before?.value, stated?.value, schema);
    if (value === undefined) return undefined;
    target.value = value;
    return target;
  }
  const isNew = before === undefined || before.value === null;
  const { directive, map } = isNew ? takeDirectiveOfNewMap(stated.value) : takeMapDirective(stated.value);
  const isItself = before === stated;
  // A second patch item with the same keys finds this cell without its directive.
  stated.value = map;
  if (directive === 'delete') return undefined;
  if (isNew || isItself || directive === 'replace' || !isObject(before.value)) {
    stated.value = merge.members(map, map, schema);
    return stated;
  }
  before.value = merge.members(before.value, map, schema);
  return before;
}

/** Writes missing keys, so that the item can be found by them. */
function completeKeys(cell: Cell, keys: readonly string[], texts: readonly string[]): void {
  for (const [index, key] of keys.entries()) {
    const text = texts[index] ?? '';
    if (!isObject(cell.value) || Object.hasOwn(cell.value, key) || text === '') continue;
    cell.value = setMember(cell.value, key, resolveYamlScalar(text));
  }
}

function distinct(identities: readonly (readonly string[])[]): (readonly string[])[] {
  const seen = new Set<string>();
  return identities.filter((identity) => {
    const key = stringifyJson(identity);
    return seen.has(key) ? false : seen.add(key);
  });
}

/** The merge key values of one item, in the order of the keys; '' for a missing key. */
type KeyValues = readonly string[];

/** Items with different keys are the same if they share one value and contradict in none: port 80 is port 80/TCP. */
function mergePartialKeys(identities: readonly KeyValues[]): KeyValues[] {
  const result = [...identities];
  for (let left = 0; left < result.length; left++) {
    const wanted = result[left] as KeyValues;
    for (let right = 0; right < result.length; right++) {
      const united = unite(wanted, result[right] as KeyValues);
      if (united === undefined) continue;
      result[left] = united;
      result[right] = united;
    }
  }
  return result;
}

function unite(left: KeyValues, right: KeyValues): KeyValues | undefined {
  let agree = false;
  const united: string[] = [];
  for (const [index, text] of left.entries()) {
    const other = right[index] ?? '';
    if (text === other) agree = true;
    else if (text !== '' && other !== '') return undefined;
    united.push(text === '' ? other : text);
  }
  return agree ? united : undefined;
}

/** The keys that at least one identity has, or all keys if none has any. */
function statedKeys(
  keys: readonly string[],
  identities: readonly KeyValues[],
): { readonly keys: readonly string[]; texts(identity: KeyValues): KeyValues } {
  const stated = keys.map((_key, index) => identities.some((identity) => (identity[index] ?? '') !== ''));
  if (!stated.includes(true)) return { keys, texts: (identity) => identity };
  return {
    keys: keys.filter((_key, index) => stated[index]),
    texts: (identity) => identity.filter((_text, index) => stated[index]),
  };
}
