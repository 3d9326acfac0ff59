import { spendList, spendSteps, spendText } from '../../json/budget.ts';
import type { CallNode, Node, SelectNode } from '../syntax/ast.ts';
import type { Reference } from '../types/check-context.ts';
import type { Overload } from '../types/environment.ts';
import { add, divide, modulo, multiply, negate, subtract } from '../value/arithmetic.ts';
import { compare, equals } from '../value/compare.ts';
import { CelError, noSuchOverload } from '../value/error.ts';
import { isList, isMap } from '../value/kinds.ts';
import { mapGet } from '../value/map.ts';
import { Optional, SpecialValue, type Value } from '../value/value.ts';
import { compileList, compileMap, compileStruct, literalString } from './aggregate.ts';
import { compileOverloads, located, locateErrors } from './call.ts';
import {
  type Closure,
  type CompileContext,
  constantClosure,
  type Frame,
  foldParts,
  noFrame,
  withSlots,
} from './closure.ts';
import { compileComprehension, compileOptMap } from './comprehension.ts';
import { compileConditional, compileLogic } from './logic.ts';
import {
  compileOptionalSelect,
  compileSelect,
  compileTest,
  indexValue,
  type OptionalClosure,
  optionalIndexValue,
  optionalOf,
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
    case 'literal':
      return constantClosure(node.value, context);
    case 'ident':
      return compileName(node, reference, context);
    case 'select':
      return reference === undefined ? compileField(node, context) : compileName(node, reference, context);
    case 'call':
      return compileCall(node, context);
    case 'logic':
      return compileLogic(node.operator, node.operands.map(compile), node.offset);
    case 'list':
      return compileList(node, context, compile);
    case 'map':
      return compileMap(node, context, compile);
    case 'struct':
      return reference?.kind === 'struct'
        ? compileStruct(node, reference.struct, context, compile)
        : unresolved(node, context);
    case 'comprehension':
      return locateErrors(compileComprehension(node, context, compile), node.offset);
    case 'bind': {
      const value = compile(node.value);
      const bind = ([slot = 0]: readonly number[]): Closure => {
        const body = compile(node.body);
        return (frame) => {
          frame.locals[slot] = valueOrFailure(value, frame);
          return body(frame);
        };
      };
      return withSlots(context, [node.variable], bind, true);
    }
    case 'optMap':
      return compileOptMap(node, context, compile);
  }
}

/** Stands for the value of a `cel.bind` that failed: only an expression that reads it fails. */
class FailedValue extends SpecialValue {
  readonly typeName = 'error';
  readonly error: CelError;
  constructor(error: CelError) {
    super();
    this.error = error;
  }
}

