import { spendList } from '../../json/budget.ts';
import { assignMember } from '../../json/edit.ts';
import { equal } from '../../json/equal.ts';
import { isNumber, type Json } from '../../json/value.ts';
import type { ComparisonOperator, Node } from '../jmespath/ast.ts';
import { ExpressionSyntaxError } from '../jmespath/syntax-error.ts';
import { bindJson, bindText } from './binding.ts';
import { compileCall } from './call.ts';
import { type Closure, type ClosureContext, isFalse } from './closure.ts';
import { compilePath } from './path.ts';
import {
  compileFilter,
  compileFlatten,
  compileProjection,
  compileSlice,
  compileValueProjection,
} from './projection.ts';
import { weightOf } from './weight.ts';

/**
 * Compiles a syntax tree into closures. `at` is the source of the current value of the outermost expression: at the
 * root, names are looked up in the scope, so only values that are read are computed.
 */
export function compileNode(node: Node, at: 'root' | 'current', context: ClosureContext): Closure {
  const compile = (child: Node, from: 'root' | 'current' = at) => compileNode(child, from, context);
  switch (node.type) {
    case 'path':
      return compilePath(node.head === undefined ? at : compile(node.head), node.steps, context);
    case 'literal': {
      const { value } = node;
      return () => value;
    }
    case 'bound-text': {
      const text = bindText(node.text, context);
      return (_current, scope) => text(scope);
    }
    case 'bound-json': {
      const json = bindJson(node.json, context);
      return (_current, scope) => json(scope);
    }
    case 'chain':
      return compileChain(compile(node.left), compile(node.right, 'current'));
    case 'pipe':
      return compilePipe(node.children.map((child, index) => compile(child, index === 0 ? at : 'current')));
    case 'or':
      return compileOr(node.children.map((child) => compile(child)));
    case 'and':
      return compileAnd(node.children.map((child) => compile(child)));
    case 'not': {
      const operand = compile(node.child);
      return (current, scope) => isFalse(operand(current, scope));
    }
    case 'compare':
      return compileComparison(node.operator, compile(node.left), compile(node.right));
    case 'list':
      return compileList(
        node.children.map((child) => compile(child)),
        at,
      );
    case 'hash':
      return compileHash(node, at, compile, context);
    case 'projection':
      return compileProjection(compile(node.left), compile(node.right, 'current'), weightOf(node.right));
    case 'value-projection':
      return compileValueProjection(compile(node.left), compile(node.right, 'current'), weightOf(node.right));
    case 'filter':
      return compileFilter(
        compile(node.left),
        compile(node.condition, 'current'),
        compile(node.right, 'current'),
        weightOf(node.condition) + weightOf(node.right),
      );
    case 'flatten':
      return compileFlatten(compile(node.child));
    case 'slice':
      return compileSlice(compile(node.left), node.parts);
    case 'call':
      return compileCall(node, at, compile, context);
    case 'reference':
      throw new ExpressionSyntaxError(
        'an expression reference (&) can only be the argument of a function',
        0,
      );
  }
}

function compileChain(left: Closure, right: Closure): Closure {
  return (current, scope) => {
    const value = left(current, scope);
    return value === undefined ? undefined : right(value, scope);
  };
}

/** A missing key is null on either side of a pipe. */
function compilePipe(stages: readonly Closure[]): Closure {
  return (current, scope) => {
    let value = current;
    for (const stage of stages) value = stage(value, scope) ?? null;
    return value;
  };
}

function compileOr(operands: readonly Closure[]): Closure {
  return (current, scope) => {
    let value: Json | undefined;
    for (const operand of operands) {
      value = operand(current, scope);
      if (!isFalse(value)) break;
    }
    return value ?? null;
  };
}

/** Unlike elsewhere, a missing key in the last operand remains an error, as in Kyverno. */
function compileAnd(operands: readonly Closure[]): Closure {
  const last = operands[operands.length - 1] as Closure;
  const others = operands.slice(0, -1);
  return (current, scope) => {
    for (const operand of others) {
      const value = operand(current, scope) ?? null;
      if (isFalse(value)) return value;
    }
    return last(current, scope);
  };
}

function compileComparison(operator: ComparisonOperator, left: Closure, right: Closure): Closure {
  if (operator === '==')
    return (current, scope) => equal(left(current, scope) ?? null, right(current, scope) ?? null);
  if (operator === '!=')
    return (current, scope) => !equal(left(current, scope) ?? null, right(current, scope) ?? null);
  const compare = order[operator];
  return (current, scope) => {
    const a = left(current, scope);
    const b = right(current, scope);
    return isNumber(a) && isNumber(b) ? compare(a, b) : null;
  };
}

const order: Readonly<Record<'<' | '<=' | '>' | '>=', (a: number | bigint, b: number | bigint) => boolean>> =
  {
    '<': (a, b) => a < b,
    '<=': (a, b) => a <= b,
    '>': (a, b) => a > b,
    '>=': (a, b) => a >= b,
  };

function compileList(items: readonly Closure[], at: 'root' | 'current'): Closure {
  return (current, scope) => {
    if (current === null && at === 'current') return null;
    spendList(items.length);
    const list: Json[] = [];
    for (const item of items) list.push(item(current, scope) ?? null);
    return list;
  };
}

function compileHash(
  node: Extract<Node, { type: 'hash' }>,
  at: 'root' | 'current',
  compile: (child: Node) => Closure,
  context: ClosureContext,
): Closure {
  const entries = node.entries.map(({ key, value }) => ({
    key: typeof key === 'string' ? key : bindText(key, context),
    value: compile(value),
  }));
  return (current, scope) => {
    if (current === null && at === 'current') return null;
    spendList(entries.length);
    const object: Record<string, Json> = {};
    for (const { key, value } of entries) {
      const name = typeof key === 'string' ? key : key(scope);
      assignMember(object, name, value(current, scope) ?? null);
    }
    return object;
  };
}
