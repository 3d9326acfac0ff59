import type { CelScope } from '../../src/cel/compile/closure.ts';
import { isInteger, toBigInt } from '../../src/cel/value/integer.ts';
import { doubleNumber, isDouble, isList, isMap } from '../../src/cel/value/kinds.ts';
import { CelMap, mapEntries } from '../../src/cel/value/map.ts';
import { formatDouble, formatTimestamp } from '../../src/cel/value/text.ts';
import {
  Bytes,
  Duration,
  Optional,
  StructValue,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from '../../src/cel/value/value.ts';
import { formatDuration } from '../../src/expression/duration.ts';
import { encodeBase64 } from '../../src/expression/functions/base64.ts';

export function testScope(lookup: (name: string) => Value | undefined): CelScope {
  return {
    lookup,
    effects: { now: () => new Date('2026-01-02T03:04:05Z'), random: () => 0.5 },
  };
}

/** A value as JSON that keeps its type: plain for null, bool, small ints, strings, lists and string-keyed maps. */
export function describeValue(value: Value): unknown {
  if (isDouble(value)) return { $double: formatDouble(doubleNumber(value)) };
  if (isInteger(value)) return typeof value === 'number' ? value : { $int: toBigInt(value).toString() };
  if (isList(value)) return value.map(describeValue);
  if (value instanceof CelMap) {
    return { $map: mapEntries(value).map(([key, item]) => [describeValue(key), describeValue(item)]) };
  }
  if (isMap(value))
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, describeValue(item)]));
  if (value instanceof Uint) return { $uint: value.value.toString() };
  if (value instanceof Bytes) return { $bytes: encodeBase64(value.data) };
  if (value instanceof Timestamp) return { $timestamp: formatTimestamp(value) };
  if (value instanceof Duration) return { $duration: formatDuration(value.nanoseconds) };
  if (value instanceof TypeValue) return { $type: value.name };
  if (value instanceof Optional)
    return { $optional: value.value === undefined ? [] : [describeValue(value.value)] };
  if (value instanceof StructValue) return describeStruct(value);
  return value;
}

function describeStruct(value: StructValue): unknown {
  const fields = describeValue(value.fields);
  return value.typeName === 'JSONPatch'
    ? { $jsonpatch: fields }
    : { $object: value.typeName, value: plainStructs(fields) };
}

/** Inner structs of an object show as plain objects. */
function plainStructs(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plainStructs);
  if (typeof value !== 'object' || value === null) return value;
  if ('$object' in value && 'value' in value) return value.value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plainStructs(item)]));
}
