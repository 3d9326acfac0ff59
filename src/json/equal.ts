import { spendSteps } from './budget.ts';
import {
  countMembers,
  isArray,
  isNumber,
  isObject,
  type Json,
  type JsonArray,
  type JsonObject,
} from './value.ts';

/** Deep equality; the order of object members does not matter. Shared subtrees cost nothing. */
export function equal(a: Json, b: Json): boolean {
  if (a === b) return true;
  spendSteps(1);
  if (isArray(a)) return isArray(b) && equalLists(a, b);
  // A large double that a function computed equals the integer that its JSON is read as.
  if (typeof a === 'bigint' || typeof b === 'bigint')
    return isNumber(a) && isNumber(b) && String(a) === String(b);
  return isObject(a) && isObject(b) && equalObjects(a, b);
}

function equalLists(a: JsonArray, b: JsonArray): boolean {
  if (a.length !== b.length) return false;
  spendSteps(a.length >> 2);
  for (let index = 0; index < a.length; index++) {
    if (!equal(a[index] as Json, b[index] as Json)) return false;
  }
  return true;
}

function equalObjects(a: JsonObject, b: JsonObject): boolean {
  const count = countMembers(a);
  if (count !== countMembers(b)) return false;
  spendSteps(count >> 2);
  for (const key in a) {
    const value = a[key] as Json;
    // No inherited member is a JSON value, so this needs no hasOwn check.
    if (b[key] === value) continue;
    if (!Object.hasOwn(b, key) || !equal(value, b[key] as Json)) return false;
  }
  return true;
}
