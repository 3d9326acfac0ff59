import { equal } from '../../src/json/equal.ts';
import { stringifyJson } from '../../src/json/json-text.ts';
import {
  isArray,
  isObject,
  type Json,
  type JsonArray,
  type JsonObject,
  member,
} from '../../src/json/value.ts';

/**
 * `ordered`: everything counts, the order of list items too. `exact`: items of lists with a merge key may stand in another order.
 * `partial`: as `exact`, but members that are only in the actual object do not count. Lists have equal length in all modes.
 */
export type CompareMode = 'ordered' | 'exact' | 'partial';

/**
 * Lists of built-in kinds that have a merge key, by field name. Written down here a second time on purpose: the table that the
 * engine uses must not be able to hide its own mistakes.
 */
const mergeKeys: Readonly<Record<string, readonly string[]>> = {
  containers: ['name'],
  initContainers: ['name'],
  ephemeralContainers: ['name'],
  env: ['name'],
  volumes: ['name'],
  imagePullSecrets: ['name'],
  webhooks: ['name'],
  secrets: ['name'],
  ports: ['containerPort', 'port', 'protocol'],
  volumeMounts: ['mountPath'],
  volumeDevices: ['devicePath'],
  hostAliases: ['ip'],
  topologySpreadConstraints: ['topologyKey', 'whenUnsatisfiable'],
  ownerReferences: ['uid'],
  conditions: ['type'],
};

/** What differs, one line each; empty when nothing does. */
export function differences(expected: Json, actual: Json, mode: CompareMode): string[] {
  const found: string[] = [];
  compareValue(expected, actual, '', mode, found);
  return found;
}

function compareValue(
  expected: Json,
  actual: Json | undefined,
  path: string,
  mode: CompareMode,
  found: string[],
): void {
  if (actual === undefined) found.push(`${path || '/'}: missing, expected ${shown(expected)}`);
  else if (isObject(expected) && isObject(actual)) compareObject(expected, actual, path, mode, found);
  else if (isArray(expected) && isArray(actual)) compareList(expected, actual, path, mode, found);
  else if (!equal(expected, actual))
    found.push(`${path || '/'}: expected ${shown(expected)}, got ${shown(actual)}`);
}

function compareObject(
  expected: JsonObject,
  actual: JsonObject,
  path: string,
  mode: CompareMode,
  found: string[],
): void {
  for (const [key, value] of Object.entries(expected)) {
    compareValue(value, member(actual, key), `${path}/${key}`, mode, found);
  }
  if (mode === 'partial') return;
  for (const key of Object.keys(actual)) {
    if (!Object.hasOwn(expected, key))
      found.push(`${path}/${key}: not expected, got ${shown(actual[key] ?? null)}`);
  }
}

function compareList(
  expected: JsonArray,
  actual: JsonArray,
  path: string,
  mode: CompareMode,
  found: string[],
): void {
  if (expected.length !== actual.length) {
    found.push(`${path}: expected ${expected.length} items, got ${actual.length}: ${shown(actual)}`);
    return;
  }
  const field = path.slice(path.lastIndexOf('/') + 1);
  const byKey = mode === 'ordered' ? undefined : keyedItems(actual, field);
  const expectedByKey = mode === 'ordered' ? undefined : keyedItems(expected, field);
  expected.forEach((item, index) => {
    const partner = byKey && expectedByKey ? byKey.get(keyOf(item, field)) : actual[index];
    compareValue(item, partner, `${path}/${index}`, mode, found);
  });
}

/** Undefined when the list has no merge key, or items without one, or two with the same. */
function keyedItems(list: JsonArray, field: string): ReadonlyMap<string, Json> | undefined {
  const keys = Object.hasOwn(mergeKeys, field) ? mergeKeys[field] : undefined;
  if (keys === undefined) return undefined;
  const items = new Map<string, Json>();
  for (const item of list) {
    if (!isObject(item) || !keys.some((key) => Object.hasOwn(item, key))) return undefined;
    items.set(keyOf(item, field), item);
  }
  return items.size === list.length ? items : undefined;
}

function keyOf(item: Json, field: string): string {
  const keys = mergeKeys[field] ?? [];
  return stringifyJson(isObject(item) ? keys.map((key) => item[key] ?? null) : item);
}

function shown(value: Json): string {
  const text = stringifyJson(value);
  return text.length > 120 ? `${text.slice(0, 117)}...` : text;
}
