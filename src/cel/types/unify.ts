import {
  dynType,
  isDyn,
  isDynOrError,
  listType,
  mapType,
  opaqueType,
  parameterType,
  sameType,
  type Type,
  typeType,
} from './type.ts';

/**
 * What is known about the type variables of one expression. A failed comparison leaves no trace: bindings that it
 * made are taken back.
 */
export class TypeBindings {
  private readonly bound = new Map<string, Type>();
  private readonly trail: (readonly [string, Type | undefined])[] = [];
  private count = 0;

  fresh(): Type {
    return parameterType(`_var${this.count++}`);
  }

  /** Whether a value of type `from` may stand where `to` is expected; binds type variables of both. */
  isAssignable(to: Type, from: Type): boolean {
    return this.attempt(() => this.assign(to, from));
  }

  areAssignable(to: readonly Type[], from: readonly Type[]): boolean {
    return this.attempt(() => this.assignAll(to, from));
  }

  private attempt(action: () => boolean): boolean {
    const mark = this.trail.length;
    if (action()) return true;
    while (this.trail.length > mark) {
      const [name, previous] = this.trail.pop() as readonly [string, Type | undefined];
      if (previous === undefined) this.bound.delete(name);
      else this.bound.set(name, previous);
    }
    return false;
  }

  private find(type: Type): Type | undefined {
    return type.kind === 'parameter' ? this.bound.get(type.name) : undefined;
  }

  private bind(variable: Type, type: Type): void {
    this.trail.push([variable.name, this.bound.get(variable.name)]);
    this.bound.set(variable.name, type);
  }

  private assign(a: Type, b: Type): boolean {
    if (b.kind === 'parameter') {
      const [valid, known] = this.substitutes(a, b);
      if (valid) return true;
      if (known) return false;
    }
    if (a.kind === 'parameter') return this.substitutes(b, a)[0];
    if (isDynOrError(a) || isDynOrError(b)) return true;
    if (a.kind === 'null') return isNullable(b);
    if (b.kind === 'null') return isNullable(a);
    switch (a.kind) {
      case 'type':
        return b.kind === 'type';
      case 'opaque':
      case 'list':
      case 'map':
        return a.kind === b.kind && a.name === b.name && this.assignAll(a.parameters, b.parameters);
      default:
        return a.kind === b.kind && a.name === b.name;
    }
  }

  private assignAll(a: readonly Type[], b: readonly Type[]): boolean {
    return a.length === b.length && a.every((type, index) => this.assign(type, b[index] as Type));
  }

  /** Whether `type` may stand for the variable, and whether the variable had a type before. */
  private substitutes(type: Type, variable: Type): readonly [boolean, boolean] {
    if (sameType(type, variable)) return [true, true];
    const known = this.find(variable);
    if (known !== undefined) {
      if (sameType(type, known)) return [true, true];
      if (!this.assign(type, known)) return [false, true];
      const general = mostGeneral(type, known);
      if (this.isFreeOf(variable, general)) this.bind(variable, general);
      return [true, true];
    }
    if (!this.isFreeOf(variable, type)) return [false, false];
    this.bind(variable, type);
    return [true, false];
  }

  /** Whether the variable does not occur within the type. */
  private isFreeOf(variable: Type, type: Type): boolean {
    if (sameType(variable, type)) return false;
    const known = this.find(type);
    if (known !== undefined) return this.isFreeOf(variable, known);
    return type.parameters.every((parameter) => this.isFreeOf(variable, parameter));
  }

  /** The type with all bound variables replaced; unbound ones become `dyn` when `close` is set. */
  resolve(type: Type, close = false): Type {
    const known = this.find(type);
    if (known !== undefined) return this.resolve(known, close);
    if (type.kind === 'parameter') return close ? dynType : type;
    return replaceParameters(type, (parameter) => this.resolve(parameter, close));
  }

  /** Whether a part of the type is a variable that has no type yet. */
  isOpen(type: Type): boolean {
    const resolved = this.resolve(type);
    return resolved.kind === 'parameter' || resolved.parameters.some((parameter) => this.isOpen(parameter));
  }

  /** A declared type with its type parameters replaced by fresh variables. */
  instantiate(type: Type, variables: ReadonlyMap<string, Type>): Type {
    if (type.kind === 'parameter') return variables.get(type.name) ?? type;
    return replaceParameters(type, (parameter) => this.instantiate(parameter, variables));
  }
}

function replaceParameters(type: Type, replace: (parameter: Type) => Type): Type {
  const [first, second] = type.parameters;
  if (first === undefined) return type;
  switch (type.kind) {
    case 'list':
      return listType(replace(first));
    case 'map':
      return mapType(replace(first), replace(second as Type));
    case 'type':
      return typeType(replace(first));
    default:
      return opaqueType(type.name, ...type.parameters.map(replace));
  }
}

function isNullable(type: Type): boolean {
  if (type.nullable === true) return true;
  return ['null', 'opaque', 'struct', 'duration', 'timestamp'].includes(type.kind);
}

/** The more general of two types that unify; the second if none is, as of null and a type that may be null. */
export function mostGeneral(a: Type, b: Type): Type {
  return isEqualOrLessSpecific(a, b) ? a : b;
}

function isEqualOrLessSpecific(a: Type, b: Type): boolean {
  if (isDyn(a) || a.kind === 'parameter') return true;
  if (isDyn(b) || b.kind === 'parameter') return false;
  if (a.kind !== b.kind) return false;
  if (a.kind === 'type') return true;
  if (a.name !== b.name || a.parameters.length !== b.parameters.length) return false;
  if (a.parameters.length === 0) return a.nullable === b.nullable;
  return a.parameters.every((parameter, index) =>
    isEqualOrLessSpecific(parameter, b.parameters[index] as Type),
  );
}
