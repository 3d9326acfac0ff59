import { spendList, spendSteps, spendText } from '../../json/budget.ts';
import type { CallNode, Node, SelectNode } from '../syntax/ast.ts';
import type { Reference } from '../types/check-context.ts';
import type { Effects } from '../types/environment.ts';
import { add, divide, modulo, multiply, negate, subtract } from '../value/arithmetic.ts';
import { compare, equals } from '../value/compare.ts';
import { CelError, noSuchOverload } from '../value/error.ts';
import { isList, isMap } from '../value/kinds.ts';
import { mapGet } from '../value/map.ts';
import { Optional, type Value } from '../value/value.ts';
import { compileList, compileMap, compileStruct, literalString } from './aggregate.ts';
import { compileOverloads, locateErrors } from './call.ts';
import { type Closure, type CompileContext, type Frame, withSlots } from './closure.ts';
import { compileComprehension, compileOptMap } from './comprehension.ts';
import { compileConditional, compileLogic } from './logic.ts';
import {
  compileOptionalSelect,
  compileSelect,
  compileTest,
  indexValue,
  optionalIndexValue,
} from './select.ts';

/** Turns a checked syntax tree into closures. */
export function compileNode(node: Node, context: CompileContext): Closure {
  const closure = compilePlain(node, context);
  return context.wrap === undefined ? closure : context.wrap(node, closure);
}

function compilePlain(node: Node, context: CompileContext): Closure {
  const compile = (child: Node): Closure => compileNode(child, context);
  const reference = context.checked.references.get(node);
  switch (node.kind) {
    case 'literal': {
      const { value } = node;
      return () => value;
    }
    case 'ident':
      return compileName(node, reference, context);
    case 'select':
      return reference === undefined ? compileField(node, context) : compileName(node, reference, context);
    case 'call':
      return compileCall(node, context);
    case 'logic':
      return compileLogic(node.operator, node.operands.map(compile));
    case 'list':
      return compileList(node, compile);
    case 'map':
      return compileMap(node, compile);
    case 'struct':
      return reference?.kind === 'struct'
        ? compileStruct(node, reference.struct, compile)
        : unresolved(node, context);
    case 'comprehension':
      return locateErrors(compileComprehension(node, context, compile), node.offset);
    case 'bind': {
      const value = compile(node.value);
      return withSlots(context, [node.variable], ([slot = 0]) => {
        const body = compile(node.body);
        return (frame) => {
          frame.locals[slot] = value(frame);
          return body(frame);
        };
      });
    }
    case 'optMap':
      return compileOptMap(node, context, compile);
  }
}

/** Names that nothing declares are an error at run time, in expressions that are not type-checked. */
function unresolved(node: Node, context: CompileContext): Closure {
  const message = context.checked.unresolved.get(node) ?? 'no such overload';
  return () => {
    throw new CelError(message, node.offset);
  };
}

function compileName(node: Node, reference: Reference | undefined, context: CompileContext): Closure {
  switch (reference?.kind) {
    case 'constant': {
      const { value } = reference;
      return () => value;
    }
    case 'local': {
      const slot = context.scopes.findLast(({ name }) => name === reference.name)?.slot ?? 0;
      return (frame) => frame.locals[slot] as Value;
    }
    case 'variable': {
      const { name } = reference;
      context.reads.add(name);
      return (frame) => {
        const value = frame.scope.lookup(name);
        if (value === undefined) throw new CelError(`no such attribute(s): ${name}`, node.offset);
        return value;
      };
    }
    default:
      return unresolved(node, context);
  }
}

function compileField(node: SelectNode, context: CompileContext): Closure {
  const operand = compileNode(node.operand, context);
  if (node.mode === 'test') return compileTest(operand, node.field);
  if (node.mode === 'optional') return compileOptionalSelect(operand, node.field);
  return compileSelect(operand, node.field, node.offset);
}

type Binary = (a: Value, b: Value) => Value;

const binaryOperators: ReadonlyMap<string, Binary> = new Map<string, Binary>([
  ['_-_', subtract],
  ['_*_', multiply],
  ['_/_', divide],
  ['_%_', modulo],
  ['_<_', (a, b) => compare(a, b) < 0],
  ['_<=_', (a, b) => compare(a, b) <= 0],
  ['_>_', (a, b) => compare(a, b) > 0],
  ['_>=_', (a, b) => compare(a, b) >= 0],
  ['_==_', equals],
  ['_!=_', (a, b) => !equals(a, b)],
  ['_[_]', indexValue],
  ['_[?_]', optionalIndexValue],
]);

