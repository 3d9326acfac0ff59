import { anySchema, type StructuredSchema } from '../../patch/structured/schema.ts';

/** What all schemas agree on: the type of a field that is the same in each. */
export function commonSchema(schemas: readonly StructuredSchema[]): StructuredSchema {
  const [first, ...others] = schemas;
  if (first === undefined || others.some((schema) => schema.kind !== first.kind)) return anySchema;
  if (others.every((schema) => schema === first)) return first;
  switch (first.kind) {
    case 'scalar':
      return others.every((schema) => schema.kind === 'scalar' && schema.scalar === first.scalar)
        ? first
        : anySchema;
    case 'list': {
      const items = schemas.flatMap((schema) => (schema.kind === 'list' ? [schema.items] : []));
      return { ...first, items: commonSchema(items) };
    }
    case 'map': {
      const maps = schemas.flatMap((schema) => (schema.kind === 'map' ? [schema] : []));
      return {
        ...first,
        field: (name) => {
          const fields = maps.flatMap((map) => map.field(name) ?? []);
          return fields.length === 0 ? undefined : commonSchema(fields);
        },
        declares: (name) => maps.some((map) => map.declares(name)),
        fieldNames: [...new Set(maps.flatMap(({ fieldNames }) => fieldNames))],
      };
    }
    default:
      return anySchema;
  }
}
