import { isArray, isObject, type Json, type JsonObject, member } from '../../json/value.ts';
import type { SchemaNode } from '../../patch/merge-schema.ts';

export type SchemaLookup = (apiVersion: string, kind: string) => SchemaNode | undefined;

/** Merge keys from the OpenAPI document in `openapi: {path}`, which replaces the Kubernetes schema. */
export function schemaLookup(document: Json): SchemaLookup {
  const definitions = isObject(document) ? member(document, 'definitions') : undefined;
  const types = isObject(definitions) ? definitions : {};
  const nodes = new Map<string, SchemaNode>();
  const byKind = new Map<string, string>();
  for (const [name, type] of Object.entries(types)) {
    for (const kind of kindsOf(type)) byKind.set(kind, name);
  }
  return (apiVersion, kind) => {
    const name = byKind.get(`${apiVersion}/${kind}`);
    return name === undefined ? undefined : typeNode(name, types, nodes);
  };
}

function kindsOf(type: Json): readonly string[] {
  const kinds = isObject(type) ? member(type, 'x-kubernetes-group-version-kind') : undefined;
  const list = isArray(kinds) ? kinds : [kinds];
  return list.filter(isObject).map((entry) => {
    const group = String(member(entry, 'group') ?? '');
    const version = String(member(entry, 'version') ?? '');
    return `${group === '' ? version : `${group}/${version}`}/${String(member(entry, 'kind') ?? '')}`;
  });
}

/** Registers the node before its fields, because types may be recursive. */
function typeNode(name: string, types: JsonObject, nodes: Map<string, SchemaNode>): SchemaNode | undefined {
  const known = nodes.get(name);
  if (known !== undefined) return known;
  const type = member(types, name);
  if (!isObject(type)) return undefined;
  const fields = new Map<string, SchemaNode>();
  nodes.set(name, { fields });
  fillFields(fields, type, types, nodes);
  return nodes.get(name);
}

function fillFields(
  fields: Map<string, SchemaNode>,
  type: JsonObject,
  types: JsonObject,
  nodes: Map<string, SchemaNode>,
): void {
  const properties = member(type, 'properties');
  for (const [name, property] of Object.entries(isObject(properties) ? properties : {})) {
    const node = isObject(property) ? propertyNode(property, types, nodes) : undefined;
    if (node !== undefined) fields.set(name, node);
  }
}

function propertyNode(
  property: JsonObject,
  types: JsonObject,
  nodes: Map<string, SchemaNode>,
): SchemaNode | undefined {
  const reference = member(property, '$ref');
  if (typeof reference === 'string')
    return typeNode(reference.replace(/^#\/definitions\//, ''), types, nodes);
  const fields = new Map<string, SchemaNode>();
  fillFields(fields, property, types, nodes);
  const items = member(property, 'items');
  const itemNode = isObject(items) ? propertyNode(items, types, nodes) : undefined;
  const mergeKeys = mergeKeysOf(property);
  return {
    fields,
    items: itemNode,
    mergeKeys,
  };
}

function mergeKeysOf(property: JsonObject): readonly string[] | undefined {
  const strategy = member(property, 'x-kubernetes-patch-strategy');
  if (typeof strategy !== 'string' || !strategy.split(',').includes('merge')) return undefined;
  const keys = member(property, 'x-kubernetes-list-map-keys');
  if (isArray(keys) && keys.length > 1) return keys.map(String);
  const key = member(property, 'x-kubernetes-patch-merge-key');
  return typeof key === 'string' ? [key] : [];
}
