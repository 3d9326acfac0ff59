import { findVariables, hasVariable } from '../../expression/template/tokens.ts';
import {
  isArray,
  isObject,
  type Json,
  type JsonArray,
  type JsonObject,
  type Path,
} from '../../json/value.ts';
import { parseAnchor } from '../../patch/strategic/anchor.ts';

export interface Obstacle {
  /** Below the overlay. */
  readonly path: Path;
  readonly reason: string;
}

/**
 * Why an overlay and the same text as patchStrategicMerge would give different objects; undefined when they give the same.
 * Overlays add items to lists and never delete; a strategic merge replaces lists, or merges them by key.
 */
export function overlayObstacle(overlay: Json): Obstacle | undefined {
  return isObject(overlay) ? mapObstacle(overlay, []) : { path: [], reason: 'it is no map' };
}

function mapObstacle(map: JsonObject, path: Path): Obstacle | undefined {
  for (const [key, value] of Object.entries(map)) {
    const at = [...path, key];
    if (key.startsWith('$') || hasVariable(key))
      return { path: at, reason: `the key ${key} means something else there` };
    const anchor = parseAnchor(key);
    const found = anchor === undefined ? valueObstacle(value, at) : conditionObstacle(value, at);
    if (found !== undefined) return found;
  }
  return undefined;
}

function valueObstacle(value: Json, path: Path): Obstacle | undefined {
  if (isArray(value)) return listObstacle(value, path);
  if (isObject(value)) return mapObstacle(value, path);
  if (typeof value !== 'string' || isTextPlace(path)) return undefined;
  const [variable] = findVariables(value);
  const isWhole = variable?.start === 0 && variable.end === value.length;
  return isWhole
    ? { path, reason: 'a variable could yield a list, which the two treat differently' }
    : undefined;
}

function isTextPlace(path: Path): boolean {
  return path.at(-3) === 'metadata' && (path.at(-2) === 'labels' || path.at(-2) === 'annotations');
}

function listObstacle(list: JsonArray, path: Path): Obstacle | undefined {
  if (list.length > 1 && list.some(hasAnchor)) {
    return { path, reason: 'several items of one list, some with anchors, look at each other in an overlay' };
  }
  const [item] = list;
  if (item === undefined || !isObject(item) || !hasAnchor(item)) {
    const reason = 'an overlay adds items to a list, a strategic merge replaces the list or merges it by key';
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
      reason: 'a strategic merge takes the plain fields of this item for the key of one item',
    };
  }
  return mapObstacle(item, at);
}

function hasAnchor(value: Json): boolean {
  if (isArray(value)) return value.some(hasAnchor);
  if (!isObject(value)) return false;
  return Object.entries(value).some(([key, child]) => parseAnchor(key) !== undefined || hasAnchor(child));
}

/** Texts without the operators of the pattern language compare alike: `*` and `?` mean the same to both. */
function conditionObstacle(value: Json, path: Path): Obstacle | undefined {
  const isPlain =
    typeof value === 'boolean' ||
    typeof value === 'bigint' ||
    Number.isInteger(value) ||
    (typeof value === 'string' && /^[A-Za-z*?][\w./:*?-]*$/.test(value));
  return isPlain ? undefined : { path, reason: 'the two compare this value differently' };
}
