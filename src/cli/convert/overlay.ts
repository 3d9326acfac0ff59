import { findVariables, hasVariable } from '../../expression/template/tokens.ts';
import {
  isArray,
  isObject,
  type Json,
  type JsonArray,
  type JsonObject,
  type Path,
} from '../../json/value.ts';
import { parseAnchor } from '../../patch/strategic/anchor-syntax.ts';

export interface Obstacle {
  /** Relative to the overlay. */
  readonly path: Path;
  readonly reason: string;
}

/**
 * The reason why an overlay and the same value as patchStrategicMerge give different objects; undefined when they are equivalent.
 * Overlays append items to lists and never delete. A strategic merge replaces lists or merges them by key.
 */
export function overlayObstacle(overlay: Json): Obstacle | undefined {
  return isObject(overlay) ? mapObstacle(overlay, []) : { path: [], reason: 'it is not a map' };
}

function mapObstacle(map: JsonObject, path: Path): Obstacle | undefined {
  for (const [key, value] of Object.entries(map)) {
    const at = [...path, key];
    if (key.startsWith('$') || hasVariable(key))
      return { path: at, reason: `the key ${key} has another meaning in patchStrategicMerge` };
    const anchor = parseAnchor(key);
    const found = anchor === undefined ? valueObstacle(value, at) : conditionObstacle(value, at);
    if (found !== undefined) return found;
  }
  return undefined;
}

function valueObstacle(value: Json, path: Path): Obstacle | undefined {
  if (isArray(value)) return listObstacle(value, path);
  if (isObject(value)) return mapObstacle(value, path);
  if (typeof value !== 'string' || isStringField(path)) return undefined;
  const [variable] = findVariables(value);
  const isWhole = variable?.start === 0 && variable.end === value.length;
  return isWhole
    ? { path, reason: 'a variable may be a list, which overlay and patchStrategicMerge treat differently' }
    : undefined;
}

function isStringField(path: Path): boolean {
  return path.at(-3) === 'metadata' && (path.at(-2) === 'labels' || path.at(-2) === 'annotations');
}

function listObstacle(list: JsonArray, path: Path): Obstacle | undefined {
  if (list.length > 1 && list.some(hasAnchor)) {
    return { path, reason: 'in an overlay, several items of one list with anchors depend on each other' };
  }
  const [item] = list;
  if (item === undefined || !isObject(item) || !hasAnchor(item)) {
    const reason =
      'an overlay appends items to a list, a strategic merge replaces the list or merges it by key';
    return { path, reason };
  }
  const at = [...path, 0];
  const plain = Object.entries(item).filter(([key]) => parseAnchor(key) === undefined);
  const isAnchoredHere = plain.length < Object.keys(item).length;
  const isRenaming = plain.some(([key]) => key === 'name');
  const hasScalars = plain.some(([, value]) => typeof value !== 'object');
  if (isAnchoredHere ? isRenaming : hasScalars) {
    return {
      path: at,
      reason: 'a strategic merge uses the plain fields of this item as a key',
    };
  }
  return mapObstacle(item, at);
}

function hasAnchor(value: Json): boolean {
  if (isArray(value)) return value.some(hasAnchor);
  if (!isObject(value)) return false;
  return Object.entries(value).some(([key, child]) => parseAnchor(key) !== undefined || hasAnchor(child));
}

/** Strings without operators of the pattern language compare equally. `*` and `?` have the same meaning in both. */
function conditionObstacle(value: Json, path: Path): Obstacle | undefined {
  const isPlain =
    typeof value === 'boolean' ||
    typeof value === 'bigint' ||
    Number.isInteger(value) ||
    (typeof value === 'string' && /^[A-Za-z*?][\w./:*?-]*$/.test(value));
  return isPlain
    ? undefined
    : { path, reason: 'overlay and patchStrategicMerge compare this value differently' };
}
