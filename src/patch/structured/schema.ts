import type { JsonObject } from '../../json/value.ts';

/** `untyped` takes any scalar: quantities, times, ports by number or name. */
export type ScalarClass = 'string' | 'number' | 'boolean' | 'untyped';

/** How server-side apply sees a value of a kind. */
export type StructuredSchema = ScalarSchema | MapSchema | ListSchema | AnySchema;

export interface ScalarSchema {
  readonly kind: 'scalar';
  readonly scalar: ScalarClass;
}

/** A struct, or a map of any keys. */
export interface MapSchema {
  readonly kind: 'map';
  /** An atomic map is replaced as a whole; other maps are merged by key. */
  readonly atomic: boolean;
  /** Undefined when the struct has no such field. */
  field(name: string): StructuredSchema | undefined;
  /** False for a key of a map, and for a key that a struct takes although it does not declare it. */
  declares(name: string): boolean;
  /** Declared names, for hints. */
  readonly fieldNames: readonly string[];
  /** Defaults of fields. Keys of list items that are absent have these values. */
  readonly defaults: JsonObject;
}

export interface ListSchema {
  readonly kind: 'list';
  /** `map` lists are merged by the keys of their items, sets are joined, atomic lists are replaced. */
  readonly merge: 'atomic' | 'set' | 'map';
  readonly keys: readonly string[];
  readonly items: StructuredSchema;
}

/** Any value. Lists in it are atomic, and so are maps if `atomic` is set. */
export interface AnySchema {
  readonly kind: 'any';
  readonly atomic: boolean;
}

/** Finds the schema of a kind; undefined for a kind that is not known. */
export type SchemaLookup = (apiVersion: string, kind: string) => StructuredSchema | undefined;

export const anySchema: AnySchema = { kind: 'any', atomic: false };
export const atomicSchema: AnySchema = { kind: 'any', atomic: true };

export const scalarSchemas: Readonly<Record<ScalarClass, ScalarSchema>> = {
  string: { kind: 'scalar', scalar: 'string' },
  number: { kind: 'scalar', scalar: 'number' },
  boolean: { kind: 'scalar', scalar: 'boolean' },
  untyped: { kind: 'scalar', scalar: 'untyped' },
};
