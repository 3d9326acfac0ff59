import { isArray, isObject, type Json, type JsonArray, member } from '../../json/value.ts';
import { KustomizeError } from '../kustomize-error.ts';

/** An item that keeps its identity while its value changes: lists of one merge share cells. */
export interface Cell {
  value: Json;
}

export interface CellList {
  cells: readonly Cell[];
}

export function cellsOf(list: JsonArray): CellList {
  return { cells: list.map((value) => ({ value })) };
}

/** Scalars compare by their text; lists and maps have none. */
export function scalarText(value: Json): string {
  if (typeof value === 'string') return value;
  return typeof value === 'object' ? '' : String(value);
}

export function keyStringMap(item: Json, keys: readonly string[]): readonly string[] {
  return keys.map((key) => {
    if (key === '') return scalarText(item);
    return isObject(item) ? scalarText(member(item, key) ?? null) : '';
  });
}

export function isNothing(value: Json): boolean {
  return value === null || (isObject(value) && Object.keys(value).length === 0);
}

/** The first item that states all of these. */
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
 * Puts a cell in place of every item with these keys, or at the end when there is none; without a cell, removes
 * them. An empty text fits any value of the key. Items that are null or empty go.
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

/** With fewer texts than keys, the first ones decide. */
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

/** The items of `tail` behind those of `head`, in which items of the same keys are replaced. */
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
    // Where two keys tell items apart, an item moves to the place it has in the list.
    if (keys.length > 1) putCell(result, undefined, keys, texts);
    putCell(result, cell, keys, texts);
  }
  return result;
}

function wrongItem(wanted: string, found: Json): KustomizeError {
  const what = isArray(found) ? 'a list' : isObject(found) ? 'a map' : 'a scalar';
  return new KustomizeError(
    'KYM_KUSTOMIZE_PATCH',
    `expected ${wanted} in a list that is merged, found ${what}`,
  );
}
