import type { Value } from '../value/value.ts';
import { CelSyntaxError } from './problem.ts';

interface NodeBase {
  /** Where a message about this node points: an operator, an opening bracket, the first character of a name. */
  readonly offset: number;
  /** The part of the source that the node was read from, brackets around it included. */
  start: number;
  end: number;
  /** Levels of nodes below this one; bounded, because the tree is walked recursively. */
  readonly height: number;
}

export interface LiteralNode extends NodeBase {
  readonly kind: 'literal';
  readonly type: 'null_type' | 'bool' | 'int' | 'uint' | 'double' | 'string' | 'bytes';
  readonly value: Value;
}

export interface IdentNode extends NodeBase {
  readonly kind: 'ident';
  /** With a leading dot when it was written so. */
  readonly name: string;
}

export interface SelectNode extends NodeBase {
  readonly kind: 'select';
  readonly operand: Node;
  readonly field: string;
  /** `has(operand.field)`, or `operand.?field`. */
  readonly mode: 'value' | 'test' | 'optional';
}

export interface CallNode extends NodeBase {
  readonly kind: 'call';
  readonly name: string;
  readonly target: Node | undefined;
  readonly args: readonly Node[];
}

/** `&&` and `||` of any number of operands. */
export interface LogicNode extends NodeBase {
  readonly kind: 'logic';
  readonly operator: '&&' | '||';
  readonly operands: readonly Node[];
}

export interface ListNode extends NodeBase {
  readonly kind: 'list';
  readonly elements: readonly { readonly value: Node; readonly optional: boolean }[];
}

export interface MapNode extends NodeBase {
  readonly kind: 'map';
  readonly entries: readonly { readonly key: Node; readonly value: Node; readonly optional: boolean }[];
}

export interface StructField {
  readonly name: string;
  readonly value: Node;
  readonly optional: boolean;
  readonly offset: number;
}

export interface StructNode extends NodeBase {
  readonly kind: 'struct';
  readonly typeName: string;
  readonly fields: readonly StructField[];
}

export type ComprehensionMacro =
  | 'all'
  | 'exists'
  | 'existsOne'
  | 'map'
  | 'filter'
  | 'transformList'
  | 'transformMap'
  | 'transformMapEntry'
  | 'sortBy';

export interface ComprehensionNode extends NodeBase {
  readonly kind: 'comprehension';
  readonly macro: ComprehensionMacro;
  readonly range: Node;
  /** One name, or two: index and item of a list, key and value of a map. */
  readonly variables: readonly string[];
  /** Items for which it is false are left out. */
  readonly condition: Node | undefined;
  readonly body: Node;
}

/** `cel.bind(variable, value, body)`. */
export interface BindNode extends NodeBase {
  readonly kind: 'bind';
  readonly variable: string;
  readonly value: Node;
  readonly body: Node;
}

/** `target.optMap(variable, body)` and `target.optFlatMap(variable, body)`. */
export interface OptMapNode extends NodeBase {
  readonly kind: 'optMap';
  readonly flat: boolean;
  readonly target: Node;
  readonly variable: string;
  readonly body: Node;
}

export type Node =
  | LiteralNode
  | IdentNode
  | SelectNode
  | CallNode
  | LogicNode
  | ListNode
  | MapNode
  | StructNode
  | ComprehensionNode
  | BindNode
  | OptMapNode;

/** The nodes directly below a node, in source order. */
export function childrenOf(node: Node): readonly Node[] {
  switch (node.kind) {
    case 'literal':
    case 'ident':
      return [];
    case 'select':
      return [node.operand];
    case 'call':
      return node.target === undefined ? node.args : [node.target, ...node.args];
    case 'logic':
      return node.operands;
    case 'list':
      return node.elements.map(({ value }) => value);
    case 'map':
      return node.entries.flatMap(({ key, value }) => [key, value]);
    case 'struct':
      return node.fields.map(({ value }) => value);
    case 'comprehension':
      return node.condition === undefined ? [node.range, node.body] : [node.range, node.condition, node.body];
    case 'bind':
      return [node.value, node.body];
    case 'optMap':
      return [node.target, node.body];
  }
}

/** `a.b.c` as one name; undefined for anything else. */
export function qualifiedName(node: Node): string | undefined {
  if (node.kind === 'ident') return node.name;
  if (node.kind !== 'select' || node.mode !== 'value') return undefined;
  const operand = qualifiedName(node.operand);
  return operand === undefined ? undefined : `${operand}.${node.field}`;
}

/** Chains such as `a + b + c` nest too, to the left. */
const highestTree = 500;

/** A node without what `make` and `locate` add. */
type Draft<Kind extends Node = Node> = Kind extends Node ? Omit<Kind, 'height' | 'start' | 'end'> : never;

/** Adds the height of a node, within the limit. */
export function make<Kind extends Node>(draft: Draft<Kind>): Kind {
  const node = { ...draft, start: draft.offset, end: draft.offset, height: 0 } as unknown as Node;
  let height = 0;
  for (const child of childrenOf(node)) height = Math.max(height, child.height + 1);
  if (height > highestTree) {
    throw new CelSyntaxError(
      `expression recursion limit exceeded: ${highestTree}`,
      node.offset,
      'Split the expression into variables.',
    );
  }
  return { ...node, height } as unknown as Kind;
}

/** Sets the part of the source that the node was read from. */
export function locate<Kind extends Node>(node: Kind, start: number, end: number): Kind {
  node.start = start;
  node.end = end;
  return node;
}

/** The node with other nodes below it, at the same place in the source. */
export function mapChildren(node: Node, change: (child: Node) => Node): Node {
  const { start, end } = node;
  return locate(make(changedDraft(node, change)), start, end);
}

function changedDraft(node: Node, change: (child: Node) => Node): Node {
  switch (node.kind) {
    case 'literal':
    case 'ident':
      return node;
    case 'select':
      return { ...node, operand: change(node.operand) };
    case 'call':
      return {
        ...node,
        target: node.target === undefined ? undefined : change(node.target),
        args: node.args.map(change),
      };
    case 'logic':
      return { ...node, operands: node.operands.map(change) };
    case 'list':
      return { ...node, elements: node.elements.map((item) => ({ ...item, value: change(item.value) })) };
    case 'map':
      return {
        ...node,
        entries: node.entries.map((entry) => ({
          ...entry,
          key: change(entry.key),
          value: change(entry.value),
        })),
      };
    case 'struct':
      return { ...node, fields: node.fields.map((field) => ({ ...field, value: change(field.value) })) };
    case 'comprehension':
      return {
        ...node,
        range: change(node.range),
        condition: node.condition === undefined ? undefined : change(node.condition),
        body: change(node.body),
      };
    case 'bind':
      return { ...node, value: change(node.value), body: change(node.body) };
    case 'optMap':
      return { ...node, target: change(node.target), body: change(node.body) };
  }
}
