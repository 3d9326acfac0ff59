import { type IdentNode, type Node, qualifiedName, type SelectNode } from '../syntax/ast.ts';
import { TypeValue } from '../value/value.ts';
import type { CheckContext } from './check-context.ts';
import { candidateNames, type VariableDeclaration } from './environment.ts';
import { similarName } from './hints.ts';
import {
  boolType,
  dynType,
  formatType,
  isDynOrError,
  optionalType,
  optionalValue,
  type Type,
  typeType,
} from './type.ts';

export function checkIdent(context: CheckContext, node: IdentNode): Type {
  const local = context.findLocal(node.name);
  if (local !== undefined) {
    context.references.set(node, { kind: 'local', name: local.name });
    return local.type;
  }
  return resolveGlobal(context, node, node.name) ?? context.undeclared(node, node.name);
}

/** Resolves a variable, a constant or the name of a type. */
function resolveGlobal(context: CheckContext, node: Node, name: string): Type | undefined {
  for (const candidate of candidateNames(context.environment.container, name)) {
    const variable = context.environment.variables.get(candidate);
    if (variable !== undefined) return useVariable(context, node, variable);
    if (context.environment.findStruct(candidate) !== undefined) {
      return context.error(node, `reference to undefined type: ${candidate}`, 'Build a value with Type{…}.');
    }
    const type = context.environment.types.get(candidate);
    if (type !== undefined) {
      context.references.set(node, { kind: 'constant', value: new TypeValue(type.name) });
      return typeType(type);
    }
  }
  return undefined;
}

function useVariable(context: CheckContext, node: Node, variable: VariableDeclaration): Type {
  const { name, type, value } = variable;
  context.references.set(
    node,
    value === undefined ? { kind: 'variable', name } : { kind: 'constant', value },
  );
  return type;
}

export function checkSelect(context: CheckContext, node: SelectNode): Type {
  const name = qualifiedName(node);
  if (name !== undefined) {
    const root = name.startsWith('.') ? undefined : name.slice(0, name.indexOf('.'));
    if (root === undefined || context.findLocal(root) === undefined) {
      const type = resolveGlobal(context, node, name);
      if (type !== undefined) return type;
    }
  }
  const type = selectField(context, node);
  return node.mode === 'test' ? boolType : context.bindings.resolve(type);
}

function selectField(context: CheckContext, node: SelectNode): Type {
  const operand = context.bindings.resolve(context.check(node.operand));
  const inner = optionalValue(operand);
  const target = inner === undefined ? operand : context.bindings.resolve(inner);
  const type = fieldOf(context, node, target);
  return inner !== undefined || node.mode === 'optional' ? optionalType(type) : type;
}

function fieldOf(context: CheckContext, node: SelectNode, target: Type): Type {
  switch (target.kind) {
    case 'map':
      return target.parameters[1] ?? dynType;
    case 'struct': {
      const struct = context.environment.findStruct(target.name);
      const type = struct?.fieldType(node.field);
      if (type !== undefined) return type;
      return context.error(
        node,
        `undefined field '${node.field}'`,
        similarName(node.field, struct?.fieldNames ?? []),
      );
    }
    case 'parameter':
      context.bindings.isAssignable(dynType, target);
      return dynType;
    default:
      if (!isDynOrError(target)) {
        context.error(node, `type '${formatType(target)}' does not support field selection`);
      }
      return dynType;
  }
}
