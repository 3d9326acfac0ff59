import { shareText } from '../../json/json-text.ts';
import type { JsonObject } from '../../json/value.ts';
import { asDeclared, declaredSchema } from '../structured/declared.ts';
import type { StructuredSchema } from '../structured/schema.ts';
import type { MapEntry, MapNode, OverlayNode } from './tree.ts';
import { finishList, finishMap } from './tree-compile.ts';

/**
 * The overlay for an object, in which the schema of its kind decides about the type of each scalar. It is computed once per built-in
 * kind, so literals cost nothing when the overlay is applied.
 */
export function declaredOverlays(root: MapNode): (object: JsonObject) => MapNode {
  shareConstants(root);
  if (!needsSchema(root)) return () => root;
  const known = new WeakMap<StructuredSchema, MapNode>();
  return (object) => {
    const schema = declaredSchema(object);
    const before = known.get(schema);
    if (before !== undefined) return before;
    const overlay = declaredMap(root, schema);
    shareConstants(overlay);
    known.set(schema, overlay);
    return overlay;
  };
}

/** The constants of an overlay occur in patch after patch. Those of a variable's value do not. */
function shareConstants(node: OverlayNode): void {
  if (node.type !== 'map' && node.type !== 'list') return;
  if (node.constant !== undefined) shareText(node.constant);
  if (node.type === 'list') node.items.forEach(shareConstants);
  else for (const entry of node.entries) shareConstants(entry.node);
}

/** Whether the overlay may write something other than strings. */
function needsSchema(node: OverlayNode): boolean {
  switch (node.type) {
    case 'scalar':
      return node.value !== null && typeof node.value !== 'string';
    case 'variable':
      return true;
    case 'list':
      return node.items.some(needsSchema);
    case 'map':
      return node.entries.some((entry) => needsSchema(entry.node));
  }
}

/** The node for a value with this schema. */
export function declaredNode(node: OverlayNode, schema: StructuredSchema | undefined): OverlayNode {
  if (schema === undefined) return node;
  switch (node.type) {
    case 'scalar': {
      if (node.value === null || typeof node.value === 'string') return node;
      const value = asDeclared(node.value, schema) as typeof node.value;
      return { type: 'scalar', value, isDeclared: true };
    }
    case 'variable':
      return { type: 'variable', slot: node.slot, schema };
    case 'map':
      return declaredMap(node, schema);
    case 'list': {
      if (schema.kind !== 'list' && schema.kind !== 'any') return node;
      const itemSchema = schema.kind === 'list' ? schema.items : schema;
      const items = node.items.map((item) => declaredNode(item, itemSchema));
      return isSame(items, node.items) ? node : finishList(node.directive, items, node.inside);
    }
  }
}

function declaredMap(node: MapNode, schema: StructuredSchema): MapNode {
  if (schema.kind !== 'map' && schema.kind !== 'any') return node;
  const entries = node.entries.map((entry): MapEntry => {
    // A key from a variable names a field of a map, never of a struct.
    const field =
      schema.kind === 'any' ? schema : schema.field(typeof entry.key === 'string' ? entry.key : '');
    const inner = declaredNode(entry.node, field);
    return inner === entry.node ? entry : { ...entry, node: inner };
  });
  if (isSame(entries, node.entries)) return node;
  const { globals, conditions, directive, directives } = node;
  return finishMap(globals, conditions, entries, { deletions: [], orders: [], ...directives, directive });
}

function isSame<T>(left: readonly T[], right: readonly T[]): boolean {
  return left.every((item, index) => item === right[index]);
}
