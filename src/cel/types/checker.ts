import {
  type CallNode,
  type ComprehensionNode,
  type IdentNode,
  type ListNode,
  type LogicNode,
  type MapNode,
  type Node,
  type OptMapNode,
  qualifiedName,
  type SelectNode,
  type StructNode,
} from '../syntax/ast.ts';
import { TypeValue, type Value } from '../value/value.ts';
import {
  candidateNames,
  type Environment,
  type FunctionDeclaration,
  type Overload,
  type StructDeclaration,
  type VariableDeclaration,
} from './environment.ts';
import { callStyleHint, overloadHint, similarName } from './hints.ts';
import {
  boolType,
  bytesType,
  doubleType,
  dynType,
  errorType,
  formatType,
  intType,
  isDyn,
  isDynOrError,
  listType,
  mapType,
  nullType,
  optionalType,
  optionalValue,
  sameType,
  stringType,
  structType,
  type Type,
  typeType,
  uintType,
} from './type.ts';
import { mostGeneral, TypeBindings } from './unify.ts';

/** What a name or a call stands for. */
export type Reference =
  | { readonly kind: 'variable'; readonly name: string }
  | { readonly kind: 'local'; readonly name: string }
  | { readonly kind: 'constant'; readonly value: Value }
  | { readonly kind: 'call'; readonly overloads: readonly Overload[]; readonly method: boolean }
  | { readonly kind: 'struct'; readonly struct: StructDeclaration };

export interface Checked {
  readonly type: Type;
  readonly references: ReadonlyMap<Node, Reference>;
  /** The static type of a node; type variables that are still free are `dyn`. */
  typeOf(node: Node): Type;
  /** Undeclared names and the like, for evaluation without a type check. */
  readonly unresolved: ReadonlyMap<Node, string>;
}

export interface CheckOptions {
  /** Called for each type error; checking goes on. */
  report(offset: number, message: string, hint?: string): void;
  /** Treats every value as `dyn`, so that only run-time types count. Unresolved names are errors at run time. */
  readonly dynamic?: boolean | undefined;
}

