import type { Environment, Scope } from '../../expression/scope.ts';
import { mergeMembers } from '../../json/merge.ts';
import { isObject, type Json, type JsonObject } from '../../json/value.ts';

/** A scope that binds some names and delegates the rest to the outer scope. */
abstract class Layer implements Scope {
  readonly environment: Environment;
  protected readonly outer: Scope;

  constructor(outer: Scope) {
    this.outer = outer;
    this.environment = outer.environment;
  }

  abstract lookup(name: string): Json | undefined;
  abstract snapshot(): JsonObject;
}

/**
 * Plain values: bindings from a values file, or the target of a mutate-existing rule. Objects are merged: binding
 * only `request.namespace` keeps the rest of the request.
 */
export class ValuesLayer extends Layer {
  readonly #values: Readonly<Record<string, Json>>;
  readonly #merged = new Map<string, JsonObject>();

  constructor(outer: Scope, values: Readonly<Record<string, Json>>) {
    super(outer);
    this.#values = values;
  }

  override lookup(name: string): Json | undefined {
    const known = this.#merged.get(name);
    if (known !== undefined) return known;
    if (!Object.hasOwn(this.#values, name)) return this.outer.lookup(name);
    const value = this.#values[name];
    const around = isObject(value) ? this.outer.lookup(name) : undefined;
    if (!isObject(value) || !isObject(around)) return value;
    const merged = mergeMembers(around, value);
    this.#merged.set(name, merged);
    return merged;
  }

  override snapshot(): JsonObject {
    return mergeMembers(this.outer.snapshot(), this.#values);
  }
}

/** One context entry, loaded when an expression reads it. It sees only earlier entries. */
export class EntryLayer extends Layer {
  readonly #name: string;
  readonly #load: (scope: Scope) => Json;

  constructor(outer: Scope, name: string, load: (scope: Scope) => Json) {
    super(outer);
    this.#name = name;
    this.#load = load;
  }

  override lookup(name: string): Json | undefined {
    if (name !== this.#name) return this.outer.lookup(name);
    return this.#load(this.outer);
  }

  override snapshot(): JsonObject {
    return { ...this.outer.snapshot(), [this.#name]: this.#load(this.outer) };
  }
}

/** The names that a foreach entry binds, the same for all its elements. */
export interface LoopNames {
  readonly element: string;
  readonly index: string;
  readonly alias: string | undefined;
  readonly aliasIndex: string | undefined;
}

/** Of the outermost loops, which most policies have. */
const outermostNames = namesAt(0, undefined);

export function loopNames(depth: number, alias: string | undefined): LoopNames {
  return depth === 0 && alias === undefined ? outermostNames : namesAt(depth, alias);
}

function namesAt(depth: number, alias: string | undefined): LoopNames {
  const aliasIndex = alias === undefined ? undefined : `${alias}Index`;
  return { element: `element${depth}`, index: `elementIndex${depth}`, alias, aliasIndex };
}

/** The bindings of one foreach iteration. */
export class ElementLayer extends Layer {
  readonly #element: Json;
  readonly #index: number;
  readonly #names: LoopNames;

  constructor(outer: Scope, element: Json, index: number, names: LoopNames) {
    super(outer);
    this.#element = element;
    this.#index = index;
    this.#names = names;
  }

  override lookup(name: string): Json | undefined {
    if (name === 'element') return this.#element;
    if (name === 'elementIndex') return this.#index;
    const names = this.#names;
    if (name === names.element || name === names.alias) return this.#element;
    if (name === names.index || name === names.aliasIndex) return this.#index;
    return this.outer.lookup(name);
  }

  override snapshot(): JsonObject {
    const { element, index, alias, aliasIndex } = this.#names;
    return {
      ...this.outer.snapshot(),
      element: this.#element,
      elementIndex: this.#index,
      [element]: this.#element,
      [index]: this.#index,
      ...(alias === undefined ? {} : { [alias]: this.#element }),
      ...(aliasIndex === undefined ? {} : { [aliasIndex]: this.#index }),
    };
  }
}
