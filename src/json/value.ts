/**
 * A JSON value. Values are immutable: edits return a new value that shares the unchanged parts.
 * An integer beyond ±(2^53 − 1), which a double may not represent exactly, is a bigint; every other number is a number.
 */
export type Json = null | boolean | number | bigint | string | JsonArray | JsonObject;
export type JsonArray = readonly Json[];
export interface JsonObject {
  readonly [key: string]: Json;
}

/** One step into a value: a member name or a list index. */
export type PathToken = string | number;
export type Path = readonly PathToken[];

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isArray(value: Json | undefined): value is JsonArray {
  return Array.isArray(value);
}

/** Reads an own member; keys come from users, so inherited names such as `constructor` are absent. */
export function member(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** The number of members. Allocates nothing, unlike Object.keys. */
export function countMembers(object: Readonly<Record<string, unknown>>): number {
  let count = 0;
  for (const _key in object) count++;
  return count;
}

/** The value at `path`, or undefined when a step is absent. */
export function valueAt(root: Json, path: Path): Json | undefined {
  let current: Json | undefined = root;
  for (const token of path) {
    if (isArray(current)) current = current[Number(token)];
    else if (isObject(current)) current = member(current, String(token));
    else return undefined;
  }
  return current;
}

export type JsonType = 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object';

export function typeOf(value: Json): JsonType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value === 'bigint' ? 'number' : (typeof value as JsonType);
}

export function isNumber(value: Json | undefined): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

/** Exact, also between a number and a bigint. */
export function compareNumbers(a: number | bigint, b: number | bigint): -1 | 0 | 1 {
  return a < b ? -1 : a > b ? 1 : 0;
}
