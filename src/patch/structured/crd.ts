import { readObject, readObjects, readText } from '../../json/read-field.ts';
import type { JsonObject } from '../../json/value.ts';

/** The kinds of a CustomResourceDefinition as an OpenAPI v3 document. */
export function openApiOfCrd(definition: JsonObject): JsonObject {
  const spec = readObject(definition, 'spec') ?? {};
  const group = readText(spec, 'group') ?? '';
  const kind = readText(readObject(spec, 'names') ?? {}, 'kind') ?? '';
  const common = readObject(readObject(spec, 'validation') ?? {}, 'openAPIV3Schema');
  const schemas: Record<string, JsonObject> = {};
  for (const served of readObjects(spec, 'versions')) {
    const version = readText(served, 'name') ?? '';
    const schema = readObject(readObject(served, 'schema') ?? {}, 'openAPIV3Schema') ?? common;
    if (schema === undefined) continue;
    schemas[`${group}.${version}.${kind}`] = {
      ...schema,
      'x-kubernetes-group-version-kind': [{ group, version, kind }],
    };
  }
  return { components: { schemas } };
}
