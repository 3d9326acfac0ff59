import { isObject, type Json, type JsonObject, member } from './value.ts';

/** Objects are merged member by member; of anything else the second wins. */
export function mergeMembers(first: JsonObject, second: JsonObject): JsonObject {
  const merged = new Map<string, Json>(Object.entries(first));
  for (const [key, value] of Object.entries(second)) {
    const before = member(first, key);
    merged.set(key, isObject(before) && isObject(value) ? mergeMembers(before, value) : value);
  }
  return Object.fromEntries(merged);
}
