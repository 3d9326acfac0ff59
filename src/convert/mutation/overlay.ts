import { isArray, isObject, type Json, type JsonObject } from '../../json/value.ts';
import { type Anchor, parseAnchor } from '../../patch/strategic/anchor-syntax.ts';
import { addedPart, comparedPart } from '../../patch/strategic/condition-parts.ts';
import { NotConvertible } from '../types.ts';

/** One map of a strategic merge patch, taken apart. */
export interface OverlayMap {
  readonly conditions: readonly Condition[];
  readonly entries: readonly Entry[];
  readonly directive: 'merge' | 'replace' | 'delete';
  /** Values to delete from lists of scalars, by field. */
  readonly deletions: readonly { readonly field: string; readonly values: Json; readonly path: string }[];
}

/** `(key)` or `<(key)`. */
export interface Condition {
  readonly key: string;
  readonly isGlobal: boolean;
  readonly pattern: Json;
  readonly path: string;
}

export interface Entry {
  readonly key: string;
  /** `+(key)` */
  readonly isAdded: boolean;
  readonly value: Json;
  readonly path: string;
}

const deletionPrefix = '$deleteFromPrimitiveList/';

export function readOverlayMap(map: JsonObject, path: string): OverlayMap {
  const conditions: Condition[] = [];
  const entries: Entry[] = [];
  const deletions: { field: string; values: Json; path: string }[] = [];
  let directive: OverlayMap['directive'] = 'merge';
  for (const [key, value] of Object.entries(map)) {
    const at = `${path}.${key}`;
    if (key === '$patch') directive = value as OverlayMap['directive'];
    else if (key.startsWith(deletionPrefix)) {
      deletions.push({ field: key.slice(deletionPrefix.length), values: value, path: at });
    } else if (key.startsWith('$') && (key === '$retainKeys' || key.startsWith('$setElementOrder/'))) {
      throw new NotConvertible(at, `${key.replace(/\/.*/, '')} has no equivalent in CEL policies`);
    } else readEntry(key, value, at, conditions, entries);
  }
  return { conditions, entries, directive, deletions };
}

function readEntry(key: string, value: Json, path: string, conditions: Condition[], entries: Entry[]): void {
  const anchor = parseAnchor(key);
  if (anchor?.type === 'unsupported')
    throw new NotConvertible(path, `${anchor.text} has no effect in a mutation`);
  if (anchor?.type === 'condition' || anchor?.type === 'global') {
    conditions.push({
      key: anchor.key,
      isGlobal: anchor.type === 'global',
      pattern: comparedPart(value),
      path,
    });
    const added = addedPart(value);
    if (added !== undefined) entries.push({ key: anchor.key, isAdded: false, value: added, path });
    return;
  }
  entries.push({ key: anchor?.key ?? key, isAdded: anchor?.type === 'add', value, path });
}

/** The word of a list item that consists of `$patch` alone. */
export function listDirective(item: Json): 'merge' | 'replace' | 'delete' | undefined {
  if (!isObject(item) || !Object.hasOwn(item, '$patch') || Object.keys(item).length !== 1) return undefined;
  return item['$patch'] as 'merge' | 'replace' | 'delete';
}

export function hasAnchor(value: Json, types: readonly Anchor['type'][]): boolean {
  if (isArray(value)) return value.some((item) => hasAnchor(item, types));
  if (!isObject(value)) return false;
  return Object.entries(value).some(([key, inner]) => {
    const type = parseAnchor(key)?.type;
    return (type !== undefined && types.includes(type)) || hasAnchor(inner, types);
  });
}

export function hasConditions(value: Json): boolean {
  return hasAnchor(value, ['condition', 'global']);
}
