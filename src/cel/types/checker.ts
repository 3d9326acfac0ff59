import type { Node } from '../syntax/ast.ts';
import { checkList, checkMap, checkStruct } from './check-aggregate.ts';
import { checkCall } from './check-call.ts';
import { checkComprehension, checkOptMap } from './check-comprehension.ts';
import { CheckContext, type CheckOptions, type Reference } from './check-context.ts';
import { checkIdent, checkSelect } from './check-names.ts';
import type { Environment } from './environment.ts';
import {
  boolType,
  bytesType,
  doubleType,
  dynType,
  errorType,
  intType,
  nullType,
  stringType,
  type Type,
  uintType,
} from './type.ts';

export interface Checked {
  readonly type: Type;
  readonly references: ReadonlyMap<Node, Reference>;
  /** The static type of a node; type variables that are still free are `dyn`. */
  typeOf(node: Node): Type;
  /** Undeclared names and the like, for evaluation without a type check. */
  readonly unresolved: ReadonlyMap<Node, string>;
}

/** Resolves names and overloads and infers the type of each node. */
export function check(root: Node, environment: Environment, options: CheckOptions): Checked {
  const context = new CheckContext(environment, options, infer);
  const type = context.check(root);
  return {
    type: context.bindings.resolve(type, true),
    references: context.references,
    typeOf: (node) => context.bindings.resolve(context.types.get(node) ?? dynType, true),
    unresolved: context.unresolved,
  };
}

const literalTypes: Readonly<Record<string, Type>> = {
  null_type: nullType,
  bool: boolType,
  int: intType,
  uint: uintType,
  double: doubleType,
  string: stringType,
  bytes: bytesType,
};

function infer(node: Node, context: CheckContext): Type {
  switch (node.kind) {
    case 'literal':
      return literalTypes[node.type] ?? errorType;
    case 'ident':
      return checkIdent(context, node);
    case 'select':
      return checkSelect(context, node);
    case 'call':
      return checkCall(context, node);
    case 'logic':
      return checkLogic(context, node);
    case 'list':
      return checkList(context, node);
    case 'map':
      return checkMap(context, node);
    case 'struct':
      return checkStruct(context, node);
    case 'comprehension':
      return checkComprehension(context, node);
    case 'bind':
      return context.withLocals([{ name: node.variable, type: context.check(node.value) }], () =>
        context.check(node.body),
      );
    case 'optMap':
      return checkOptMap(context, node);
  }
}

function checkLogic(context: CheckContext, node: Extract<Node, { kind: 'logic' }>): Type {
  for (const operand of node.operands) context.expectBool(operand, context.check(operand));
  return boolType;
}
