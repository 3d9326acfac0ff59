import { assignMember, copyMembers, mapItems } from '../../json/edit.ts';
import { isArray, isObject, type Json, type JsonObject } from '../../json/value.ts';
import { builtInSchema, objectMetaSchema } from './built-in.ts';
import type { MapSchema, StructuredSchema } from './schema.ts';

type KindSchemas = Map<string, Map<string, StructuredSchema>>;
/** Only built-in kinds, so that it stays small. */
const builtIn: KindSchemas = new Map();

/** Custom resources have the metadata of all objects. */
const customSchema: MapSchema = {
  kind: 'map',
  atomic: false,
  field: (name) => (name === 'metadata' ? objectMetaSchema() : undefined),
  declares: (name) => name === 'metadata',
  fieldNames: ['metadata'],
  defaults: {},
};

/** The schema of an object; for a custom resource only its metadata is known. */
export function declaredSchema({ apiVersion, kind }: JsonObject): StructuredSchema {
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') return customSchema;
  const known = builtIn.get(apiVersion)?.get(kind);
  if (known !== undefined) return known;
  const schema = builtInSchema(apiVersion, kind);
  if (schema === undefined) return customSchema;
  const kinds = builtIn.get(apiVersion) ?? new Map<string, StructuredSchema>();
  builtIn.set(apiVersion, kinds.set(kind, schema));
  return schema;
}

/** The schema of a part; undefined if it is not known. A token that is not a name of a field selects the items of a list. */
export function schemaAt(
  schema: StructuredSchema | undefined,
  path: readonly string[],
): StructuredSchema | undefined {
  let found = schema;
  for (const token of path) {
    if (found?.kind === 'any') return found;
    if (found?.kind === 'map') found = found.field(token);
    else found = found?.kind === 'list' ? found.items : undefined;
  }
  return found;
}

/**
 * The value with strings where the schema declares strings and the value has numbers or booleans, as YAML reads `data: {port: 80}`.
 * Fields that take numbers and strings keep the type of the value. Returns its input (===) when nothing changes.
 */
export function asDeclared(value: Json, schema: StructuredSchema | undefined): Json {
  if (schema === undefined || schema.kind === 'any') return value;
  if (schema.kind === 'scalar') return schema.scalar === 'string' ? asString(value) : value;
  if (schema.kind === 'list')
    return isArray(value) ? mapItems(value, (item) => asDeclared(item, schema.items)) : value;
  if (!isObject(value)) return value;
  let copy: Record<string, Json> | undefined;
  for (const key in value) {
    const inner = value[key] as Json;
    const declared = asDeclared(inner, schema.field(key));
    if (declared === inner) continue;
    copy ??= copyMembers(value);
    assignMember(copy, key, declared);
  }
  return copy ?? value;
}

/** A number or boolean as a string; other values are returned as they are. */
export function asString(value: Json): Json {
  return typeof value === 'object' || typeof value === 'string' ? value : String(value);
}
