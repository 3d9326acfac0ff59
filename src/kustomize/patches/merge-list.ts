import { setMember } from '../../json/edit.ts';
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
  keyStringMap,
  putCell,
  scalarText,
} from './list-cells.ts';

/** Lists hand their items back to the walk they belong to. */
export interface ItemMerge {
  value(before: Json | undefined, patch: Json | undefined, schema: SchemaNode | undefined): Json | undefined;
  members(before: JsonObject, patch: JsonObject, schema: SchemaNode | undefined): JsonObject;
}

/**
 * Merges the items of a list that has merge keys, or of a set of scalars when it has none. The steps follow
 * kustomize's, because the order of the result, twins and items without a key show them.
 */
export function mergeKeyedList(
  before: JsonArray | undefined,
  patch: JsonArray | undefined,
  mergeKeys: readonly string[],
  schema: SchemaNode | undefined,
  merge: ItemMerge,
): Json | undefined {
  if (patch === undefined && before !== undefined && isSettled(before, mergeKeys, schema, merge))
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

/** The item with the directive goes, and with it items that are null or empty. */
function elided(item: Json, directive: NonNullable<ReturnType<typeof listDirective>>): boolean {
  return isNothing(item) || statesDirective(item, directive);
}

/** Most lists: maps whose first key tells them apart, so that walking them changes nothing. */
function isSettled(
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
    sources.flatMap((source) => source.cells.map((cell) => keyStringMap(cell.value, keys))),
  );
  if (identities.length === 0) return base;
  if (keys.length > 1) identities = mergePartialKeys(identities);
  const used = statedKeys(keys, identities);
  const result: CellList = { cells: [] };
  for (const identity of identities) {
    const texts = used.texts(identity);
    const own = statedKeys(used.keys, [texts]);
    const ownStringMap = own.texts(texts);
    const before = findCell(base, own.keys, ownStringMap);
    const stated = patch === undefined ? undefined : findCell(patch, own.keys, ownStringMap);
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

/** The cell that holds the merged item: that of the list, unless the patch replaces the item or adds it. */
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
  // A second item of the patch with the same keys finds this one, by now without its directive.
  stated.value = map;
  if (directive === 'delete') return undefined;
  if (isNew || isItself || directive === 'replace' || !isObject(before.value)) {
    stated.value = merge.members(map, map, schema);
    return stated;
  }
  before.value = merge.members(before.value, map, schema);
  return before;
}

/** A key that one side left out is written, so that the item can be found by it. */
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
    const key = JSON.stringify(identity);
    return seen.has(key) ? false : seen.add(key);
  });
}

/** The texts of one item's merge keys, in the order of the keys; '' for a key it does not state. */
type KeyStringMap = readonly string[];

/** Where items state different keys, those that agree in one and contradict in none are one: port 80 is port 80/TCP. */
function mergePartialKeys(identities: readonly KeyStringMap[]): KeyStringMap[] {
  const result = [...identities];
  for (let left = 0; left < result.length; left++) {
    const wanted = result[left] as KeyStringMap;
    for (let right = 0; right < result.length; right++) {
      const united = unite(wanted, result[right] as KeyStringMap);
      if (united === undefined) continue;
      result[left] = united;
      result[right] = united;
    }
  }
  return result;
}

function unite(left: KeyStringMap, right: KeyStringMap): KeyStringMap | undefined {
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

/** The keys that at least one of the identities states; all of them when none does. */
function statedKeys(
  keys: readonly string[],
  identities: readonly KeyStringMap[],
): { readonly keys: readonly string[]; texts(identity: KeyStringMap): KeyStringMap } {
  const stated = keys.map((_key, index) => identities.some((identity) => (identity[index] ?? '') !== ''));
  if (!stated.includes(true)) return { keys, texts: (identity) => identity };
  return {
    keys: keys.filter((_key, index) => stated[index]),
    texts: (identity) => identity.filter((_text, index) => stated[index]),
  };
}
