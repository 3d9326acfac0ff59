import type { Operation } from '../../json/patch/operation.ts';
import { type Json, type JsonObject, valueAt } from '../../json/value.ts';
import { asDeclared, asString, declaredSchema, schemaAt } from '../structured/declared.ts';
import type { StructuredSchema } from '../structured/schema.ts';

/** Applies an operation to the object as earlier operations left it. */
export type ApplyOperation = (document: Json, operation: Operation) => Json;

interface Known {
  readonly schema: StructuredSchema;
  readonly operation: Operation;
}

/** The last result for each operation without variables. */
const known = new WeakMap<Operation, Known>();

/**
 * Applies an operation with strings where the schema of the object's kind declares strings. Without a schema, a number or boolean
 * becomes a string where it replaces one.
 *
 * @param isConstant whether the same operation object is applied to other objects, too.
 */
export function applyDeclared(
  document: Json,
  operation: Operation,
  object: JsonObject,
  isConstant: boolean,
  apply: ApplyOperation,
): Json {
  switch (operation.op) {
    case 'remove':
    case 'test':
      return apply(document, operation);
    case 'copy':
    case 'move': {
      const { op, from, path } = operation;
      const value = valueAt(document, from);
      if (value === undefined || typeof value === 'string') return apply(document, operation);
      const schema = schemaAt(declaredSchema(object), path);
      const declared = declaredValue(value, schema, document, path);
      if (declared === value) return apply(document, operation);
      const rest = op === 'copy' ? document : apply(document, { op: 'remove', path: from });
      return apply(rest, { op: 'add', path, value: declared });
    }
    default:
      return apply(
        document,
        typeof operation.value === 'string'
          ? operation
          : declaredWrite(operation, document, object, isConstant),
      );
  }
}

type Write = Extract<Operation, { readonly value: Json }>;

function declaredWrite(operation: Write, document: Json, object: JsonObject, isConstant: boolean): Operation {
  const root = declaredSchema(object);
  const before = isConstant ? known.get(operation) : undefined;
  if (before?.schema === root) return before.operation;
  const { op, path, value } = operation;
  const schema = schemaAt(root, path);
  const declared = declaredValue(value, schema, document, path);
  const result = declared === value ? operation : { op, path, value: declared };
  // Without a schema, the result depends on the document.
  if (isConstant && schema !== undefined) known.set(operation, { schema: root, operation: result });
  return result;
}

function declaredValue(
  value: Json,
  schema: StructuredSchema | undefined,
  document: Json,
  path: readonly string[],
): Json {
  if (schema !== undefined) return asDeclared(value, schema);
  return typeof valueAt(document, path) === 'string' ? asString(value) : value;
}
