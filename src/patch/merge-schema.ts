import { mergeKinds, mergeTypes } from './generated/merge-types.ts';

/** The merge schema of one field of a built-in kind. Absent fields have no merge keys. */
export interface SchemaNode {
  readonly fields: ReadonlyMap<string, SchemaNode>;
  /**
   * Set for a list that is merged: by these keys, or as a set of scalars when there are none.
   * Other lists are replaced.
   */
  readonly mergeKeys?: readonly string[] | undefined;
  /** The items of a list. */
  readonly items?: SchemaNode | undefined;
}

/**
 * The merge schema of a built-in kind, by exact apiVersion and kind; undefined for custom resources.
 *
 * @example
 * mergeSchemaFor('v1', 'Pod')?.fields.get('spec')?.fields.get('containers')?.mergeKeys // ['name']
 */
export function mergeSchemaFor(apiVersion: string, kind: string): SchemaNode | undefined {
  return schemaByKind.get(apiVersion)?.get(kind);
}

const noFields: ReadonlyMap<string, SchemaNode> = new Map();

// Types are recursive, so all nodes are created before their fields are set.
const fieldsByType = new Map<string, Map<string, SchemaNode>>(
  Object.keys(mergeTypes).map((type) => [type, new Map<string, SchemaNode>()]),
);
const nodeByType = new Map<string, SchemaNode>(
  Array.from(
    fieldsByType,
    ([type, fields]) => [type, { fields, mergeKeys: undefined, items: undefined }] as const,
  ),
);
for (const [type, codes] of Object.entries(mergeTypes)) {
  for (const [field, code] of Object.entries(codes)) fieldsByType.get(type)?.set(field, fieldNode(code));
}

const schemaByKind = new Map<string, Map<string, SchemaNode>>();
for (const [groupVersionKind, type] of Object.entries(mergeKinds)) {
  const slash = groupVersionKind.lastIndexOf('/');
  const apiVersion = groupVersionKind.slice(0, slash);
  const kinds = schemaByKind.get(apiVersion) ?? new Map<string, SchemaNode>();
  kinds.set(groupVersionKind.slice(slash + 1), typeNode(type));
  schemaByKind.set(apiVersion, kinds);
}

function fieldNode(code: string): SchemaNode {
  const bracket = code.indexOf('[');
  if (bracket < 0) return typeNode(code);
  const items = bracket === 0 ? undefined : typeNode(code.slice(0, bracket));
  const keys = code.slice(bracket + 1, -1);
  return {
    fields: noFields,
    mergeKeys: keys === '*' ? undefined : keys === '' ? [] : keys.split(','),
    items,
  };
}

function typeNode(type: string): SchemaNode {
  const node = nodeByType.get(type);
  if (node === undefined) throw new Error(`the generated merge table names an unknown type ${type}`);
  return node;
}
