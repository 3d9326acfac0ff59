import { equal } from '../json/equal.ts';
import { stringifyJson } from '../json/json-text.ts';
import { metadataOf } from '../json/metadata.ts';
import { isArray, isObject, type Json, type JsonArray, type JsonObject } from '../json/value.ts';
import { mergeSchemaFor, type SchemaNode } from '../patch/merge-schema.ts';
import { withDefaultNamespace } from './object-identity.ts';

export type Comparison = 'equal' | 'order' | 'different';

/**
 * Compares whole objects as Kyverno's test command does: the namespace is defaulted, and null and empty values equal absent
 * ones. Lists with a merge key are compared by key; `order` means that only the order of such items differs.
 */
export function compareObjects(actual: JsonObject, expected: JsonObject): Comparison {
  const [a, b] = [tidyObject(actual), tidyObject(expected)];
  if (equal(a, b)) return 'equal';
  const schema = mergeSchemaFor(String(actual['apiVersion']), String(actual['kind']));
  return equal(sortByKey(a, schema), sortByKey(b, schema)) ? 'order' : 'different';
}

/** The normalized object that is compared, for printing a difference. */
export function tidyObject(object: JsonObject): JsonObject {
  const complete = withDefaultNamespace(object);
  const metadata = metadataOf(complete);
  const labels = isObject(metadata['labels']) ? metadata['labels'] : {};
  const kept = Object.entries(labels).filter(([key, value]) => !isGeneratorLabel(key, value));
  const tidied = tidy({ ...complete, metadata: { ...metadata, labels: Object.fromEntries(kept) } });
  return isObject(tidied) ? tidied : {};
}

/** Kyverno's comparison ignores the labels of generated objects. */
function isGeneratorLabel(key: string, value: Json): boolean {
  if (key.startsWith('generate.kyverno.io/')) return true;
  return key === 'app.kubernetes.io/managed-by' && value === 'kyverno';
}

function tidy(value: Json): Json | undefined {
  if (value === null) return undefined;
  if (isArray(value)) {
    const items = value.flatMap((item) => {
      const kept = tidy(item);
      return kept === undefined ? [] : [kept];
    });
    return items.length === 0 ? undefined : items;
  }
  if (!isObject(value)) return value;
  const members: [string, Json][] = [];
  for (const [key, item] of Object.entries(value)) {
    const kept = tidy(item);
    if (kept !== undefined) members.push([key, kept]);
  }
  return members.length === 0 ? undefined : Object.fromEntries(members);
}

function sortByKey(value: Json, schema: SchemaNode | undefined): Json {
  if (schema === undefined) return value;
  if (isArray(value)) {
    const items = value.map((item) => sortByKey(item, schema.items));
    return schema.mergeKeys === undefined ? items : sortItems(items, schema.mergeKeys);
  }
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, sortByKey(item, schema.fields.get(key))]),
  );
}

function sortItems(items: JsonArray, keys: readonly string[]): JsonArray {
  const identity = (item: Json) =>
    stringifyJson(isObject(item) ? keys.map((key) => item[key] ?? null) : item);
  return items.toSorted((a, b) => (identity(a) < identity(b) ? -1 : identity(a) > identity(b) ? 1 : 0));
}
