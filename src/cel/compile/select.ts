import { CelError, noSuchKey, noSuchOverload } from '../value/error.ts';
import { isList, isPlainObject } from '../value/kinds.ts';
import { CelMap, listIndex, mapGet } from '../value/map.ts';
import { formatValue } from '../value/text.ts';
import {
  LazyObject,
  Optional,
  SpecialValue,
  StructValue,
  type Value,
  type ValueObject,
} from '../value/value.ts';
import { located } from './call.ts';
import type { Closure, Frame } from './closure.ts';

/** Names that plain objects inherit: for these, own members have to be told apart. */
function isInherited(field: string): boolean {
  return field in Object.prototype;
}

/** One `.field` or `.?field` of several. */
export interface Selection {
  readonly field: string;
  readonly offset: number;
}

/** `operand.a.b`. The common case, members of JSON objects, comes first. */
export function compileSelect(operand: Closure, selections: readonly Selection[]): Closure {
  const fields = selections.map(({ field }) => field);
  const own = fields.map((field) => !isInherited(field));
  return (frame) => {
    let target = operand(frame);
    for (let index = 0; index < fields.length; index++) {
      const field = fields[index] as string;
      let value: Value | undefined;
      if (typeof target === 'object' && target !== null && own[index] === true) {
        if (!(target instanceof SpecialValue) && !isList(target)) value = (target as ValueObject)[field];
      }
      target = value === undefined ? selectField(target, selections[index] as Selection) : value;
    }
    return target;
  };
}

function selectField(target: Value, { field, offset }: Selection): Value {
  if (target instanceof Optional) return optionalOf(findInOptional(target, field, offset));
  const value = findField(target, field, offset);
  if (value !== undefined) return value;
  // Any field of an `Object` may be read.
  if (target instanceof StructValue) return null;
  throw noSuchKey(field, offset);
}

export function compileTest(operand: Closure, { field, offset }: Selection): Closure {
  return (frame) => {
    const target = operand(frame);
    if (target instanceof SpecialValue) {
      if (target instanceof StructValue) return isSet(target, field);
      if (target instanceof Optional) return findInOptional(target, field, offset) !== undefined;
    }
    return findField(target, field, offset) !== undefined;
  };
}

/** The value in an optional; undefined when it has none. */
export type OptionalClosure = (frame: Frame) => Value | undefined;

/** `operand.?a.?b`, also `operand.?a.b`. */
export function compileOptionalSelect(operand: Closure, selections: readonly Selection[]): OptionalClosure {
  const [first, ...others] = selections as readonly [Selection, ...Selection[]];
  return (frame) => {
    const target = operand(frame);
    let value = findOptionally(target, first);
    for (let index = 0; index < others.length && value !== undefined; index++) {
      const { field, offset } = others[index] as Selection;
      value = findField(value, field, offset);
    }
    return value;
  };
}

function findOptionally(target: Value, { field, offset }: Selection): Value | undefined {
  if (target instanceof SpecialValue) {
    if (target instanceof Optional) return findInOptional(target, field, offset);
    if (target instanceof StructValue && !isSet(target, field)) return undefined;
  }
  return findField(target, field, offset);
}

function isSet(struct: StructValue, field: string): boolean {
  const value = struct.field(field);
  return value !== undefined && value !== defaultOf(struct, field);
}

export function optionalOf(value: Value | undefined): Optional {
  return value === undefined ? Optional.none : new Optional(value);
}

function findInOptional(target: Optional, field: string, offset: number): Value | undefined {
  return target.value === undefined ? undefined : findField(target.value, field, offset);
}

/** The field of a map, struct or lazy object; undefined when there is none. */
function findField(target: Value, field: string, offset?: number): Value | undefined {
  if (isPlainObject(target)) return Object.hasOwn(target, field) ? target[field] : undefined;
  if (target instanceof CelMap) return mapGet(target, field);
  if (target instanceof LazyObject) return readLazy(target, field, offset);
  if (isList(target)) throw new CelError(`unsupported index type 'string' in list`, offset);
  if (!(target instanceof StructValue)) return undefined;
  const value = target.field(field);
  return value === undefined ? defaultOf(target, field) : value;
}

function readLazy(target: LazyObject, field: string, offset: number | undefined): Value | undefined {
  if (offset === undefined) return target.read(field);
  try {
    return target.read(field);
  } catch (error) {
    throw located(error, offset);
  }
}

function defaultOf({ shape: { defaults } }: StructValue, field: string): Value | undefined {
  return Object.hasOwn(defaults, field) ? defaults[field] : undefined;
}

/** `target[index]`; throws when there is no such key or index. */
export function indexValue(target: Value, index: Value): Value {
  if (target instanceof Optional) return optionalIndexValue(target, index);
  const value = findIndex(target, index);
  if (value !== undefined) return value;
  throw isList(target)
    ? new CelError(`index out of bounds: ${formatValue(index)}`)
    : noSuchKey(formatValue(index));
}

/** `target[?index]`, and `target[index]` of an optional. A value that has no parts gives none. */
export function optionalIndexValue(target: Value, index: Value): Value {
  const operand = target instanceof Optional ? target.value : target;
  return operand === undefined || !hasParts(operand) ? Optional.none : optionalOf(findIndex(operand, index));
}

function hasParts(value: Value): boolean {
  if (!(value instanceof SpecialValue)) return typeof value === 'object' && value !== null;
  return value instanceof CelMap || value instanceof StructValue || value instanceof LazyObject;
}

function findIndex(target: Value, index: Value): Value | undefined {
  if (isList(target)) {
    const position = listIndex(index);
    if (position === undefined)
      throw new CelError(`unsupported index type '${formatIndexType(index)}' in list`);
    return target[position];
  }
  if (target instanceof CelMap || isPlainObject(target)) return mapGet(target, index);
  if (typeof index === 'string') {
    const value = findField(target, index);
    if (value !== undefined) return value;
    if (target instanceof StructValue || target instanceof LazyObject) return undefined;
  }
  throw noSuchOverload([target, index]);
}

function formatIndexType(index: Value): string {
  return typeof index === 'number' ? 'double' : typeof index === 'string' ? 'string' : 'dyn';
}
