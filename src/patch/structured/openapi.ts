import { readBoolean, readObject, readObjects, readText, readTexts } from '../../json/read-field.ts';
import { isObject, type Json, type JsonObject, member } from '../../json/value.ts';
import { objectMetaSchema } from './built-in.ts';
import {
  anySchema,
  type ListSchema,
  type MapSchema,
  type StructuredSchema,
  scalarSchemas,
} from './schema.ts';

/** Schemas of one OpenAPI v3 document are read once. */
const documents = new WeakMap<JsonObject, Map<string, StructuredSchema | undefined>>();

/**
 * The schema of a kind in an OpenAPI v3 document, as the API server publishes it per group and version, or as `openApiOfCrd`
 * writes it.
 */
export function schemaFromOpenApi(
  document: JsonObject,
  apiVersion: string,
  kind: string,
): StructuredSchema | undefined {
  const known = documents.get(document) ?? new Map<string, StructuredSchema | undefined>();
  documents.set(document, known);
  const key = `${apiVersion}/${kind}`;
  if (!known.has(key)) {
    const schemas = readObject(readObject(document, 'components') ?? {}, 'schemas') ?? {};
    const slash = apiVersion.indexOf('/');
    const group = apiVersion.slice(0, Math.max(slash, 0));
    const version = apiVersion.slice(slash + 1);
    const found = Object.values(schemas).find(
      (schema) =>
        isObject(schema) &&
        readObjects(schema, 'x-kubernetes-group-version-kind').some(
          (one) =>
            readText(one, 'kind') === kind &&
            (readText(one, 'group') ?? '') === group &&
            readText(one, 'version') === version,
        ),
    );
    known.set(key, isObject(found) ? rootSchema(found, schemas) : undefined);
  }
  return known.get(key);
}

/** Schemas of CRDs need not declare what every object has. */
function rootSchema(schema: JsonObject, schemas: JsonObject): StructuredSchema {
  const converted = convert(schema, schemas, 0);
  if (converted.kind !== 'map') return converted;
  return {
    ...converted,
    field(name) {
      if (name === 'apiVersion' || name === 'kind') return scalarSchemas.string;
      return name === 'metadata' ? objectMetaSchema() : converted.field(name);
    },
    declares: (name) => commonFields.has(name) || converted.declares(name),
    fieldNames: [...new Set([...converted.fieldNames, 'apiVersion', 'kind', 'metadata'])],
  };
}

const commonFields: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);
const longestChain = 20;

/** References and `allOf` with one entry, which documents use to add a default to a reference. */
function resolve(schema: JsonObject, schemas: JsonObject): JsonObject {
  let current = schema;
  for (let step = 0; step < longestChain; step++) {
    const all = readObjects(current, 'allOf');
    const inner = all.length === 1 && readText(current, 'type') === undefined ? all[0] : undefined;
    const reference = readText(current, '$ref') ?? '';
    const name = reference.slice(reference.lastIndexOf('/') + 1);
    const target = inner ?? (name === '' ? undefined : member(schemas, name));
    if (!isObject(target)) return current;
    const { $ref: _reference, allOf: _all, ...own } = current;
    current = { ...target, ...own };
  }
  return current;
}

function convert(written: JsonObject, schemas: JsonObject, depth: number): StructuredSchema {
  const schema = resolve(written, schemas);
  if (depth > 200) return anySchema;
  if (readBoolean(schema, 'x-kubernetes-int-or-string') === true) return scalarSchemas.untyped;
  switch (readText(schema, 'type')) {
    case 'string':
      return readText(schema, 'format') === 'int-or-string' ? scalarSchemas.untyped : scalarSchemas.string;
    case 'integer':
    case 'number':
      return scalarSchemas.number;
    case 'boolean':
      return scalarSchemas.boolean;
    case 'array':
      return convertList(schema, schemas, depth);
    case 'object':
      return convertMap(schema, schemas, depth);
    default:
      return isObject(member(schema, 'properties'))
        ? convertMap(schema, schemas, depth)
        : readObjects(schema, 'oneOf').length > 0
          ? scalarSchemas.untyped
          : anySchema;
  }
}

function convertList(schema: JsonObject, schemas: JsonObject, depth: number): ListSchema {
  const type = readText(schema, 'x-kubernetes-list-type');
  const keys = readTexts(schema, 'x-kubernetes-list-map-keys');
  const items = convert(readObject(schema, 'items') ?? {}, schemas, depth + 1);
  const merge = type === 'set' ? 'set' : type === 'map' && keys.length > 0 ? 'map' : 'atomic';
  return { kind: 'list', merge, keys, items };
}

/** Types are recursive, so fields are converted when they are read. */
function convertMap(schema: JsonObject, schemas: JsonObject, depth: number): MapSchema {
  const properties = readObject(schema, 'properties') ?? {};
  const known = new Map<string, StructuredSchema>();
  const values = valueSchema(schema, schemas, depth);
  const names = Object.keys(properties);
  return {
    kind: 'map',
    atomic: readText(schema, 'x-kubernetes-map-type') === 'atomic',
    field(name) {
      const property = member(properties, name);
      if (!isObject(property)) return values;
      const field = known.get(name) ?? convert(property, schemas, 0);
      known.set(name, field);
      return field;
    },
    declares: (name) => Object.hasOwn(properties, name),
    fieldNames: names,
    defaults: defaultsOf(properties),
  };
}

/** What keys without a declared field hold; undefined when there are none. */
function valueSchema(schema: JsonObject, schemas: JsonObject, depth: number): StructuredSchema | undefined {
  const additional = member(schema, 'additionalProperties');
  if (isObject(additional)) return convert(additional, schemas, depth + 1);
  const keepsUnknown =
    additional === true ||
    readBoolean(schema, 'x-kubernetes-preserve-unknown-fields') === true ||
    readBoolean(schema, 'x-kubernetes-embedded-resource') === true;
  const isUntyped = member(schema, 'properties') === undefined && additional === undefined;
  return keepsUnknown || isUntyped ? anySchema : undefined;
}

function defaultsOf(properties: JsonObject): JsonObject {
  const defaults: Record<string, Json> = {};
  for (const [name, property] of Object.entries(properties)) {
    const value = isObject(property) ? member(property, 'default') : undefined;
    if (value !== undefined && name !== '__proto__') defaults[name] = value;
  }
  return defaults;
}
