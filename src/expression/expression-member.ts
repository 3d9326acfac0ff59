import type { Json, JsonObject } from '../json/value.ts';

/** Reads an own member, and asks whether it is one only where a plain read could find an inherited one. */
export function ownMember(object: JsonObject, name: string): Json | undefined {
  const value = object[name];
  return value === undefined || !(name in Object.prototype) || Object.hasOwn(object, name)
    ? value
    : undefined;
}

/** Assigning `__proto__` would change the prototype: such a key is data as well. */
export function setOwn(object: Record<string, Json>, key: string, value: Json): void {
  if (key !== '__proto__') object[key] = value;
  else Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}
