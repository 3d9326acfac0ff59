import { parsePointer } from '../../json/pointer.ts';
import type { Json } from '../../json/value.ts';
import { entryOf, type PatchNode } from '../../patch/json-patch/node.ts';
import { PatchTextError, parsePatchText } from '../../patch/json-patch/text.ts';
import { nodeOfDocument } from '../../patch/json-patch/v1alpha1.ts';

/** The parts of an operation that do not depend on variables. */
export interface StaticOperation {
  readonly op: string;
  /** As written; may contain variables. */
  readonly path: string;
  /** The path from the root; undefined when it depends on variables or is not a pointer. */
  readonly tokens: readonly string[] | undefined;
  /** Undefined when absent or dependent on variables. */
  readonly value: Json | undefined;
}

/** The operations of a string or (v1alpha1) a list; empty when invalid, which the patch compiler reports. */
export function readOperations(source: Json): readonly StaticOperation[] {
  const root = parse(source);
  return root?.type === 'list' ? root.items.map(toOperation) : [];
}

function parse(source: Json): PatchNode | undefined {
  if (typeof source !== 'string') return nodeOfDocument(source);
  try {
    return parsePatchText(source);
  } catch (error) {
    if (error instanceof PatchTextError) return undefined;
    throw error;
  }
}

function toOperation(node: PatchNode): StaticOperation {
  const op = constantNode(entryOf(node, 'op'));
  const path = entryOf(node, 'path');
  const literal = constantNode(path);
  return {
    op: typeof op === 'string' ? op : '',
    path: path?.type === 'template' ? path.text : typeof literal === 'string' ? literal : '',
    tokens: typeof literal === 'string' && literal.startsWith('/') ? parsePointer(literal) : undefined,
    value: constantNode(entryOf(node, 'value')),
  };
}

/** The value of a node; undefined when absent or dependent on variables. */
export function constantNode(node: PatchNode | undefined): Json | undefined {
  switch (node?.type) {
    case 'constant':
      return node.value;
    case 'list': {
      const items = node.items.map(constantNode);
      return items.some((item) => item === undefined) ? undefined : (items as Json[]);
    }
    case 'map': {
      const entries = node.entries.map(({ key, value }) => [constantNode(key), constantNode(value)] as const);
      if (entries.some(([key, value]) => key === undefined || value === undefined)) return undefined;
      return Object.fromEntries(entries) as Json;
    }
    default:
      return undefined;
  }
}
