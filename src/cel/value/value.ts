import type { RepeatedObject } from './repeated.ts';

/**
 * A CEL value. JSON values stand for themselves and are never copied: a safe integer or a bigint is an `int`, any other
 * number is a `double`. Classes cover what JSON has no form for.
 */
export type Value = null | boolean | number | bigint | string | readonly Value[] | ValueObject | SpecialValue;

/** A map with string keys only. */
export interface ValueObject {
  readonly [key: string]: Value;
}

/** The base of the values that JSON cannot express, so that one check tells them from maps. */
export abstract class SpecialValue {
  abstract readonly typeName: string;
}

/** A double whose value is a safe integer. Other doubles are plain numbers. */
export class IntegralDouble extends SpecialValue {
  readonly typeName = 'double';
  readonly value: number;
  constructor(value: number) {
    super();
    this.value = value;
  }
}

export class Uint extends SpecialValue {
  readonly typeName = 'uint';
  readonly value: bigint;
  constructor(value: bigint) {
    super();
    this.value = value;
  }
}

export class Bytes extends SpecialValue {
  readonly typeName = 'bytes';
  readonly data: Uint8Array;
  constructor(data: Uint8Array) {
    super();
    this.data = data;
  }
}

export class Timestamp extends SpecialValue {
  readonly typeName = 'google.protobuf.Timestamp';
  /** Since 1970-01-01T00:00:00Z. */
  readonly nanoseconds: bigint;
  /** East of UTC, as it was written. It counts only where the timestamp is written again. */
  readonly offsetSeconds: number;
  constructor(nanoseconds: bigint, offsetSeconds = 0) {
    super();
    this.nanoseconds = nanoseconds;
    this.offsetSeconds = offsetSeconds;
  }
}

export class Duration extends SpecialValue {
  readonly typeName = 'google.protobuf.Duration';
  readonly nanoseconds: bigint;
  constructor(nanoseconds: bigint) {
    super();
    this.nanoseconds = nanoseconds;
  }
}

export class Optional extends SpecialValue {
  static readonly none: Optional = new Optional(undefined);
  readonly typeName = 'optional_type';
  readonly value: Value | undefined;
  constructor(value: Value | undefined) {
    super();
    this.value = value;
  }
}

/** A type as a value: `type(1)`, `int`. */
export class TypeValue extends SpecialValue {
  readonly typeName = 'type';
  readonly name: string;
  constructor(name: string) {
    super();
    this.name = name;
  }
}

const noDefaults: ValueObject = {};

/** What all values of one literal share. */
export class StructShape {
  readonly typeName: string;
  /** Each once. */
  readonly names: readonly string[];
  /** Values of fields that are not set; a field without a default is an error when read. */
  readonly defaults: ValueObject;
  /** The values as JSON. */
  json: RepeatedObject | undefined;
  /** What a reader of many values of this shape found out about it last. */
  memo: unknown;
  constructor(typeName: string, names: readonly string[], defaults: ValueObject = noDefaults) {
    this.typeName = typeName;
    this.names = names;
    this.defaults = defaults;
    this.json = undefined;
    this.memo = undefined;
  }
}

/** A message built by `T{…}`: `Object{…}`, `JSONPatch{…}`. */
export class StructValue extends SpecialValue {
  readonly shape: StructShape;
  /** In the order of the names; undefined for a field that is not set. */
  readonly values: readonly (Value | undefined)[];
  constructor(shape: StructShape, values: readonly (Value | undefined)[]) {
    super();
    this.shape = shape;
    this.values = values;
  }

  get typeName(): string {
    return this.shape.typeName;
  }

  get names(): readonly string[] {
    return this.shape.names;
  }

  /** The fields that are set, as a new map. */
  get fields(): ValueObject {
    const entries = this.names.map((name, index) => [name, this.values[index]] as const);
    return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as ValueObject;
  }

  /** Undefined when the field is not set. */
  field(name: string): Value | undefined {
    return this.values[this.names.indexOf(name)];
  }
}

/** An object whose fields are computed when they are read, such as `variables`. */
export class LazyObject extends SpecialValue {
  readonly typeName: string;
  /** Undefined when there is no such field. */
  readonly read: (field: string) => Value | undefined;
  constructor(typeName: string, read: (field: string) => Value | undefined) {
    super();
    this.typeName = typeName;
    this.read = read;
  }
}

/** A value of a library type: an IP address, a quantity, an image reference. */
export class Opaque<Data = unknown> extends SpecialValue {
  readonly typeName: string;
  readonly data: Data;
  /** Equal values of one type have equal identities; absent when values are compared by reference. */
  readonly identity: string | undefined;
  constructor(typeName: string, data: Data, identity?: string) {
    super();
    this.typeName = typeName;
    this.data = data;
    this.identity = identity;
  }
}
