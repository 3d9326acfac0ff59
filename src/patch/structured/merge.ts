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
  type PathToken,
} from '../../json/value.ts';
import { PatchError } from '../compiled-patch.ts';
import { checkConfiguration, itemIdentity, structuredError } from './check.ts';
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
  configuration: JsonObject,
  schema: StructuredSchema,
  { atomics, warnings = [] }: StructuredMergeOptions,
): JsonObject {
  const refused: string[] | undefined = atomics === 'refuse' ? [] : undefined;
  checkConfiguration(configuration, schema, { atomics: refused, warnings });
  if (refused !== undefined && refused.length > 0) {
    throw new PatchError(
      'KYM_APPLY_CONFIGURATION',
      [],
      `invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${refused.join(', ')}`,
    );
  }
  return mergeValue(object, configuration, schema, []) as JsonObject;
}

/** The path is shared by all steps: it is needed only in messages. */
function mergeValue(live: Json | undefined, value: Json, schema: StructuredSchema, path: PathToken[]): Json {
  spendSteps(1);
  if (live === undefined || live === null) return value;
  switch (schema.kind) {
    case 'scalar':
      return keepEqual(live, value);
    case 'list':
      return schema.merge === 'atomic' ? keepEqual(live, value) : mergeList(live, value, schema, path);
    case 'map':
      return schema.atomic ? keepEqual(live, value) : mergeMap(live, value as JsonObject, schema, path);
    case 'any':
      return schema.atomic || !isObject(value) || !isObject(live)
        ? keepEqual(live, value)
        : mergeMap(live, value, schema, path);
  }
}

/** The live value when both are equal, so that unchanged parts stay the same object. */
function keepEqual(live: Json, value: Json): Json {
  return equal(live, value) ? live : value;
}

function mergeMap(live: Json, value: JsonObject, schema: MapSchema | AnySchema, path: PathToken[]): Json {
  if (!isObject(live)) throw structuredError(path, 'the object has no map here, but its schema declares one');
  let copy: Record<string, Json> | undefined;
  for (const key in value) {
    const old = member(live, key);
    path.push(key);
    const field = schema.kind === 'map' ? (schema.field(key) as StructuredSchema) : schema;
    const merged = mergeValue(old, value[key] as Json, field, path);
    path.pop();
    if (merged === old) continue;
    copy ??= copyMembers(live);
    assignMember(copy, key, merged);
  }
  return copy ?? live;
}

/**
 * Items of the object keep their order. Items only in the configuration come where it puts them relative to shared items.
 * Shared items whose order differs take the order of the configuration.
 */
function mergeList(live: Json, value: Json, schema: ListSchema, path: PathToken[]): Json {
  if (!isArray(live)) throw structuredError(path, 'the object has no list here, but its schema declares one');
  const configured = value as JsonArray;
  spendSteps(live.length + configured.length);
  const left = live.map((item) => itemIdentity(item, schema, path));
  const right = configured.map((item) => itemIdentity(item, schema, path));
  // The usual case: the configuration was made from the items of the object, and has all of them.
  if (left.length === right.length && left.every((identity, index) => identity === right[index])) {
    return mapItems(live, (item, index) => {
      path.push(index);
      const merged = mergeValue(item, configured[index] as Json, schema.items, path);
      path.pop();
      return merged;
    });
  }
  const inRight = new Set(right);
  const leftItems = uniqueItems(live, left);
  const shared = right.filter((identity) => leftItems.has(identity));
  const taken = new Set<string>();
  const result: Json[] = [];
  const takeRight = (index: number): void => {
    const identity = right[index] as string;
    taken.add(identity);
    path.push(index);
    result.push(mergeValue(leftItems.get(identity), configured[index] as Json, schema.items, path));
    path.pop();
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
