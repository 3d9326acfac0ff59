import { readObject, readText } from './read-field.ts';
import type { Json, JsonObject } from './value.ts';

const noMembers: JsonObject = {};

/** The object's `metadata`, or an empty object. */
export function metadataOf(object: JsonObject): JsonObject {
  return readObject(object, 'metadata') ?? noMembers;
}

/** `metadata.name`, or '' where it is missing or not a string. */
export function nameOf(object: JsonObject): string {
  return readText(metadataOf(object), 'name') ?? '';
}

/** `metadata.namespace`, or '' where it is missing or not a string. */
export function namespaceOf(object: JsonObject): string {
  return readText(metadataOf(object), 'namespace') ?? '';
}

/** `metadata.labels`, or an empty object. Values may be of any type. */
export function labelsOf(object: JsonObject): JsonObject {
  return readObject(metadataOf(object), 'labels') ?? noMembers;
}

/** The value if it is a string, otherwise ''. */
export function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