function valueOrFailure(value: Closure, frame: Frame): Value {
  try {
    return value(frame);
  } catch (error) {
    if (error instanceof CelError) return new FailedValue(error);
    throw error;
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
    case 'constant':
      return constantClosure(reference.value, context);
    case 'local': {
      const local = context.scopes.findLast(({ name }) => name === reference.name);
      const { slot, mayFail } = local ?? { slot: 0, mayFail: false };
      if (!mayFail) return (frame) => frame.locals[slot] as Value;
      return (frame) => {
        const value = frame.locals[slot] as Value;
        if (value instanceof FailedValue) throw value.error;
        return value;
      };
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
  if (node.mode === 'test') return compileTest(compileNode(node.operand, context), node);
  const optional = compileOptionalChain(node, context);
  if (optional !== undefined) return (frame) => optionalOf(optional(frame));
  const { operand, selections } = chainOf(node, context, 'value');
  return compileSelect(compileNode(operand, context), selections);
}

/** `x.?a.b`: what is in the optional that the node gives, without building one; undefined for another node. */
function compileOptionalChain(node: Node, context: CompileContext): OptionalClosure | undefined {
  const isWrapped = context.wrap !== undefined;
  if (node.kind !== 'select' || (isWrapped && node.mode !== 'optional')) return undefined;
  const { operand, selections } = chainOf(node, context, 'optional');
  return selections.length === 0
    ? undefined
    : compileOptionalSelect(compileNode(operand, context), selections);
}

/**
 * The fields of `operand.a.b.c`, which one closure reads. For optionals, they begin with the first `.?`, because a field of an
 * optional is optional too. Each step is recorded when it is evaluated, so that it is a closure of its own then.
 */
function chainOf(
  last: SelectNode,
  { checked, wrap }: CompileContext,
  mode: 'value' | 'optional',
): { readonly operand: Node; readonly selections: readonly SelectNode[] } {
  const chain: SelectNode[] = [];
  let node: Node = last;
  while (node.kind === 'select' && node.mode !== 'test' && !checked.references.has(node)) {
    if (mode === 'value' && node.mode === 'optional') break;
    chain.push(node);
    node = node.operand;
    if (wrap !== undefined) break;
  }
  chain.reverse();
  const start = mode === 'value' ? 0 : chain.findIndex((selection) => selection.mode === 'optional');
  if (start < 0) return { operand: last, selections: [] };
  const selections = chain.slice(start);
  return { operand: (selections[0] as SelectNode).operand, selections };
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
  const isStrict = node.name === 'orValue' && takesAnyTarget(reference.overloads);
  const optional = isMethod ? compileOnChain(node, operands, isStrict, context) : undefined;
  if (optional !== undefined) return optional;
  const args = operands.map(compile);
  const [first, second, third] = args as readonly Closure[] as readonly [Closure, Closure, Closure];
  const special = isMethod ? undefined : compileOperator(node, first, second, third);
  if (special !== undefined) return special;
  if (isMethod && (node.name === 'or' || node.name === 'orValue') && args.length === 2) {
    const or = compileOptionalOr(node.name, first, second);
    return isStrict ? evaluateBoth(or, second, context) : or;
  }
  const closure = compileOverloads(reference.overloads, args, node.offset);
  if (node.name === 'optional.of' || node.name === 'optional.none') return foldParts(closure, args, context);
  return conversions.has(node.name) && operands.length === 1 && isConstant(operands[0] as Node)
    ? foldConstant(closure, node, context)
    : closure;
}

/** `x.?a.hasValue()` and `x.?a.orValue(other)` need no optional. */
function compileOnChain(
  { name }: CallNode,
  [target, other]: readonly Node[],
  isStrict: boolean,
  context: CompileContext,
): Closure | undefined {
  const isTest = name === 'hasValue' && other === undefined;
  if (context.wrap !== undefined || target === undefined || !(isTest || (name === 'orValue' && other)))
    return undefined;
  const chain = compileOptionalChain(target, context);
  if (chain === undefined) return undefined;
  if (other === undefined) {
    return (frame) => {
      spendSteps(1);
      return chain(frame) !== undefined;
    };
  }
  const fallback = compileNode(other, context);
  const closure = (frame: Frame): Value => {
    const value = chain(frame);
    return value === undefined ? fallback(frame) : value;
  };
  return isStrict ? evaluateBoth(closure, fallback, context) : closure;
}

/** Kyverno's `orValue` is a function of two values, so that an error in its argument is always an error. */
function takesAnyTarget(overloads: readonly Overload[]): boolean {
  return overloads.some(({ parameters }) => parameters[0]?.kind === 'dyn');
}

/** The closure, after an argument that it may not evaluate has been evaluated. */
function evaluateBoth(closure: Closure, argument: Closure, { constants }: CompileContext): Closure {
  if (constants.has(argument)) return closure;
  return (frame) => {
    argument(frame);
    return closure(frame);
  };
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
      return compileAddition(first, second, node.offset);
    case '@in':
      return compileMembership(first, second, node.offset);
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
  return (frame) => {
    const a = first(frame);
    const b = second(frame);
    try {
      return operator(a, b);
    } catch (error) {
      throw located(error, node.offset);
    }
  };
}

/** Strings and lists that grow cost by their length. */
function compileAddition(left: Closure, right: Closure, offset: number): Closure {
  return (frame) => {
    const a = left(frame);
    const b = right(frame);
    let result: Value;
    try {
      result = add(a, b);
    } catch (error) {
      throw located(error, offset);
    }
    if (typeof result === 'string') spendText(result.length);
    else if (isList(result)) spendList(result.length);
    return result;
  };
}

function compileMembership(item: Closure, container: Closure, offset: number): Closure {
  return (frame) => {
    const value = item(frame);
    const range = container(frame);
    if (isMap(range)) return mapGet(range, value) !== undefined;
    if (!isList(range)) throw noSuchOverload([value, range], offset);
    spendSteps(range.length);
    return typeof value === 'string'
      ? range.includes(value)
      : range.some((element) => equals(element, value));
  };
}

/** `or` and `orValue` evaluate their argument only when it is needed. They give a value of type dyn that is no optional as it is. */
function compileOptionalOr(name: string, target: Closure, fallback: Closure): Closure {
  return (frame) => {
    const optional = target(frame);
    if (!(optional instanceof Optional)) return optional;
    if (optional.value === undefined) return fallback(frame);
    return name === 'or' ? optional : optional.value;
  };
}

function isConstant(node: Node): boolean {
  if (node.kind === 'literal') return true;
  if (node.kind === 'list')
    return node.elements.every(({ value, optional }) => !optional && isConstant(value));
  if (node.kind === 'map') {
    return node.entries.every(
      ({ key, value, optional }) => !optional && isConstant(key) && isConstant(value),
    );
  }
  if (node.kind !== 'call' || node.target !== undefined || !conversions.has(node.name)) return false;
  return node.args.every(isConstant);
}

function foldConstant(closure: Closure, node: CallNode, context: CompileContext): Closure {
  try {
    return constantClosure(closure(noFrame), context);
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    context.report(node.offset, error.message);
    return closure;
  }
}
