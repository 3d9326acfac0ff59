import type { ListNode, MapNode, StructNode } from '../syntax/ast.ts';
import type { CheckContext } from './check-context.ts';
import { candidateNames, type StructDeclaration } from './environment.ts';
import { similarName } from './hints.ts';
import { dynType, listType, mapType, structType, type Type } from './type.ts';
import { mostGeneral } from './unify.ts';

export function checkList(context: CheckContext, node: ListNode): Type {
  let element: Type | undefined;
  for (const { value, optional } of node.elements) {
    element = join(context, element, context.optionalElement(value, optional));
  }
  return listType(element ?? context.bindings.fresh());
}

export function checkMap(context: CheckContext, node: MapNode): Type {
  let keyType: Type | undefined;
  let valueType: Type | undefined;
  for (const { key, value, optional } of node.entries) {
    keyType = join(context, keyType, context.check(key));
    valueType = join(context, valueType, context.optionalElement(value, optional));
  }
  return mapType(keyType ?? context.bindings.fresh(), valueType ?? context.bindings.fresh());
}

/** Mixed types make `dyn`; Kubernetes refuses them afterwards, see validateExpression. */
function join(context: CheckContext, previous: Type | undefined, current: Type): Type {
  if (previous === undefined) return current;
  if (!context.bindings.isAssignable(previous, current)) return dynType;
  return current.kind === 'null' ? previous : mostGeneral(previous, current);
}

export function checkStruct(context: CheckContext, node: StructNode): Type {
  const names = candidateNames(context.environment.container, node.typeName);
  const struct = names
    .map((name) => context.environment.findStruct(name))
    .find((found) => found !== undefined);
  for (const field of node.fields) checkField(context, node, field, struct);
  const isType = names.some((name) => context.environment.types.has(name));
  if (struct === undefined && !isType) return context.undeclared(node, node.typeName);
  if (struct?.build === undefined) return context.error(node, `'${node.typeName}' is not a message type`);
  context.references.set(node, { kind: 'struct', struct });
  return structType(struct.name);
}

function checkField(
  context: CheckContext,
  node: StructNode,
  field: StructNode['fields'][number],
  struct: StructDeclaration | undefined,
): void {
  const type = context.optionalElement(field.value, field.optional);
  if (struct === undefined) return;
  const expected = struct.fieldType(field.name);
  if (expected === undefined) {
    const hint = similarName(field.name, struct.fieldNames ?? []);
    context.error(node, `undefined field '${field.name}'`, hint, field.offset);
  } else if (!context.bindings.isAssignable(expected, type)) {
    const [to, from] = [context.describe(expected), context.describe(type)];
    const message = `expected type of field '${field.name}' is '${to}' but provided type is '${from}'`;
    context.error(node, message, undefined, field.offset);
  }
}