/** Resolves names and overloads and infers the type of each node. */
export function check(root: Node, environment: Environment, options: CheckOptions): Checked {
  const checker = new Checker(environment, options);
  const type = checker.check(root);
  return {
    type: checker.bindings.resolve(type, true),
    references: checker.references,
    typeOf: (node) => checker.bindings.resolve(checker.types.get(node) ?? dynType, true),
    unresolved: checker.unresolved,
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

class Checker {
  readonly bindings = new TypeBindings();
  readonly types = new Map<Node, Type>();
  readonly references = new Map<Node, Reference>();
  readonly unresolved = new Map<Node, string>();
  private readonly environment: Environment;
  private readonly options: CheckOptions;
  /** Variables of the macros around the node, innermost last. */
  private readonly locals: { readonly name: string; readonly type: Type }[] = [];

  constructor(environment: Environment, options: CheckOptions) {
    this.environment = environment;
    this.options = options;
  }

  check(node: Node): Type {
    const inferred = this.infer(node);
    const type = this.options.dynamic === true ? dynType : inferred;
    this.types.set(node, type);
    return type;
  }

  private error(node: Node, message: string, hint?: string, offset: number = node.offset): Type {
    if (this.options.dynamic === true) this.unresolved.set(node, message);
    else this.options.report(offset, message, hint);
    return errorType;
  }

  private mismatch(node: Node, expected: Type, found: Type, hint?: string): Type {
    const [to, from] = [this.describe(expected), this.describe(found)];
    return this.error(node, `expected type '${to}' but found '${from}'`, hint);
  }

  private describe(type: Type): string {
    return formatType(this.bindings.resolve(type, true));
  }

  private infer(node: Node): Type {
    switch (node.kind) {
      case 'literal':
        return literalTypes[node.type] ?? errorType;
      case 'ident':
        return this.checkIdent(node);
      case 'select':
        return this.checkSelect(node);
      case 'call':
        return this.checkCall(node);
      case 'logic':
        return this.checkLogic(node);
      case 'list':
        return this.checkList(node);
      case 'map':
        return this.checkMap(node);
      case 'struct':
        return this.checkStruct(node);
      case 'comprehension':
        return this.checkComprehension(node);
      case 'bind':
        return this.withLocals([{ name: node.variable, type: this.check(node.value) }], () =>
          this.check(node.body),
        );
      case 'optMap':
        return this.checkOptMap(node);
    }
  }

  private withLocals(locals: readonly { name: string; type: Type }[], action: () => Type): Type {
    this.locals.push(...locals);
    const type = action();
    this.locals.length -= locals.length;
    return type;
  }

  private findLocal(name: string): { readonly name: string; readonly type: Type } | undefined {
    return this.locals.findLast((local) => local.name === name);
  }

  private checkIdent(node: IdentNode): Type {
    const local = this.findLocal(node.name);
    if (local !== undefined) {
      this.references.set(node, { kind: 'local', name: local.name });
      return local.type;
    }
    return this.resolveGlobal(node, node.name) ?? this.undeclared(node, node.name);
  }

  private undeclared(node: Node, name: string): Type {
    const { container, variables, functions } = this.environment;
    const message = `undeclared reference to '${name}' (in container '${container}')`;
    if (node.kind === 'call') return this.error(node, message, similarName(name, functions.keys()));
    return this.error(
      node,
      message,
      similarName(name, [...variables.keys(), ...this.locals.map((l) => l.name)]),
    );
  }

  /** Resolves a variable, a constant or the name of a type. */
  private resolveGlobal(node: Node, name: string): Type | undefined {
    for (const candidate of candidateNames(this.environment.container, name)) {
      const variable = this.environment.variables.get(candidate);
      if (variable !== undefined) return this.useVariable(node, variable);
      const type = this.findType(candidate);
      if (type !== undefined) {
        this.references.set(node, { kind: 'constant', value: new TypeValue(type.name) });
        return typeType(type);
      }
    }
    return undefined;
  }

  private useVariable(node: Node, variable: VariableDeclaration): Type {
    const { name, type, value } = variable;
    this.references.set(node, value === undefined ? { kind: 'variable', name } : { kind: 'constant', value });
    return type;
  }

  private findType(name: string): Type | undefined {
    const type = this.environment.types.get(name);
    if (type !== undefined) return type;
    return this.environment.findStruct(name) === undefined ? undefined : structType(name);
  }

  private checkSelect(node: SelectNode): Type {
    const name = qualifiedName(node);
    if (name !== undefined) {
      const root = name.startsWith('.') ? undefined : name.slice(0, name.indexOf('.'));
      if (root === undefined || this.findLocal(root) === undefined) {
        const type = this.resolveGlobal(node, name);
        if (type !== undefined) return type;
      }
    }
    const type = this.selectField(node);
    return node.mode === 'test' ? boolType : this.bindings.resolve(type);
  }

  private selectField(node: SelectNode): Type {
    const operand = this.bindings.resolve(this.check(node.operand));
    const inner = optionalValue(operand);
    const target = inner === undefined ? operand : this.bindings.resolve(inner);
    const type = this.fieldOf(node, target);
    return inner !== undefined || node.mode === 'optional' ? optionalType(type) : type;
  }

  private fieldOf(node: SelectNode, target: Type): Type {
    switch (target.kind) {
      case 'map':
        return target.parameters[1] ?? dynType;
      case 'struct': {
        const struct = this.environment.findStruct(target.name);
        const type = struct?.fieldType(node.field);
        if (type !== undefined) return type;
        return this.error(
          node,
          `undefined field '${node.field}'`,
          similarName(node.field, struct?.fieldNames ?? []),
        );
      }
      case 'parameter':
        this.bindings.isAssignable(dynType, target);
        return dynType;
      default:
        if (!isDynOrError(target)) {
          this.error(node, `type '${formatType(target)}' does not support field selection`);
        }
        return dynType;
    }
  }

  private checkCall(node: CallNode): Type {
    const args = node.args.map((arg) => this.check(arg));
    if (node.target === undefined) {
      const declaration = this.findFunction(node.name);
      if (declaration === undefined) return this.undeclared(node, node.name);
      return this.resolveOverload(node, declaration, args, false);
    }
    // `a.b.f()` is the function `a.b.f` if there is one, else the method `f` of `a.b`.
    const prefix = qualifiedName(node.target);
    const namespaced = prefix === undefined ? undefined : this.findFunction(`${prefix}.${node.name}`);
    if (namespaced !== undefined) return this.resolveOverload(node, namespaced, args, false);
    const target = this.check(node.target);
    const declaration = this.findFunction(node.name);
    if (declaration === undefined) return this.undeclared(node, node.name);
    return this.resolveOverload(node, declaration, [target, ...args], true);
  }

  private findFunction(name: string): FunctionDeclaration | undefined {
    for (const candidate of candidateNames(this.environment.container, name)) {
      const found = this.environment.functions.get(candidate);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  private resolveOverload(
    node: CallNode,
    declaration: FunctionDeclaration,
    args: readonly Type[],
    method: boolean,
  ): Type {
    let result: Type | undefined;
    const matching: Overload[] = [];
    for (const overload of declaration.overloads) {
      if (overload.member !== method || overload.parameters.length !== args.length) continue;
      const variables = new Map(
        overload.typeParameters.map((name) => [name, this.bindings.fresh()] as const),
      );
      const parameters = overload.parameters.map((type) => this.bindings.instantiate(type, variables));
      if (!this.bindings.areAssignable(args, parameters)) continue;
      matching.push(overload);
      const type = this.bindings.resolve(this.bindings.instantiate(overload.result, variables));
      if (result === undefined) result = type;
      else if (!isDyn(result) && !sameType(result, type)) result = dynType;
    }
    if (result === undefined) return this.noMatchingOverload(node, declaration, args, method);
    this.references.set(node, { kind: 'call', overloads: matching, method });
    return result;
  }

  private noMatchingOverload(
    node: CallNode,
    declaration: FunctionDeclaration,
    args: readonly Type[],
    method: boolean,
  ): Type {
    const names = args.map((type) => this.describe(type));
    const signature = method ? `${names[0]}.(${names.slice(1).join(', ')})` : `(${names.join(', ')})`;
    const hint = callStyleHint(declaration, args.length, method) ?? overloadHint(declaration.name, names);
    return this.error(
      node,
      `found no matching overload for '${declaration.name}' applied to '${signature}'`,
      hint,
    );
  }

  private checkLogic(node: LogicNode): Type {
    for (const operand of node.operands) this.expectBool(operand, this.check(operand));
    return boolType;
  }

  private expectBool(node: Node, type: Type): void {
    if (!this.bindings.isAssignable(boolType, type)) this.mismatch(node, boolType, type);
  }

  /** The type of an element or entry that may be written as `?value`. */
  private optionalElement(node: Node, optional: boolean): Type {
    const type = this.check(node);
    if (!optional) return type;
    const inner = optionalValue(this.bindings.resolve(type));
    if (inner !== undefined) return inner;
    if (!isDynOrError(type))
      this.mismatch(node, optionalType(type), type, 'A `?` entry takes an optional value.');
    return type;
  }

  /** Mixed types make `dyn`; Kubernetes refuses them afterwards, see validateExpression. */
  private join(previous: Type | undefined, current: Type): Type {
    if (previous === undefined) return current;
    return this.bindings.isAssignable(previous, current) ? mostGeneral(previous, current) : dynType;
  }

  private checkList(node: ListNode): Type {
    let element: Type | undefined;
    for (const { value, optional } of node.elements) {
      element = this.join(element, this.optionalElement(value, optional));
    }
    return listType(element ?? this.bindings.fresh());
  }

  private checkMap(node: MapNode): Type {
    let keyType: Type | undefined;
    let valueType: Type | undefined;
    for (const { key, value, optional } of node.entries) {
      keyType = this.join(keyType, this.check(key));
      valueType = this.join(valueType, this.optionalElement(value, optional));
    }
    return mapType(keyType ?? this.bindings.fresh(), valueType ?? this.bindings.fresh());
  }

  private checkStruct(node: StructNode): Type {
    const names = candidateNames(this.environment.container, node.typeName);
    const struct = names
      .map((name) => this.environment.findStruct(name))
      .find((found) => found !== undefined);
    for (const field of node.fields) this.checkField(node, field, struct);
    const isType = names.some((name) => this.environment.types.has(name));
    if (struct === undefined && !isType) return this.undeclared(node, node.typeName);
    if (struct?.build === undefined) return this.error(node, `'${node.typeName}' is not a message type`);
    this.references.set(node, { kind: 'struct', struct });
    return structType(struct.name);
  }

  private checkField(
    node: StructNode,
    field: StructNode['fields'][number],
    struct: StructDeclaration | undefined,
  ): void {
    const type = this.optionalElement(field.value, field.optional);
    if (struct === undefined) return;
    const expected = struct.fieldType(field.name);
    if (expected === undefined) {
      const hint = similarName(field.name, struct.fieldNames ?? []);
      this.error(node, `undefined field '${field.name}'`, hint, field.offset);
    } else if (!this.bindings.isAssignable(expected, type)) {
      const [to, from] = [this.describe(expected), this.describe(type)];
      const message = `expected type of field '${field.name}' is '${to}' but provided type is '${from}'`;
      this.error(node, message, undefined, field.offset);
    }
  }

  private checkComprehension(node: ComprehensionNode): Type {
    const range = this.bindings.resolve(this.check(node.range));
    const types = this.rangeTypes(node, range);
    const locals = node.variables.map((name, index) => ({ name, type: types[index] ?? dynType }));
    return this.withLocals(locals, () => {
      if (node.condition !== undefined) this.expectBool(node.condition, this.check(node.condition));
      const body = this.check(node.body);
      return this.comprehensionType(node, range, types[0] ?? dynType, body);
    });
  }

  /** The types of the variables: with one variable the item or key, with two index and item or key and value. */
  private rangeTypes(node: ComprehensionNode, range: Type): readonly Type[] {
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
        this.bindings.isAssignable(dynType, range);
        return [dynType, dynType];
      default: {
        const name = formatType(range);
        const message = `expression of type '${name}' cannot be range of a comprehension (must be list, map, or dynamic)`;
        this.error(node.range, message);
        return [errorType, errorType];
      }
    }
  }

  private comprehensionType(node: ComprehensionNode, range: Type, variable: Type, body: Type): Type {
    switch (node.macro) {
      case 'all':
      case 'exists':
      case 'existsOne':
        this.expectBool(node.body, body);
        return boolType;
      case 'filter':
        this.expectBool(node.body, body);
        return listType(this.bindings.resolve(variable));
      case 'map':
      case 'transformList':
        return listType(this.bindings.resolve(body));
      case 'transformMap':
        return mapType(this.bindings.resolve(variable), this.bindings.resolve(body));
      case 'transformMapEntry': {
        const entry = mapType(this.bindings.fresh(), this.bindings.fresh());
        if (!this.bindings.isAssignable(entry, body)) this.mismatch(node.body, entry, body);
        return this.bindings.resolve(entry);
      }
      case 'sortBy':
        return this.sortByType(node, range, body);
    }
  }

  private sortByType(node: ComprehensionNode, range: Type, body: Type): Type {
    if (range.kind === 'map') this.mismatch(node.range, listType(dynType), range);
    const key = this.bindings.resolve(body);
    if (!comparableKinds.has(key.kind))
      this.mismatch(node.body, intType, key, 'Sort by a value that has an order.');
    return range.kind === 'list' ? range : dynType;
  }

  private checkOptMap(node: OptMapNode): Type {
    const target = this.check(node.target);
    const value = this.bindings.fresh();
    if (!this.bindings.isAssignable(target, optionalType(value))) {
      this.error(node, `found no matching overload for 'hasValue' applied to '${this.describe(target)}.()'`);
    }
    const local = { name: node.variable, type: this.bindings.resolve(value) };
    return this.withLocals([local], () => {
      const body = this.check(node.body);
      if (!node.flat) return optionalType(this.bindings.resolve(body));
      const result = optionalType(this.bindings.fresh());
      if (!this.bindings.isAssignable(result, body)) this.mismatch(node.body, result, body);
      return this.bindings.resolve(result);
    });
  }
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
