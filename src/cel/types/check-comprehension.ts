import type { ComprehensionNode, OptMapNode } from '../syntax/ast.ts';
import type { CheckContext } from './check-context.ts';
import {
  boolType,
  dynType,
  errorType,
  formatType,
  intType,
  isDynOrError,
  listType,
  mapType,
  optionalType,
  type Type,
} from './type.ts';

export function checkComprehension(context: CheckContext, node: ComprehensionNode): Type {
  const range = context.bindings.resolve(context.check(node.range));
  const types = rangeTypes(context, node, range);
  const locals = node.variables.map((name, index) => ({ name, type: types[index] ?? dynType }));
  return context.withLocals(locals, () => {
    if (node.condition !== undefined) context.expectBool(node.condition, context.check(node.condition));
    const body = context.check(node.body);
    return comprehensionType(context, node, range, types[0] ?? dynType, body);
  });
}

/** The types of the variables: with one variable the item or key, with two index and item or key and value. */
function rangeTypes(context: CheckContext, node: ComprehensionNode, range: Type): readonly Type[] {
  const two = node.variables.length === 2;
  const [first = dynType, second = dynType] = range.parameters;
  switch (range.kind) {
    case 'list':
      return two ? [intType, first] : [first];
    case 'map':
      return two ? [first, second] : [first];
    case 'dyn':
    case 'any':
    case 'error':
    case 'parameter':
      context.bindings.isAssignable(dynType, range);
      return [dynType, dynType];
    default: {
      const name = formatType(range);
      const message = `expression of type '${name}' cannot be range of a comprehension (must be list, map, or dynamic)`;
      context.error(node.range, message);
      return [errorType, errorType];
    }
  }
}

function comprehensionType(
  context: CheckContext,
  node: ComprehensionNode,
  range: Type,
  variable: Type,
  body: Type,
): Type {
  switch (node.macro) {
    case 'all':
    case 'exists':
    case 'existsOne':
      context.expectBool(node.body, body);
      return boolType;
    case 'filter':
      context.expectBool(node.body, body);
      return listType(context.bindings.resolve(variable));
    case 'map':
    case 'transformList':
      return listType(context.bindings.resolve(body));
    case 'transformMap':
      return mapType(context.bindings.resolve(variable), context.bindings.resolve(body));
    case 'transformMapEntry': {
      const entry = mapType(context.bindings.fresh(), context.bindings.fresh());
      if (!context.bindings.isAssignable(entry, body)) context.mismatch(node.body, entry, body);
      return context.bindings.resolve(entry);
    }
    case 'sortBy':
      return sortByType(context, node, range, body);
  }
}

function sortByType(context: CheckContext, node: ComprehensionNode, range: Type, body: Type): Type {
  if (range.kind === 'map') context.mismatch(node.range, listType(dynType), range);
  const key = context.bindings.resolve(body);
  if (!comparableKinds.has(key.kind))
    context.mismatch(node.body, intType, key, 'Sort by a value that has an order.');
  if (range.kind === 'list') return range;
  return isDynOrError(key) ? dynType : listType(context.bindings.fresh());
}

export function checkOptMap(context: CheckContext, node: OptMapNode): Type {
  const target = context.check(node.target);
  const value = context.bindings.fresh();
  if (!context.bindings.isAssignable(target, optionalType(value))) {
    context.error(
      node,
      `found no matching overload for 'hasValue' applied to '${context.describe(target)}.()'`,
    );
  }
  const local = { name: node.variable, type: context.bindings.resolve(value) };
  return context.withLocals([local], () => {
    const body = context.check(node.body);
    if (!node.flat) return optionalType(context.bindings.resolve(body));
    const result = optionalType(context.bindings.fresh());
    if (!context.bindings.isAssignable(result, body)) context.mismatch(node.body, result, body);
    return context.bindings.resolve(result);
  });
}

const comparableKinds: ReadonlySet<string> = new Set([
  'int',
  'uint',
  'double',
  'bool',
  'duration',
  'timestamp',
  'string',
  'bytes',
  'dyn',
  'any',
  'parameter',
  'error',
]);
