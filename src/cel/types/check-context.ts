import type { Node } from '../syntax/ast.ts';
import type { Value } from '../value/value.ts';
import type { Environment, Overload, StructDeclaration } from './environment.ts';
import { similarName } from './hints.ts';
import {
  boolType,
  dynType,
  errorType,
  formatType,
  isDynOrError,
  optionalType,
  optionalValue,
  type Type,
} from './type.ts';
import { TypeBindings } from './unify.ts';

/** What a name or a call stands for. */
export type Reference =
  | { readonly kind: 'variable'; readonly name: string }
  | { readonly kind: 'local'; readonly name: string }
  | { readonly kind: 'constant'; readonly value: Value }
  | { readonly kind: 'call'; readonly overloads: readonly Overload[]; readonly method: boolean }
  | { readonly kind: 'struct'; readonly struct: StructDeclaration };

export interface CheckOptions {
  /** Called for each type error; checking goes on. */
  report(offset: number, message: string, hint?: string): void;
  /** Treats every value as `dyn`, so that only run-time types count. Unresolved names are errors at run time. */
  readonly dynamic?: boolean | undefined;
}

/** What the nodes of one expression share while they are checked. */
export class CheckContext {
  readonly bindings = new TypeBindings();
  readonly types = new Map<Node, Type>();
  readonly references = new Map<Node, Reference>();
  readonly unresolved = new Map<Node, string>();
  readonly environment: Environment;
  private readonly options: CheckOptions;
  private readonly infer: (node: Node, context: CheckContext) => Type;
  /** Variables of the macros around the node, innermost last. */
  private readonly locals: { readonly name: string; readonly type: Type }[] = [];

  constructor(
    environment: Environment,
    options: CheckOptions,
    infer: (node: Node, context: CheckContext) => Type,
  ) {
    this.environment = environment;
    this.options = options;
    this.infer = infer;
  }

  check(node: Node): Type {
    const inferred = this.infer(node, this);
    const type = this.options.dynamic === true ? dynType : inferred;
    this.types.set(node, type);
    return type;
  }

  error(node: Node, message: string, hint?: string, offset: number = node.offset): Type {
    if (this.options.dynamic === true) this.unresolved.set(node, message);
    else this.options.report(offset, message, hint);
    return errorType;
  }

  mismatch(node: Node, expected: Type, found: Type, hint?: string): Type {
    const [to, from] = [this.describe(expected), this.describe(found)];
    return this.error(node, `expected type '${to}' but found '${from}'`, hint);
  }

  describe(type: Type): string {
    return formatType(this.bindings.resolve(type, true));
  }

  withLocals(locals: readonly { name: string; type: Type }[], action: () => Type): Type {
    this.locals.push(...locals);
    const type = action();
    this.locals.length -= locals.length;
    return type;
  }

  findLocal(name: string): { readonly name: string; readonly type: Type } | undefined {
    return this.locals.findLast((local) => local.name === name);
  }

  undeclared(node: Node, name: string): Type {
    const { container, variables, functions, elsewhere } = this.environment;
    const message = `undeclared reference to '${name}' (in container '${container}')`;
    const known =
      node.kind === 'call'
        ? functions.keys()
        : [...variables.keys(), ...this.locals.map((local) => local.name)];
    const hint = elsewhere.get(name) ?? elsewhere.get(name.replace(/\..*$/s, ''));
    return this.error(node, message, hint ?? similarName(name, known));
  }

  expectBool(node: Node, type: Type): void {
    if (!this.bindings.isAssignable(boolType, type)) this.mismatch(node, boolType, type);
  }

  /** The type of an element or entry that may be written as `?value`. */
  optionalElement(node: Node, optional: boolean): Type {
    const type = this.check(node);
    if (!optional) return type;
    const inner = optionalValue(this.bindings.resolve(type));
    if (inner !== undefined) return inner;
    if (!isDynOrError(type))
      this.mismatch(node, optionalType(type), type, 'A `?` entry takes an optional value.');
    return type;
  }
}
