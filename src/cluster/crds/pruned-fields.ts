import { readObject, readObjects, readText } from '../../json/read-field.ts';
import { isObject, type Json, type JsonObject } from '../../json/value.ts';

/**
 * The fields of our CustomResourceDefinition that another definition of the same kind lacks, and the API server therefore
 * drops, such as `spec.rules[].mutate.replacements`. A version that the other does not serve is listed as `VERSION`. Fields
 * inside a dropped field are not listed.
 */
export function prunedFields(ours: JsonObject, theirs: JsonObject): readonly string[] {
  const served = new Map(versionsOf(theirs));
  const fields = versionsOf(ours).flatMap(([version, schema]) => {
    const other = served.get(version);
    return other === undefined ? [version] : missingIn(schema, other, '');
  });
  return [...new Set(fields)];
}

function versionsOf(definition: JsonObject): readonly (readonly [string, JsonObject])[] {
  return readObjects(readObject(definition, 'spec') ?? {}, 'versions').flatMap((version) => {
    const schema = readObject(readObject(version, 'schema') ?? {}, 'openAPIV3Schema');
    const isServed = version['served'] !== false;
    return isServed && schema !== undefined ? [[readText(version, 'name') ?? '', schema] as const] : [];
  });
}

function missingIn(ours: Json | undefined, theirs: Json | undefined, path: string): readonly string[] {
  if (!isObject(ours)) return [];
  if (!isObject(theirs)) return [path];
  if (keepsAnything(theirs)) return [];
  const items = readObject(ours, 'items');
  if (items !== undefined) return missingIn(items, readObject(theirs, 'items') ?? {}, `${path}[]`);
  const properties = readObject(ours, 'properties') ?? {};
  const others = readObject(theirs, 'properties') ?? {};
  return Object.entries(properties).flatMap(([name, schema]) => {
    // Metadata is always present, and users do not write status.
    if (path === '' && (name === 'metadata' || name === 'status')) return [];
    const at = path === '' ? name : `${path}.${name}`;
    return missingIn(schema, Object.hasOwn(others, name) ? others[name] : undefined, at);
  });
}

function keepsAnything(schema: JsonObject): boolean {
  return (
    schema['x-kubernetes-preserve-unknown-fields'] === true ||
    schema['additionalProperties'] === true ||
    isObject(schema['additionalProperties'])
  );
}
