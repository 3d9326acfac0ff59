import type { ListSchema, MapSchema, StructuredSchema } from '../../patch/structured/schema.ts';
import { scalarSchemas } from '../../patch/structured/schema.ts';

/** What is true of values of all these schemas. Undefined where nothing is known. */
export function commonSchema(schemas: readonly StructuredSchema[]): StructuredSchema | undefined {
  const [first] = schemas;
  if (first === undefined) return undefined;
  if (schemas.every((schema) => schema === first)) return first;
  if (schemas.every((schema) => schema.kind === 'map')) return commonMap(schemas);
  if (schemas.every((schema) => schema.kind === 'list')) return commonList(schemas);
  if (!schemas.every((schema) => schema.kind === 'scalar')) return undefined;
  return schemas.every((schema) => schema.scalar === schemas[0]?.scalar) ? first : scalarSchemas.untyped;
}

/** A kind without the field has no object with it. */
function commonMap(schemas: readonly MapSchema[]): MapSchema {
  return {
    kind: 'map',
    atomic: schemas.some(({ atomic }) => atomic),
    field(name) {
      const fields = schemas.flatMap((schema) => schema.field(name) ?? []);
      return commonSchema(fields);
    },
    declares: (name) => schemas.every((schema) => schema.declares(name)),
    fieldNames: [...new Set(schemas.flatMap(({ fieldNames }) => fieldNames))],
    defaults: {},
  };
}

function commonList(schemas: readonly ListSchema[]): ListSchema | undefined {
  const items = commonSchema(schemas.map((schema) => schema.items));
  const [first] = schemas;
  if (items === undefined || first === undefined) return undefined;
  const isSame = schemas.every(
    ({ merge, keys }) => merge === first.merge && keys.join() === first.keys.join(),
  );
  return { kind: 'list', merge: isSame ? first.merge : 'atomic', keys: isSame ? first.keys : [], items };
}
