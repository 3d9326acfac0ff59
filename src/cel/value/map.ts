import { countMembers } from '../../json/value.ts';
import { IntegralDouble, SpecialValue, Uint, type Value, type ValueObject } from './value.ts';

/** A map with keys other than strings. Numeric keys are equal when their values are, whatever their type. */
export class CelMap extends SpecialValue {
  readonly typeName = 'map';
  readonly entries: ReadonlyMap<string, readonly [Value, Value]>;
  constructor(entries: ReadonlyMap<string, readonly [Value, Value]>) {
    super();
    this.entries = entries;
  }
}

/** A string that is the same for equal keys; undefined for a value that is no key. */
export function keyIdentity(key: Value): string | undefined {
  switch (typeof key) {
    case 'string':
      return `s${key}`;
    case 'boolean':
      return `b${key}`;
    case 'number':
      return Number.isInteger(key) ? `n${BigInt(key)}` : `d${key}`;
    case 'bigint':
      return `n${key}`;
    default:
  }
  if (key instanceof Uint) return `n${key.value}`;
  if (key instanceof IntegralDouble) return `n${key.value}`;
  return undefined;
}

/** The shortest form of a map: a plain object when all keys are strings. */
export function mapOf(entries: ReadonlyMap<string, readonly [Value, Value]>): ValueObject | CelMap {
  for (const identity of entries.keys()) if (!identity.startsWith('s')) return new CelMap(entries);
  const object: Record<string, Value> = {};
  for (const [key, value] of entries.values()) setField(object, key as string, value);
  return object;
}

/** Sets an own member; `__proto__` is a key like any other. */
export function setField(object: Record<string, Value>, key: string, value: Value): void {
  if (key === '__proto__') {
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  } else {
    object[key] = value;
  }
}

export function mapGet(map: ValueObject | CelMap, key: Value): Value | undefined {
  if (map instanceof CelMap) {
    const identity = keyIdentity(key);
    return identity === undefined ? undefined : map.entries.get(identity)?.[1];
  }
  return typeof key === 'string' && Object.hasOwn(map, key) ? map[key] : undefined;
}

export function mapSize(map: ValueObject | CelMap): number {
  return map instanceof CelMap ? map.entries.size : countMembers(map);
}

export function mapKeys(map: ValueObject | CelMap): readonly Value[] {
  return map instanceof CelMap ? Array.from(map.entries.values(), ([key]) => key) : Object.keys(map);
}

export function mapEntries(map: ValueObject | CelMap): readonly (readonly [Value, Value])[] {
  return map instanceof CelMap ? Array.from(map.entries.values()) : Object.entries(map);
}

/** Whether the value can index a list: an int, or a uint or double with an integral value. */
export function listIndex(index: Value): number | undefined {
  if (typeof index === 'number') return Number.isSafeInteger(index) ? index : undefined;
  if (index instanceof IntegralDouble) return index.value;
  if (index instanceof Uint) return Number(index.value);
  return typeof index === 'bigint' ? Number(index) : undefined;
}
