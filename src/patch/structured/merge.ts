import { CelError } from '../../cel/value/error.ts';
import { toJson } from '../../cel/value/json.ts';
import { isList } from '../../cel/value/kinds.ts';
import { StructValue, type Value, type ValueObject } from '../../cel/value/value.ts';
import { spendSteps } from '../../json/budget.ts';
import { assignMember, copyMembers, mapItems } from '../../json/edit.ts';
import { equal } from '../../json/equal.ts';
import { isArray, isObject, type Json, type JsonArray, type JsonObject, member } from '../../json/value.ts';
import { PatchError } from '../compiled-patch.ts';
import {
  areSameItem,
  check,
  checkConfiguration,
  checkIdentity,
  checkTypeName,
  enterField,
  identitiesFor,
  isObjectValue,
  itemIdentity,
  type Place,
  rootPlace,
  structuredError,
} from './check.ts';
import type { AnySchema, ListSchema, MapSchema, StructuredSchema } from './schema.ts';

export interface StructuredMergeOptions {
  /** Kubernetes refuses configurations that contain atomic lists, maps or structs, unless they are for server-side apply. */
  readonly atomics: 'refuse' | 'replace';
  /** Receives what the author hardly meant. */
  readonly warnings?: string[] | undefined;
}

/**
 * Merges a configuration into an object as server-side apply does: structs and maps by key, lists by their keys, sets
 * as a union. Nothing is removed. Returns the object itself when nothing changes. Throws PatchError.
 */
export function mergeStructured(
  object: JsonObject,
  configuration: StructValue | JsonObject,
  schema: StructuredSchema,
  { atomics, warnings = [] }: StructuredMergeOptions,
): JsonObject {
  try {
    const refused = atomics === 'refuse' ? [] : undefined;
    const merged = mergeValue(
      object,
      configuration,
      schema,
      rootPlace(schema, { atomics: refused, warnings }),
    );
    refuseAtomics(refused);
    return merged as JsonObject;
  } catch (error) {
    // One walk checks and merges. What is wrong anywhere in the configuration counts before what does not fit the object.
    if (error instanceof PatchError || error instanceof CelError) {
      const refused = atomics === 'refuse' ? [] : undefined;
      checkConfiguration(configuration, schema, { atomics: refused, warnings: [] });
      refuseAtomics(refused);
    }
    throw error;
  }
}

function refuseAtomics(found: readonly string[] | undefined): void {
  if (found === undefined || found.length === 0) return;
  throw new PatchError(
    'KYM_APPLY_CONFIGURATION',
    [],
    `invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${found.join(', ')}`,
  );
}

/** Checks the value, and merges it. */
function mergeValue(live: Json | undefined, value: Value, schema: StructuredSchema, place: Place): Json {
  if (live === undefined || live === null) {
    check(value, schema, place);
    return toJson(value);
  }
  if (schema.kind === 'list') {
    if (schema.merge !== 'atomic' && isList(value)) return mergeList(live, value, schema, place);
  } else if (schema.kind !== 'scalar' && !schema.atomic && isObjectValue(value)) {
    if (schema.kind === 'map' || isObject(live)) return mergeMap(live, value, schema, place);
  }
  check(value, schema, place);
  return keepEqual(live, value);
}

/** The live value when both are equal, so that unchanged parts stay the same object. */
function keepEqual(live: Json, value: Value): Json {
  if (live === value) return live;
  const json = toJson(value);
  return equal(live, json) ? live : json;
}

function mergeMap(
  live: Json,
  value: StructValue | ValueObject,
  schema: MapSchema | AnySchema,
  place: Place,
): Json {
  spendSteps(1);
  const { owner, field, path } = place;
  if (!isObject(live)) throw structuredError(path, 'the object has no map here, but its schema declares one');
  const isStruct = value instanceof StructValue;
  if (isStruct) checkTypeName(value, place);
  const names = isStruct ? value.names : Object.keys(value);
  let copy: Record<string, Json> | undefined;
  for (let index = 0; index < names.length; index++) {
    const key = names[index] as string;
    const item = isStruct ? value.values[index] : value[key];
    if (item === undefined) continue;
    if (isStruct) {
      place.owner = value.typeName;
      place.field = key;
    }
    const old = member(live, key);
    const merged = mergeValue(old, item, enterField(key, schema, place), place);
    path.pop();
    if (merged === old) continue;
    copy ??= copyMembers(live);
    assignMember(copy, key, merged);
  }
  place.owner = owner;
  place.field = field;
  return copy ?? live;
}

/**
 * Items of the object keep their order. Items only in the configuration come where it puts them relative to shared items.
 * Shared items whose order differs take the order of the configuration.
 */
function mergeList(live: Json, configured: readonly Value[], schema: ListSchema, place: Place): Json {
  const { path } = place;
  if (!isArray(live)) throw structuredError(path, 'the object has no list here, but its schema declares one');
  spendSteps(1 + live.length + configured.length);
  const seen = identitiesFor(configured);
  const mergeItem = (item: Json | undefined, index: number): Json => {
    path.push(index);
    const merged = mergeValue(item, configured[index] as Value, schema.items, place);
    checkIdentity(configured, index, schema, place, seen);
    path.pop();
    return merged;
  };
  // The usual case: the configuration was made from the items of the object, and has all of them.
  const isSameList =
    live.length === configured.length &&
    live.every((item, index) => areSameItem(item, configured[index] as Value, schema, path));
  if (isSameList) return mapItems(live, mergeItem);
  const left = live.map((item) => itemIdentity(item, schema, path));
  const right = configured.map((item) => itemIdentity(item, schema, path));
  const inRight = new Set(right);
  const leftItems = uniqueItems(live, left);
  const shared = right.filter((identity) => leftItems.has(identity));
  const taken = new Set<string>();
  const result: Json[] = [];
  const takeRight = (index: number): void => {
    const identity = right[index] as string;
    taken.add(identity);
    result.push(mergeItem(leftItems.get(identity), index));
    if (shared[0] === identity) shared.shift();
  };
  let l = 0;
  let r = 0;
  while (l < left.length || r < right.length) {
    const identity = left[l];
    if (identity !== undefined && r < right.length) {
      if (identity === right[r]) {
        takeRight(r++);
        l++;
        continue;
      }
      if (inRight.has(identity) && shared.length > 0 && shared[0] !== identity) {
        l++;
        continue;
      }
    }
    if (identity !== undefined) {
      if (!inRight.has(identity)) {
        result.push(live[l++] as Json);
        continue;
      }
      if (taken.has(identity)) l++;
    }
    if (r < right.length) takeRight(r++);
  }
  const isSame = result.length === live.length && result.every((item, index) => item === live[index]);
  return isSame ? live : result;
}

/** Items by identity; those that occur more than once are present without a value, so that the configuration replaces them. */
function uniqueItems(items: JsonArray, identities: readonly string[]): ReadonlyMap<string, Json | undefined> {
  const found = new Map<string, Json | undefined>();
  identities.forEach((identity, index) => {
    found.set(identity, found.has(identity) ? undefined : items[index]);
  });
  return found;
}
