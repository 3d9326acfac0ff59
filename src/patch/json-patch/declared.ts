import type { Operation } from '../../json/patch/operation.ts';
import { type Json, type JsonObject, valueAt } from '../../json/value.ts';
import { asDeclared, asString, declaredSchema, schemaAt } from '../structured/declared.ts';
import type { StructuredSchema } from '../structured/schema.ts';

/**
 * The operation with strings where the schema of the object's kind declares strings. Without a schema, a number or boolean becomes a
 * string where it replaces one. `document` is the object as earlier operations left it.
 */
export function declaredOperations(
  operation: Operation,
  document: Json,
  object: JsonObject,
): readonly Operation[] {
  switch (operation.op) {
    case 'remove':
    case 'test':
      return [operation];
    case 'copy':
    case 'move': {
      const { op, from, path } = operation;
      const value = valueAt(document, from);
      if (value === undefined || typeof value === 'string') return [operation];
      const declared = declaredValue(value, path, document, object);
      if (declared === value) return [operation];
      const added = { op: 'add', path, value: declared } as const;
      return op === 'copy' ? [added] : [{ op: 'remove', path: from }, added];
    }
    default: {
      const { op, path, value } = operation;
      if (typeof value === 'string') return [operation];
      const declared = declaredValue(value, path, document, object);
      return [declared === value ? operation : { op, path, value: declared }];
    }
  }
}

function declaredValue(value: Json, path: readonly string[], document: Json, object: JsonObject): Json {
  const schema = schemaAt(declaredSchema(object), path);
  if (schema !== undefined) return declaredConstant(value, schema);
  return typeof valueAt(document, path) === 'string' ? asString(value) : value;
}

interface Known {
  readonly schema: StructuredSchema;
  readonly declared: Json;
}

/** Operations without variables have the same value for each object. */
const known = new WeakMap<object, Known>();

function declaredConstant(value: Json, schema: StructuredSchema): Json {
  if (typeof value !== 'object' || value === null) return asDeclared(value, schema);
  const before = known.get(value);
  if (before?.schema === schema) return before.declared;
  const declared = asDeclared(value, schema);
  known.set(value, { schema, declared });
  return declared;
}
