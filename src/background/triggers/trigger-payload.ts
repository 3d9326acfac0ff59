import { Buffer } from 'node:buffer';
import { equal } from '../../json/equal.ts';
import { stringifyJson } from '../../json/json-text.ts';
import { readObject, readText } from '../../json/read-field.ts';
import { isArray, isObject, type Json, type JsonObject, member, type Path } from '../../json/value.ts';
import type { Operation } from '../../policy/compiled.ts';

/** The parts of the request's objects that a rule reads. */
export interface PayloadReads {
  readonly object: readonly Path[] | 'all';
  readonly oldObject: readonly Path[] | 'all';
}

export interface TriggerObjects {
  readonly operation: Operation;
  readonly subresource: string;
  readonly object: JsonObject | null;
  readonly oldObject: JsonObject | null;
}

export interface Payload {
  readonly object?: JsonObject;
  readonly oldObject?: JsonObject;
  /** The size, if the objects are too large to be stored. */
  readonly tooLarge?: number;
}

export const maxPayloadBytes = 512 * 1024;
/** Fields that identify an object, or that match blocks read. */
const identityPaths: readonly Path[] = [
  ['apiVersion'],
  ['kind'],
  ...['name', 'generateName', 'namespace', 'uid', 'resourceVersion', 'labels'].map((name) => [
    'metadata',
    name,
  ]),
];
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/**
 * The part of a request that must be stored until its rule runs: what the rule reads and cannot read again later. Created
 * and updated objects can be read again; old objects, subresource bodies and deleted objects cannot.
 */
export function payloadOf(request: TriggerObjects, reads: PayloadReads): Payload {
  const { operation, subresource, object, oldObject } = request;
  const kept: { object?: JsonObject; oldObject?: JsonObject } = {};
  if (operation === 'DELETE') {
    // On DELETE, `request.object` reads the old object.
    if (oldObject !== null) kept.oldObject = cut(oldObject, union(reads.object, reads.oldObject));
  } else {
    const isReadable = subresource === '' && operation !== 'CONNECT';
    if (!isReadable && object !== null) kept.object = cut(object, reads.object);
    if (oldObject !== null && (reads.oldObject === 'all' || reads.oldObject.length > 0))
      kept.oldObject = cut(oldObject, reads.oldObject);
  }
  const size = Buffer.byteLength(stringifyJson(kept));
  return size > maxPayloadBytes ? { tooLarge: size } : kept;
}

/** The resourceVersion before an update that changes something. It shows later whether the update was stored. */
export function oldVersionOf({ operation, object, oldObject }: TriggerObjects): string | undefined {
  if (operation !== 'UPDATE' || object === null || oldObject === null) return undefined;
  if (equal(withoutManagedFields(object), withoutManagedFields(oldObject))) return undefined;
  return readText(readObject(oldObject, 'metadata') ?? {}, 'resourceVersion');
}

function withoutManagedFields(object: JsonObject): JsonObject {
  const { managedFields: _, ...metadata } = readObject(object, 'metadata') ?? {};
  return { ...object, metadata };
}

function union(left: readonly Path[] | 'all', right: readonly Path[] | 'all'): readonly Path[] | 'all' {
  return left === 'all' || right === 'all' ? 'all' : [...left, ...right];
}

/** Reduces an object to these paths and its identity. Lists on a path are kept whole. */
export function cut(object: JsonObject, paths: readonly Path[] | 'all'): JsonObject {
  if (paths === 'all') return withoutLastApplied(withoutManagedFields(object));
  const kept = keep(object, [...identityPaths, ...paths]);
  const isNamed = paths.some((path) => path.includes(lastApplied));
  return isObject(kept) ? (isNamed ? kept : withoutLastApplied(kept)) : {};
}

function keep(value: Json, paths: readonly Path[]): Json {
  if (isArray(value) || !isObject(value) || paths.some((path) => path.length === 0)) return value;
  const byName = new Map<string, Path[]>();
  for (const [first, ...rest] of paths) {
    const name = String(first);
    byName.set(name, [...(byName.get(name) ?? []), rest]);
  }
  const entries = [...byName].flatMap(([name, rest]) => {
    const inner = member(value, name);
    return inner === undefined ? [] : [[name, keep(inner, rest)] as const];
  });
  return Object.fromEntries(entries);
}

/** This annotation repeats the whole object, including Secret values. */
function withoutLastApplied(object: JsonObject): JsonObject {
  const metadata = readObject(object, 'metadata');
  const annotations = readObject(metadata ?? {}, 'annotations');
  if (annotations === undefined || !Object.hasOwn(annotations, lastApplied)) return object;
  const { [lastApplied]: _, ...rest } = annotations;
  return { ...object, metadata: { ...metadata, annotations: rest } };
}
