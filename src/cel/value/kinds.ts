import { CelMap } from './map.ts';
import { IntegralDouble, SpecialValue, type Value, type ValueObject } from './value.ts';

/** Whether the value is a map with string keys, in JSON's form. */
export function isPlainObject(value: Value): value is ValueObject {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof SpecialValue)
  );
}

export function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}

export function isMap(value: Value): value is ValueObject | CelMap {
  return value instanceof CelMap || isPlainObject(value);
}

export function isDouble(value: Value): value is number | IntegralDouble {
  return typeof value === 'number' ? !Number.isSafeInteger(value) : value instanceof IntegralDouble;
}

export function doubleOf(value: number): Value {
  return Number.isSafeInteger(value) ? new IntegralDouble(value) : value;
}

/** The number behind a double. */
export function doubleNumber(value: number | IntegralDouble): number {
  return typeof value === 'number' ? value : value.value;
}

/** The name that `type(value)` gives. */
export function typeNameOf(value: Value): string {
  if (value === null) return 'null_type';
  switch (typeof value) {
    case 'boolean':
      return 'bool';
    case 'string':
      return 'string';
    case 'number':
      return Number.isSafeInteger(value) ? 'int' : 'double';
    case 'bigint':
      return 'int';
    default:
  }
  if (isList(value)) return 'list';
  return value instanceof SpecialValue ? value.typeName : 'map';
}
