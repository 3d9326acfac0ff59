import { isArray, isObject, type Json, type JsonArray, type JsonObject, member } from './value.ts';

/** Readers for documents whose types were checked. As in Kubernetes, null means absent. */
export function read(object: JsonObject, key: string): Json | undefined {
  return member(object, key) ?? undefined;
}

export function readText(object: JsonObject, key: string): string | undefined {
  const value = member(object, key);
  return typeof value === 'string' ? value : undefined;
}

export function readBoolean(object: JsonObject, key: string): boolean | undefined {
  const value = member(object, key);
  return typeof value === 'boolean' ? value : undefined;
}

export function readNumber(object: JsonObject, key: string): number | undefined {
  const value = member(object, key);
  return typeof value === 'number' ? value : undefined;
}

export function readObject(object: JsonObject, key: string): JsonObject | undefined {
  const value = member(object, key);
  return isObject(value) ? value : undefined;
}

export function readList(object: JsonObject, key: string): JsonArray {
  const value = member(object, key);
  return isArray(value) ? value : [];
}

export function readObjects(object: JsonObject, key: string): readonly JsonObject[] {
  return readList(object, key).filter((item): item is JsonObject => isObject(item));
}

export function readTexts(object: JsonObject, key: string): readonly string[] {
  return readList(object, key).filter((item): item is string => typeof item === 'string');
}

/** A map of strings, such as labels. */
export function readTextMap(object: JsonObject, key: string): Readonly<Record<string, string>> {
  const entries = Object.entries(readObject(object, key) ?? {});
  return Object.fromEntries(
    entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}
