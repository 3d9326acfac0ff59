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
import { locateErrors } from './call.ts';
import type { Closure } from './closure.ts';

/** Names that plain objects inherit: for these, own members have to be told apart. */
function isInherited(field: string): boolean {
  return field in Object.prototype;
}

/** `operand.field`. The common case, a member of a JSON object, comes first. */
export function compileSelect(operand: Closure, field: string, offset: number): Closure {
  const inherited = isInherited(field);
  return locateErrors((frame) => {
    const target = operand(frame);
    if (typeof target === 'object' && target !== null && !inherited && !(target instanceof SpecialValue)) {
      const value = (target as ValueObject)[field];
      if (value !== undefined && !isList(target)) return value;
    }
    if (target instanceof Optional) return findInOptional(target, field);
    const value = findField(target, field);
    if (value === undefined) throw noSuchKey(field);
    return value;
  }, offset);
}

export function compileTest(operand: Closure, field: string): Closure {
  return (frame) => {
    const target = operand(frame);
    if (target instanceof StructValue) return isSet(target, field);
    if (target instanceof Optional)
      return target.value !== undefined && findField(target.value, field) !== undefined;
    return findField(target, field) !== undefined;
  };
}

export function compileOptionalSelect(operand: Closure, field: string): Closure {
  return (frame) => {
    const target = operand(frame);
    if (target instanceof Optional) return findInOptional(target, field);
    if (target instanceof StructValue && !isSet(target, field)) return Optional.none;
    return optionalOf(findField(target, field));
  };
}

function isSet(struct: StructValue, field: string): boolean {
  if (!Object.hasOwn(struct.fields, field)) return false;
  const fallback = Object.hasOwn(struct.defaults, field) ? struct.defaults[field] : undefined;
  return struct.fields[field] !== fallback;
}

function optionalOf(value: Value | undefined): Optional {
  return value === undefined ? Optional.none : new Optional(value);
}

function findInOptional(target: Optional, field: string): Optional {
  return target.value === undefined ? Optional.none : optionalOf(findField(target.value, field));
}

/** The field of a map, struct or lazy object; undefined when there is none. */
function findField(target: Value, field: string): Value | undefined {
  if (isPlainObject(target)) return Object.hasOwn(target, field) ? target[field] : undefined;
  if (target instanceof CelMap) return mapGet(target, field);
  if (target instanceof LazyObject) return target.read(field);
  if (isList(target)) throw new CelError(`unsupported index type 'string' in list`);
  if (!(target instanceof StructValue)) return undefined;
  if (Object.hasOwn(target.fields, field)) return target.fields[field];
  return Object.hasOwn(target.defaults, field) ? target.defaults[field] : undefined;
}

/** `target[index]`; throws when there is no such key or index. */
export function indexValue(target: Value, index: Value): Value {
  if (target instanceof Optional) {
    return target.value === undefined ? Optional.none : optionalOf(findIndex(target.value, index));
  }
  const value = findIndex(target, index);
  if (value !== undefined) return value;
  throw isList(target)
    ? new CelError(`index out of bounds: ${formatValue(index)}`)
    : noSuchKey(formatValue(index));
}

/** `target[?index]`. */
export function optionalIndexValue(target: Value, index: Value): Value {
  if (target instanceof Optional && target.value === undefined) return Optional.none;
  const operand = target instanceof Optional ? (target.value as Value) : target;
  return optionalOf(findIndex(operand, index));
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
