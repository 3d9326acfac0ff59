import { CelError } from '../../cel/value/error.ts';
import { toJson } from '../../cel/value/json.ts';
import { isList } from '../../cel/value/kinds.ts';
import { StructValue, type Value, type ValueObject } from '../../cel/value/value.ts';
import { spendSteps } from '../../json/budget.ts';
import { assignMember, copyMembers, mapItems } from '../../json/edit.ts';
import { equal } from '../../json/equal.ts';
import {
  isArray,
  isObject,
  type Json,
  type JsonArray,
  type JsonObject,
  member,
  type Path,
} from '../../json/value.ts';
import { PatchError } from '../compiled-patch.ts';
import {
  check,
  checkConfiguration,
  duplicateItem,
  enterField,
  enterStructField,
  fieldSchemas,
  isObjectValue,
  itemIdentity,
  type Place,
  rootPlace,
  structuredError,
  warnAboutKeys,
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
  const { path } = place;
  if (!isObject(live)) throw structuredError(path, 'the object has no map here, but its schema declares one');
  if (value instanceof StructValue) return mergeStruct(live, value, schema, place);
  let copy: Record<string, Json> | undefined;
  for (const key in value) {
    const old = member(live, key);
    const merged = mergeValue(old, value[key] as Value, enterField(key, schema, place), place);
    path.pop();
    if (merged === old) continue;
    copy ??= copyMembers(live);
    assignMember(copy, key, merged);
  }
  return copy ?? live;
}

function mergeStruct(
  live: JsonObject,
  value: StructValue,
  schema: MapSchema | AnySchema,
  place: Place,
): JsonObject {
  const { owner, field, path } = place;
  const { shape, values } = value;
  const schemas = fieldSchemas(value, schema, place);
  let copy: Record<string, Json> | undefined;
  for (let index = 0; index < values.length; index++) {
    const item = values[index];
    if (item === undefined) continue;
    const key = shape.names[index] as string;
    const old = member(live, key);
    const merged = mergeValue(old, item, enterStructField(shape, index, schemas, schema, place), place);
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
  const left = identitiesOf(live, schema, path);
  const right = identitiesOf(configured, schema, path);
  refuseDuplicates(configured, right, schema, path);
  const mergeItem = (item: Json | undefined, index: number): Json => {
    const value = configured[index] as Value;
    path.push(index);
    const merged = mergeValue(item, value, schema.items, place);
    warnAboutKeys(value, schema, place);
    path.pop();
    return merged;
  };
  // The usual case: the configuration was made from items of the object, all or some of them.
  if (areInOrder(right, left)) {
    let next = 0;
    return mapItems(live, (item, index) => (left[index] === right[next] ? mergeItem(item, next++) : item));
  }
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

function identitiesOf(items: readonly Value[], schema: ListSchema, path: Path): readonly string[] {
  return items.map((item) => itemIdentity(item, schema, path));
}

/** Comparing a few strings is faster than a set. */
const few = 8;

function refuseDuplicates(
  configured: readonly Value[],
  identities: readonly string[],
  schema: ListSchema,
  path: Path,
): void {
  const isRepeated =
    identities.length <= few
      ? (identity: string, index: number) => identities.indexOf(identity) < index
      : repetitions();
  const index = identities.findIndex(isRepeated);
  if (index >= 0) throw duplicateItem(configured[index] as Value, schema, [...path, index]);
}

function repetitions(): (identity: string) => boolean {
  const seen = new Set<string>();
  return (identity) => seen.size === seen.add(identity).size;
}

/** Whether all of `some` occur in `all` in this order, and only once. `some` has no duplicates. */
function areInOrder(some: readonly string[], all: readonly string[]): boolean {
  if (all.length > few) return all.length === some.length && all.every((item, index) => item === some[index]);
  let last = -1;
  for (const item of some) {
    const index = all.indexOf(item);
    if (index <= last || all.lastIndexOf(item) !== index) return false;
    last = index;
  }
  return true;
}

/** Items by identity; those that occur more than once are present without a value, so that the configuration replaces them. */
function uniqueItems(items: JsonArray, identities: readonly string[]): ReadonlyMap<string, Json | undefined> {
  const found = new Map<string, Json | undefined>();
  identities.forEach((identity, index) => {
    found.set(identity, found.has(identity) ? undefined : items[index]);
  });
  return found;
}
