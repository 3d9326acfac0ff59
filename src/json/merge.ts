import { spendList } from './budget.ts';
import { isObject, type Json, type JsonObject, member } from './value.ts';

/** Merges objects recursively; any other value of the second replaces that of the first. */
export function mergeMembers(first: JsonObject, second: JsonObject): JsonObject {
  spendList(Object.keys(first).length);
  const merged = new Map<string, Json>(Object.entries(first));
  for (const [key, value] of Object.entries(second)) {
    const before = member(first, key);
    merged.set(key, isObject(before) && isObject(value) ? mergeMembers(before, value) : value);
  }
  return Object.fromEntries(merged);
}
