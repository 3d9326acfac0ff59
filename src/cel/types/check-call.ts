import { type CallNode, qualifiedName } from '../syntax/ast.ts';
import type { CheckContext } from './check-context.ts';
import { candidateNames, type FunctionDeclaration, type Overload } from './environment.ts';
import { callStyleHint, overloadHint } from './hints.ts';
import { dynType, isDyn, sameType, type Type } from './type.ts';

export function checkCall(context: CheckContext, node: CallNode): Type {
  const args = node.args.map((arg) => context.check(arg));
  if (node.target === undefined) {
    const declaration = findFunction(context, node.name);
    if (declaration === undefined) return context.undeclared(node, node.name);
    return resolveOverload(context, node, declaration, args, false);
  }
  // `a.b.f()` is the function `a.b.f` if there is one, else the method `f` of `a.b`.
  const prefix = qualifiedName(node.target);
  const namespaced = prefix === undefined ? undefined : findFunction(context, `${prefix}.${node.name}`);
  if (namespaced !== undefined) return resolveOverload(context, node, namespaced, args, false);
  const target = context.check(node.target);
  const declaration = findFunction(context, node.name);
  if (declaration === undefined) return context.undeclared(node, node.name);
  return resolveOverload(context, node, declaration, [target, ...args], true);
}

function findFunction(context: CheckContext, name: string): FunctionDeclaration | undefined {
  for (const candidate of candidateNames(context.environment.container, name)) {
    const found = context.environment.functions.get(candidate);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Functions whose overloads cel-go tells apart by the values only. It matters for arguments whose type is not known yet, such
 * as items of `object.list.reverse()`: they take the type of the first overload.
 */
const chosenByValue: ReadonlySet<string> = new Set(['size', 'sort']);

function resolveOverload(
  context: CheckContext,
  node: CallNode,
  declaration: FunctionDeclaration,
  args: readonly Type[],
  method: boolean,
): Type {
  let result: Type | undefined;
  const matching: Overload[] = [];
  const candidates = declaration.overloads.filter(
    ({ member, parameters }) => member === method && parameters.length === args.length,
  );
  const isOpen = chosenByValue.has(declaration.name) && args.some((type) => context.bindings.isOpen(type));
  for (const overload of candidates) {
    const variables = new Map(
      overload.typeParameters.map((name) => [name, context.bindings.fresh()] as const),
    );
    const parameters = overload.parameters.map((type) => context.bindings.instantiate(type, variables));
    if (!context.bindings.areAssignable(args, parameters)) continue;
    matching.push(overload);
    const type = context.bindings.resolve(context.bindings.instantiate(overload.result, variables));
    if (result === undefined) result = type;
    else if (!isDyn(result) && !sameType(result, type)) result = dynType;
  }
  if (result === undefined) return noMatchingOverload(context, node, declaration, args, method);
  context.references.set(node, { kind: 'call', overloads: isOpen ? candidates : matching, method });
  return result;
}

function noMatchingOverload(
  context: CheckContext,
  node: CallNode,
  declaration: FunctionDeclaration,
  args: readonly Type[],
  method: boolean,
): Type {
  const names = args.map((type) => context.describe(type));
  const signature = method ? `${names[0]}.(${names.slice(1).join(', ')})` : `(${names.join(', ')})`;
  const hint = callStyleHint(declaration, args.length, method) ?? overloadHint(declaration.name, names);
  return context.error(
    node,
    `found no matching overload for '${declaration.name}' applied to '${signature}'`,
    hint,
  );
}
