import { encodeBase64 } from '../../expression/functions/base64.ts';
import { spendList, spendText } from '../../json/budget.ts';
import { assignMember } from '../../json/edit.ts';
import { jsonInteger } from '../../json/json-text.ts';
import type { Json } from '../../json/value.ts';
import { CelError } from './error.ts';
import { isInteger } from './integer.ts';
import { doubleNumber, isDouble, isList, isMap, isPlainObject, typeNameOf } from './kinds.ts';
import { mapEntries, mapSize } from './map.ts';
import { formatSeconds, formatTimestamp } from './text.ts';
import { Bytes, Duration, StructValue, Timestamp, Uint, type Value } from './value.ts';

/** A value as JSON: bytes as base64, timestamps and durations as strings. Throws CelError for what has no JSON form. */
export function toJson(value: Value): Json {
  if (typeof value === 'string') {
    spendText(value.length);
    return value;
  }
  if (value === null || typeof value === 'boolean') return value;
  if (isInteger(value)) return value;
  if (isDouble(value)) return finite(doubleNumber(value));
  if (isList(value)) {
    // Values may share parts with themselves, so that a small one stands for a huge one.
    spendList(value.length);
    return value.map(toJson);
  }
  if (value instanceof StructValue) return toJson(value.fields);
  if (value instanceof Uint) return jsonInteger(value.value);
  if (value instanceof Bytes) return encodeBase64(value.data);
  if (value instanceof Timestamp) return formatTimestamp(value);
  if (value instanceof Duration) return formatSeconds(value);
  if (!isMap(value)) throw new CelError(`a value of type ${typeNameOf(value)} cannot be converted to JSON`);
  const object: Record<string, Json> = {};
  if (isPlainObject(value)) {
    spendList(mapSize(value));
    for (const key in value) assignMember(object, key, toJson(value[key] as Value));
    return object;
  }
  const entries = mapEntries(value);
  spendList(entries.length);
  for (const [key, item] of entries) {
    if (typeof key !== 'string') throw new CelError(`map key of type ${typeNameOf(key)} is not a string`);
    assignMember(object, key, toJson(item));
  }
  return object;
}

function finite(value: number): number {
  if (Number.isFinite(value)) return value;
  throw new CelError(`${value} cannot be converted to JSON`);
}
