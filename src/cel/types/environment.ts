import type { MacroSet } from '../syntax/macros.ts';
import type { Value } from '../value/value.ts';
import { parseSignature, type Signature } from './signature.ts';
import type { Type } from './type.ts';

/** Every effect of a function is passed in. */
export interface Effects {
  now(): Date;
  /** In [0, 1). */
  random(): number;
  /** Compression is not available everywhere. */
  readonly gzip?:
    | { compress(data: Uint8Array): Uint8Array; decompress(data: Uint8Array): Uint8Array }
    | undefined;
}

/** Arguments are of the types of the signature. Throws CelError, or passes on an error of a data source. */
export type Implementation = (...args: never[]) => Value;

export interface Overload extends Signature {
  readonly call: Implementation;
  /** The implementation takes the effects before its arguments. */
  readonly effects: boolean;
}

export interface FunctionDeclaration {
  readonly name: string;
  readonly overloads: readonly Overload[];
}

export interface VariableDeclaration {
  readonly name: string;
  readonly type: Type;
  /** The value of a constant; other variables are looked up at each evaluation. */
  readonly value?: Value | undefined;
}

/** Returns how to build the values of a literal with these fields. */
type StructBuilder = (names: readonly string[]) => (values: readonly (Value | undefined)[]) => Value;

/** A type whose values have named fields. */
export interface StructDeclaration {
  readonly name: string;
  /** The type of a field; undefined when the struct has no such field. */
  fieldType(field: string): Type | undefined;
  /** For `T{…}`; absent when values of the type cannot be built. */
  readonly build?: StructBuilder | undefined;
  /** Names of all fields, for hints. */
  readonly fieldNames?: readonly string[] | undefined;
}

/** Functions, variables, types and macros that belong together. */
export interface Library {
  readonly functions?: readonly FunctionDeclaration[] | undefined;
  readonly variables?: readonly VariableDeclaration[] | undefined;
  readonly structs?: readonly StructDeclaration[] | undefined;
  /** Struct types that are found by a rule, such as `Object.spec`. */
  readonly findStruct?: ((name: string) => StructDeclaration | undefined) | undefined;
  /** Type names that an expression may use as values. */
  readonly types?: readonly Type[] | undefined;
  readonly macros?: readonly string[] | undefined;
}

export interface Environment {
  /** Names are also looked up inside this namespace: `a.b`. */
  readonly container: string;
  readonly macros: MacroSet;
  readonly functions: ReadonlyMap<string, FunctionDeclaration>;
  readonly variables: ReadonlyMap<string, VariableDeclaration>;
  /** Types by name, for type values. */
  readonly types: ReadonlyMap<string, Type>;
  findStruct(name: string): StructDeclaration | undefined;
  /** Kubernetes refuses list and map literals of mixed types; plain CEL gives them elements of type `dyn`. */
  readonly homogeneousLiterals: boolean;
  /** Whether names may stand in back-quotes. */
  readonly quotedNames: boolean;
  /** Hints for names that only other environments have. */
  readonly elsewhere: ReadonlyMap<string, string>;
}

export interface EnvironmentOptions {
  readonly container?: string | undefined;
  readonly homogeneousLiterals?: boolean | undefined;
  readonly quotedNames?: boolean | undefined;
  readonly elsewhere?: ReadonlyMap<string, string> | undefined;
}

/** Joins libraries. Overloads of one function add up; a later variable or struct of the same name wins. */
export function createEnvironment(
  libraries: readonly Library[],
  options: EnvironmentOptions = {},
): Environment {
  const functions = new Map<string, FunctionDeclaration>();
  const variables = new Map<string, VariableDeclaration>();
  const structs = new Map<string, StructDeclaration>();
  const types = new Map<string, Type>();
  const macros = new Set<string>();
  const finders: ((name: string) => StructDeclaration | undefined)[] = [(name) => structs.get(name)];
  for (const library of libraries) {
    for (const { name, overloads } of library.functions ?? []) {
      functions.set(name, { name, overloads: [...(functions.get(name)?.overloads ?? []), ...overloads] });
    }
    for (const variable of library.variables ?? []) variables.set(variable.name, variable);
    for (const struct of library.structs ?? []) structs.set(struct.name, struct);
    for (const type of library.types ?? []) types.set(type.name, type);
    for (const macro of library.macros ?? []) macros.add(macro);
    if (library.findStruct !== undefined) finders.push(library.findStruct);
  }
  return {
    container: options.container ?? '',
    macros,
    functions,
    variables,
    types,
    findStruct: (name) => {
      for (const find of finders) {
        const found = find(name);
        if (found !== undefined) return found;
      }
      return undefined;
    },
    homogeneousLiterals: options.homogeneousLiterals ?? true,
    quotedNames: options.quotedNames ?? true,
    elsewhere: options.elsewhere ?? new Map(),
  };
}

/** The environment with more variables and structs, such as the `variables` of a policy. */
export function extendEnvironment(base: Environment, library: Library): Environment {
  const own = createEnvironment([library]);
  const functions = new Map(base.functions);
  for (const { name, overloads } of own.functions.values()) {
    functions.set(name, { name, overloads: [...(functions.get(name)?.overloads ?? []), ...overloads] });
  }
  return {
    ...base,
    functions,
    macros: new Set([...base.macros, ...own.macros]),
    variables: new Map([...base.variables, ...own.variables]),
    types: new Map([...base.types, ...own.types]),
    findStruct: (name) => own.findStruct(name) ?? base.findStruct(name),
  };
}

/** One overload of a function or method; see parseSignature. */
export function overload(name: string, signature: string, call: Implementation): FunctionDeclaration {
  return { name, overloads: [{ ...parseSignature(signature), call, effects: false }] };
}

/** One overload whose implementation takes the effects first. */
export function effectOverload(
  name: string,
  signature: string,
  call: (effects: Effects, ...args: never[]) => Value,
): FunctionDeclaration {
  return { name, overloads: [{ ...parseSignature(signature), call, effects: true }] };
}

/** The names a name may stand for, innermost namespace first. */
export function candidateNames(container: string, name: string): readonly string[] {
  if (name.startsWith('.')) return [name.slice(1)];
  if (container === '') return [name];
  const parts = container.split('.');
  const names: string[] = [];
  for (let length = parts.length; length > 0; length--)
    names.push(`${parts.slice(0, length).join('.')}.${name}`);
  return [...names, name];
}
