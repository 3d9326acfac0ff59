import { isArray, isObject, type Json, type Path } from '../../json/value.ts';
import type { Node } from '../jmespath/ast.ts';
import { parseExpression } from '../jmespath/parser.ts';
import { ExpressionSyntaxError } from '../jmespath/syntax-error.ts';
import { findVariables } from './tokens.ts';

/** An upper bound of what an evaluation reads. */
export interface Reads {
  /** Paths from the roots, including everything below: `['request', 'object', 'metadata']`. An empty path means everything. */
  readonly paths: readonly Path[];
  /** Functions that may be called. */
  readonly calls: ReadonlySet<string>;
}

interface Gathered {
  readonly paths: Path[];
  readonly calls: Set<string>;
}

const everything: Path = [];
const called = /([A-Za-z_]\w*)\s*\(/g;

/** What an expression reads. It may contain nested variables. */
export function expressionReads(text: string): Reads {
  const gathered: Gathered = { paths: [], calls: new Set() };
  gatherText(text, gathered);
  return gathered;
}

export interface TemplateReadsOptions {
  /** `{{@}}` is the patched field of the object, not the whole context. */
  readonly selfIsField?: boolean | undefined;
}

/** What the variables in keys and leaves read. */
export function templateReads(value: Json, options: TemplateReadsOptions = {}): Reads {
  const gathered: Gathered = { paths: [], calls: new Set() };
  gatherTemplate(value, options.selfIsField ?? false, gathered);
  return gathered;
}

export function joinReads(parts: readonly Reads[]): Reads {
  return {
    paths: parts.flatMap(({ paths }) => paths),
    calls: new Set(parts.flatMap(({ calls }) => [...calls])),
  };
}

function gatherTemplate(value: Json, selfIsField: boolean, into: Gathered): void {
  if (typeof value === 'string') {
    for (const { expression } of findVariables(value)) {
      if (!selfIsField || expression !== '@') gatherText(expression, into);
    }
  } else if (isArray(value)) {
    for (const item of value) gatherTemplate(item, selfIsField, into);
  } else if (isObject(value)) {
    for (const [key, item] of Object.entries(value)) {
      gatherTemplate(key, selfIsField, into);
      gatherTemplate(item, selfIsField, into);
    }
  }
}

function gatherText(text: string, into: Gathered): void {
  const nested = findVariables(text);
  for (const { expression } of nested) gatherText(expression, into);
  if (nested.length === 0) {
    try {
      gatherNode(parseExpression(text), true, into);
      return;
    } catch (error) {
      if (!(error instanceof ExpressionSyntaxError)) throw error;
    }
  }
  // Part of the expression, and therefore what it reads, is known only at evaluation.
  into.paths.push(everything);
  for (const [, name = ''] of text.matchAll(called)) into.calls.add(name);
}

/** @param atRoot whether names are looked up in the context, or in the value of an enclosing expression. */
function gatherNode(node: Node, atRoot: boolean, into: Gathered): void {
  switch (node.type) {
    case 'path':
      if (node.head !== undefined) gatherNode(node.head, atRoot, into);
      else if (atRoot) into.paths.push(literalSteps(node.steps));
      return;
    case 'literal':
    case 'bound-text':
    case 'bound-json':
      return;
    case 'pipe':
      node.children.forEach((child, index) => void gatherNode(child, atRoot && index === 0, into));
      return;
    case 'or':
    case 'and':
    case 'list':
      for (const child of node.children) gatherNode(child, atRoot, into);
      return;
    case 'not':
    case 'flatten':
      gatherNode(node.child, atRoot, into);
      return;
    case 'reference':
      gatherNode(node.child, false, into);
      return;
    case 'compare':
      gatherNode(node.left, atRoot, into);
      gatherNode(node.right, atRoot, into);
      return;
    case 'hash':
      for (const { value } of node.entries) gatherNode(value, atRoot, into);
      return;
    case 'chain':
    case 'projection':
    case 'value-projection':
      gatherNode(node.left, atRoot, into);
      gatherNode(node.right, false, into);
      return;
    case 'filter':
      gatherNode(node.left, atRoot, into);
      gatherNode(node.condition, false, into);
      gatherNode(node.right, false, into);
      return;
    case 'slice':
      gatherNode(node.left, atRoot, into);
      return;
    case 'call':
      into.calls.add(node.name);
      for (const argument of node.args) gatherNode(argument, atRoot, into);
  }
}

/** The steps before the first index or computed name. */
function literalSteps(steps: Extract<Node, { type: 'path' }>['steps']): Path {
  const end = steps.findIndex((step) => typeof step !== 'string');
  return (end < 0 ? steps : steps.slice(0, end)) as readonly string[];
}
