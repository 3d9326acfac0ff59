import { isArray, isObject, type Json, type JsonArray, member } from '../../json/value.ts';
import { KustomizeError } from '../kustomize-error.ts';

/** A list item whose value can change. The lists of one merge share cells. */
export interface Cell {
  value: Json;
}

export interface CellList {
  cells: readonly Cell[];
}

export function cellsOf(list: JsonArray): CellList {
  return { cells: list.map((value) => ({ value })) };
}

/** Scalars are compared as strings; lists and maps are ''. */
export function scalarText(value: Json): string {
  if (typeof value === 'string') return value;
  return typeof value === 'object' ? '' : String(value);
}

export function keyValues(item: Json, keys: readonly string[]): readonly string[] {
  return keys.map((key) => {
    if (key === '') return scalarText(item);
    return isObject(item) ? scalarText(member(item, key) ?? null) : '';
  });
}

export function isNothing(value: Json): boolean {
  return value === null || (isObject(value) && Object.keys(value).length === 0);
}

/** The first item with these key values. */
export function findCell(
  { cells }: CellList,
  keys: readonly string[],
  texts: readonly string[],
): Cell | undefined {
  if (keys[0] === '') return cells.find((cell) => scalarText(cell.value) === texts[0]);
  return cells.find(
    ({ value }) =>
      isObject(value) &&
      keys.every(
        (key, index) => Object.hasOwn(value, key) && scalarText(value[key] as Json) === texts[index],
      ),
  );
}

/**
 * Replaces every item with these keys by the cell, or appends the cell if there is none. Without a cell, removes the items. An
 * empty string matches any value of the key. Null and empty items are removed.
 */
export function putCell(
  list: CellList,
  cell: Cell | undefined,
  keys: readonly string[],
  texts: readonly string[],
): void {
  const keyed = keys[0] !== '' && texts.length > 0 && texts[0] !== '';
  const result: Cell[] = [];
  let found = false;
  for (const other of list.cells) {
    if (isNothing(other.value)) continue;
    if (!isObject(other.value) && keyed) {
      result.push(other);
    } else if (!hasKeys(other.value, keys, texts)) {
      if (texts.length > 0) result.push(other);
    } else {
      found = true;
      if (cell !== undefined) result.push(cell);
    }
  }
  if (cell !== undefined && !found) result.push(cell);
  list.cells = result;
}

/** If there are fewer values than keys, only the first keys are compared. */
function hasKeys(value: Json, keys: readonly string[], texts: readonly string[]): boolean {
  if (texts.length === 0) return false;
  return keys.every((key, index) => {
    const text = texts[index];
    if (text === undefined) return true;
    if (key === '') {
      if (typeof value === 'object') throw wrongItem('a scalar', value);
      return scalarText(value) === text;
    }
    if (!isObject(value)) throw wrongItem('a map', value);
    return Object.hasOwn(value, key) && (text === '' || scalarText(value[key] as Json) === text);
  });
}

/** Appends the items of `tail` to `head`. Items with the same keys are replaced. */
export function appendCells(head: CellList, tail: CellList, keys: readonly string[]): CellList {
  const result: CellList = { cells: head.cells };
  for (const cell of tail.cells) {
    if (keys[0] === '') {
      putCell(result, cell, keys, [scalarText(cell.value)]);
      continue;
    }
    if (!isObject(cell.value)) throw wrongItem('a map', cell.value);
    const texts: string[] = [];
    for (const key of keys) {
      const value = member(cell.value, key);
      if (value === undefined) result.cells = [...result.cells, cell];
      else texts.push(scalarText(value));
    }
    // With two keys, an item moves to its position in the list.
    if (keys.length > 1) putCell(result, undefined, keys, texts);
    putCell(result, cell, keys, texts);
  }
  return result;
}

function wrongItem(wanted: string, found: Json): KustomizeError {
  const what = isArray(found) ? 'a list' : isObject(found) ? 'a map' : 'a scalar';
  return new KustomizeError('KYM_KUSTOMIZE_PATCH', `expected ${wanted} in a merged list, found ${what}`);
}