/** Conversions of constants are computed at load, and so are their errors. */
const conversions: ReadonlySet<string> = new Set(
  'bool bytes double duration dyn int string timestamp type uint'.split(' '),
);

function compileCall(node: CallNode, context: CompileContext): Closure {
  const reference = context.checked.references.get(node);
  if (reference?.kind !== 'call') return unresolved(node, context);
  const compile = (child: Node): Closure => compileNode(child, context);
  const isMethod = reference.method && node.target !== undefined;
  const operands = isMethod ? [node.target as Node, ...node.args] : node.args;
  const args = operands.map(compile);
  const [first, second, third] = args as readonly Closure[] as readonly [Closure, Closure, Closure];
  const special = isMethod ? undefined : compileOperator(node, first, second, third);
  if (special !== undefined) return special;
  if (isMethod && (node.name === 'or' || node.name === 'orValue') && args.length === 2) {
    const lenient = reference.overloads.some(({ parameters }) => parameters[0]?.kind === 'dyn');
    return compileOptionalOr(node.name, first, second, lenient, node.offset);
  }
  const closure = compileOverloads(reference.overloads, args, node.offset);
  return conversions.has(node.name) && operands.length === 1 && isConstant(operands[0] as Node)
    ? foldConstant(closure, node, context)
    : closure;
}

function compileOperator(
  node: CallNode,
  first: Closure,
  second: Closure,
  third: Closure,
): Closure | undefined {
  switch (node.name) {
    case '_?_:_':
      return compileConditional(first, second, third, node.offset);
    case '_+_':
      return locateErrors(compileAddition(first, second), node.offset);
    case '@in':
      return locateErrors(compileMembership(first, second), node.offset);
    case '!_':
      return (frame) => {
        const value = first(frame);
        if (typeof value !== 'boolean') throw noSuchOverload([value], node.offset);
        return !value;
      };
    case '-_':
      return locateErrors((frame) => negate(first(frame)), node.offset);
    default:
  }
  // A string equals nothing but the same string.
  const text = node.name === '_==_' || node.name === '_!=_' ? literalString(node.args[1]) : undefined;
  if (text !== undefined) {
    return node.name === '_==_' ? (frame) => first(frame) === text : (frame) => first(frame) !== text;
  }
  const operator = binaryOperators.get(node.name);
  if (operator === undefined) return undefined;
  return locateErrors((frame) => operator(first(frame), second(frame)), node.offset);
}

/** Strings and lists that grow cost by their length. */
function compileAddition(left: Closure, right: Closure): Closure {
  return (frame) => {
    const result = add(left(frame), right(frame));
    if (typeof result === 'string') spendText(result.length);
    else if (isList(result)) spendList(result.length);
    return result;
  };
}

function compileMembership(item: Closure, container: Closure): Closure {
  return (frame) => {
    const value = item(frame);
    const range = container(frame);
    if (isMap(range)) return mapGet(range, value) !== undefined;
    if (!isList(range)) throw noSuchOverload([value, range]);
    spendSteps(range.length);
    return typeof value === 'string'
      ? range.includes(value)
      : range.some((element) => equals(element, value));
  };
}

/** `or` and `orValue` evaluate their argument only when it is needed. Kyverno's `orValue` also takes plain values. */
function compileOptionalOr(
  name: string,
  target: Closure,
  fallback: Closure,
  lenient: boolean,
  offset: number,
): Closure {
  return (frame) => {
    const optional = target(frame);
    if (optional instanceof Optional) {
      if (optional.value === undefined) return fallback(frame);
      return name === 'or' ? optional : optional.value;
    }
    if (lenient) return optional;
    throw noSuchOverload([optional], offset);
  };
}

function isConstant(node: Node): boolean {
  if (node.kind === 'literal') return true;
  if (node.kind !== 'call' || node.target !== undefined || !conversions.has(node.name)) return false;
  return node.args.every(isConstant);
}

const noEffects: Effects = { now: () => new Date(0), random: () => 0 };
const noFrame: Frame = {
  scope: { lookup: () => undefined, effects: noEffects },
  locals: [],
  effects: noEffects,
};

function foldConstant(closure: Closure, node: CallNode, context: CompileContext): Closure {
  try {
    const value = closure(noFrame);
    return () => value;
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    context.report(node.offset, error.message);
    return closure;
  }
}
