import { isObject, type Json, type JsonObject } from '../../json/value.ts';
import type { FieldSchema, FieldType, ObjectSchema } from '../../policy/schema/schema.ts';

/** Converts a document schema to a structural OpenAPI schema. Free-form parts preserve unknown fields. */
export function openApiOf(schema: ObjectSchema): JsonObject {
  const required = Object.keys(schema).filter((name) => schema[name]?.required === true);
  const properties = Object.fromEntries(
    Object.entries(schema).map(([name, field]) => [name, fieldSchema(field)]),
  );
  return { type: 'object', ...(required.length === 0 ? {} : { required }), properties };
}

function fieldSchema(field: FieldSchema): JsonObject {
  const shape = typeSchema(field.type, limitsOf(field));
  const deprecated = field.deprecated === undefined ? '' : deprecation(field.deprecated);
  return { description: `${field.description}${deprecated}`, ...shape };
}

function deprecation(instead: string): string {
  return instead === 'nothing' ? ' Deprecated.' : ` Deprecated: use ${instead}.`;
}

/** Limits of a list apply to its items. */
function limitsOf({ enum: values, minimum, maximum, maxLength }: FieldSchema): JsonObject {
  return {
    ...(values === undefined ? {} : { enum: [...values] }),
    ...(minimum === undefined ? {} : { minimum }),
    ...(maximum === undefined ? {} : { maximum }),
    ...(maxLength === undefined ? {} : { maxLength }),
  };
}

const anything: JsonObject = { 'x-kubernetes-preserve-unknown-fields': true };

function typeSchema(type: FieldType, limits: JsonObject): JsonObject {
  if (type === 'free') return anything;
  if (type === 'object') return { type: 'object', ...anything };
  if (type === 'texts') return { type: 'object', additionalProperties: { type: 'string' } };
  if (type === 'integer') return { type: 'integer', format: 'int32', ...limits };
  if (typeof type === 'string') return { type, ...limits };
  if ('list' in type) return { type: 'array', items: typeSchema(type.list, limits) };
  if ('object' in type) return openApiOf(type.object);
  // Structural schemas cannot be recursive.
  return { type: 'object', ...anything };
}

/**
 * Merges the schemas of two dialects: only common requirements and limits are kept. Policy admission checks the rest.
 */
export function mergeSchemas(left: ObjectSchema, right: ObjectSchema): ObjectSchema {
  const merged: Record<string, FieldSchema> = {};
  for (const name of new Set([...Object.keys(left), ...Object.keys(right)])) {
    const [one, other] = [left[name], right[name]];
    if (one !== undefined && other !== undefined) merged[name] = mergeFields(one, other);
    else if (one !== undefined) merged[name] = optional(one);
    else if (other !== undefined) merged[name] = optional(other);
  }
  return merged;
}

function mergeFields(left: FieldSchema, right: FieldSchema): FieldSchema {
  const { required, enum: leftEnum, ...rest } = left;
  return {
    ...rest,
    type: mergeTypes(left.type, right.type),
    ...(required === true && right.required === true ? { required } : {}),
    ...(leftEnum !== undefined && right.enum !== undefined
      ? { enum: [...new Set([...leftEnum, ...right.enum])] }
      : {}),
  };
}

function mergeTypes(left: FieldType, right: FieldType): FieldType {
  if (typeof left === 'object' && typeof right === 'object') {
    if ('object' in left && 'object' in right) return { object: mergeSchemas(left.object, right.object) };
    if ('list' in left && 'list' in right) return { list: mergeTypes(left.list, right.list) };
  }
  return left;
}

function optional(field: FieldSchema): FieldSchema {
  const { required: _, ...rest } = field;
  return rest;
}

/** Adds defaults, by path of property names: `spec.background`, `spec.rules.[].name`. */
export function withDefaults(schema: JsonObject, defaults: Readonly<Record<string, Json>>): JsonObject {
  return Object.entries(defaults).reduce<JsonObject>(
    (result, [path, value]) => withDefault(result, path.split('.'), value),
    schema,
  );
}

function withDefault(schema: JsonObject, [name, ...rest]: readonly string[], value: Json): JsonObject {
  if (name === undefined) return { ...schema, default: value };
  const items = schema['items'];
  if (name === '[]' && isObject(items)) return { ...schema, items: withDefault(items, rest, value) };
  const properties = schema['properties'];
  const field = isObject(properties) ? properties[name] : undefined;
  if (!isObject(properties) || !isObject(field)) throw new Error(`the schema has no property ${name}`);
  return { ...schema, properties: { ...properties, [name]: withDefault(field, rest, value) } };
}
