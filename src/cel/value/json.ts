import { encodeBase64 } from '../../expression/functions/base64.ts';
import { spendList, spendText } from '../../json/budget.ts';
import { assignMember, copyMembers } from '../../json/edit.ts';
import { jsonInteger } from '../../json/json-text.ts';
import type { Json, JsonArray, JsonObject } from '../../json/value.ts';
import { CelError } from './error.ts';
import { isInteger } from './integer.ts';
import { doubleNumber, isDouble, isList, isPlainObject, typeNameOf } from './kinds.ts';
import { CelMap, mapSize } from './map.ts';
import { RepeatedObject } from './repeated.ts';
import { formatSeconds, formatTimestamp } from './text.ts';
import { Bytes, Duration, StructValue, Timestamp, Uint, type Value, type ValueObject } from './value.ts';

/**
 * A value as JSON: bytes as base64, timestamps and durations as strings. Parts that are JSON already are not copied. Throws CelError for what has no JSON form.
 */
export function toJson(value: Value): Json {
  if (typeof value === 'string') {
    spendText(value.length);
    return value;
  }
  if (value === null || typeof value === 'boolean') return value;
  if (isInteger(value)) return value;
  if (isDouble(value)) return finite(doubleNumber(value));
  if (isList(value)) return listToJson(value);
  if (isPlainObject(value)) return mapToJson(value);
  if (value instanceof StructValue) return structToJson(value);
  if (value instanceof Uint) return jsonInteger(value.value);
  if (value instanceof Bytes) return encodeBase64(value.data);
  if (value instanceof Timestamp) return formatTimestamp(value);
  if (value instanceof Duration) return formatSeconds(value);
  if (!(value instanceof CelMap))
    throw new CelError(`a value of type ${typeNameOf(value)} cannot be converted to JSON`);
  const object: Record<string, Json> = {};
  spendList(value.entries.size);
  for (const [key, item] of value.entries.values()) {
    if (typeof key !== 'string') throw new CelError(`map key of type ${typeNameOf(key)} is not a string`);
    assignMember(object, key, toJson(item));
  }
  return object;
}

/** Values may share parts with themselves, so that a small one stands for a huge one: a step for each item. */
function listToJson(list: readonly Value[]): JsonArray {
  spendList(list.length);
  let copy: Json[] | undefined;
  for (let index = 0; index < list.length; index++) {
    const item = list[index] as Value;
    const json = toJson(item);
    if (json === item) continue;
    copy ??= [...list] as Json[];
    copy[index] = json;
  }
  return copy ?? (list as JsonArray);
}

function mapToJson(map: ValueObject): JsonObject {
  spendList(mapSize(map));
  let copy: Record<string, Json> | undefined;
  for (const key in map) {
    const item = map[key] as Value;
    const json = toJson(item);
    if (json === item) continue;
    copy ??= copyMembers(map as JsonObject);
    assignMember(copy, key, json);
  }
  return copy ?? (map as JsonObject);
}

function structToJson({ shape, values }: StructValue): JsonObject {
  spendList(values.length);
  shape.json ??= new RepeatedObject((members) => structMembers(shape.names, members));
  return shape.json.with(values) as JsonObject;
}

function structMembers(names: readonly string[], values: readonly (Value | undefined)[]): JsonObject {
  const object: Record<string, Json> = {};
  for (let index = 0; index < names.length; index++) {
    const value = values[index];
    if (value !== undefined) assignMember(object, names[index] as string, toJson(value));
  }
  return object;
}

function finite(value: number): number {
  if (Number.isFinite(value)) return value;
  throw new CelError(`${value} cannot be converted to JSON`);
}
