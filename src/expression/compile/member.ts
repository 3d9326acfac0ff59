import type { Json } from '../../json/value.ts';

/** Assigning `__proto__` would change the prototype: such a key is data as well. */
export function setOwn(object: Record<string, Json>, key: string, value: Json): void {
  if (key !== '__proto__') object[key] = value;
  else Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}
