import type { Node } from '../jmespath/ast.ts';

const weights = new WeakMap<Node, number>();

/**
 * The steps of evaluating a node once. Loops charge it for each item, so that straight code needs no counting. Inner
 * loops charge their own items.
 */
export function weightOf(node: Node): number {
  const known = weights.get(node);
  if (known !== undefined) return known;
  const own = node.type === 'path' ? 1 + (node.steps.length >> 2) : 1;
  const weight = childrenOf(node).reduce((sum, child) => sum + weightOf(child), own);
  weights.set(node, weight);
  return weight;
}

function childrenOf(node: Node): readonly Node[] {
  switch (node.type) {
    case 'path':
      return node.head === undefined ? [] : [node.head];
    case 'literal':
    case 'bound-text':
    case 'bound-json':
      return [];
    case 'pipe':
    case 'or':
    case 'and':
    case 'list':
      return node.children;
    case 'not':
    case 'flatten':
    case 'reference':
      return [node.child];
    case 'hash':
      return node.entries.map(({ value }) => value);
    case 'slice':
      return [node.left];
    case 'call':
      return node.args;
    case 'filter':
      return [node.left, node.condition, node.right];
    default:
      return [node.left, node.right];
  }
}
