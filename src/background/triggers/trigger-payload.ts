import { Buffer } from 'node:buffer';
import { equal } from '../../json/equal.ts';
import { readObject, readText } from '../../json/read-field.ts';
import { isArray, isObject, type Json, type JsonObject, member, type Path } from '../../json/value.ts';
import type { Operation } from '../../policy/compiled.ts';

/** Which parts of the objects of a request a rule reads. */
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
  /** In place of objects that are larger than what is stored. */
  readonly tooLarge?: number;
}

export const largestPayload = 512 * 1024;
/** What match blocks look at; and what tells one object from another. */
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
 * What has to be kept of a request until its rule runs: only what the rule reads and what cannot be read again. An object that is
 * created or updated can be; its old form, the body of a subresource and what is deleted cannot.
 */
export function payloadOf(request: TriggerObjects, reads: PayloadReads): Payload {
  const { operation, subresource, object, oldObject } = request;
  const kept: { object?: JsonObject; oldObject?: JsonObject } = {};
  if (operation === 'DELETE') {
    // Variables that name the object read the old one then.
    if (oldObject !== null) kept.oldObject = cut(oldObject, union(reads.object, reads.oldObject));
  } else {
    const isReadable = subresource === '' && operation !== 'CONNECT';
    if (!isReadable && object !== null) kept.object = cut(object, reads.object);
    if (oldObject !== null && (reads.oldObject === 'all' || reads.oldObject.length > 0))
      kept.oldObject = cut(oldObject, reads.oldObject);
  }
  const size = Buffer.byteLength(JSON.stringify(kept));
  return size > largestPayload ? { tooLarge: size } : kept;
}

/** The version before the request, when the request changes something: it tells later whether the request was carried out. */
export function oldVersionOf({ operation, object, oldObject }: TriggerObjects): string | undefined {
  if (operation !== 'UPDATE' || object === null || oldObject === null) return undefined;
  if (equal(withoutUpkeep(object), withoutUpkeep(oldObject))) return undefined;
  return readText(readObject(oldObject, 'metadata') ?? {}, 'resourceVersion');
}

function withoutUpkeep(object: JsonObject): JsonObject {
  const { managedFields: _, ...metadata } = readObject(object, 'metadata') ?? {};
  return { ...object, metadata };
}

function union(left: readonly Path[] | 'all', right: readonly Path[] | 'all'): readonly Path[] | 'all' {
  return left === 'all' || right === 'all' ? 'all' : [...left, ...right];
}

/** The object with nothing in it but the paths and what it is; of a list that a path leads into, everything. */
export function cut(object: JsonObject, paths: readonly Path[] | 'all'): JsonObject {
  if (paths === 'all') return withoutLastApplied(withoutUpkeep(object));
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

/** It holds the whole object once more, the values of a Secret too. */
function withoutLastApplied(object: JsonObject): JsonObject {
  const metadata = readObject(object, 'metadata');
  const annotations = readObject(metadata ?? {}, 'annotations');
  if (annotations === undefined || !Object.hasOwn(annotations, lastApplied)) return object;
  const { [lastApplied]: _, ...rest } = annotations;
  return { ...object, metadata: { ...metadata, annotations: rest } };
}
