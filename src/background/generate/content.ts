import { Buffer } from 'node:buffer';
import { metadataOf } from '../../json/metadata.ts';
import { readObject, readTextMap } from '../../json/read-field.ts';
import { isObject, type Json, type JsonObject } from '../../json/value.ts';
import { asDeclared, declaredSchema } from '../../patch/structured/declared.ts';
import { addLabels, refOf } from '../object-identity.ts';
import type { ObjectRef } from '../ports.ts';
import { labelPrefix, sourceLabels } from './labels.ts';

/** Metadata that only the API server sets. */
const serverFields = [
  'uid',
  'selfLink',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'managedFields',
  'resourceVersion',
  'generation',
] as const;

/** Builds the object from `data`. */
export function objectFromData(data: JsonObject, ref: ObjectRef): JsonObject {
  const object = named(withoutServerFields(data), ref);
  return withPlainSecret(asDeclared(object, declaredSchema(object)) as JsonObject, ref);
}

/** Copies an object under another name. Owner references are only valid in the namespace of the source. */
export function objectFromSource(source: JsonObject, ref: ObjectRef): JsonObject {
  const { status: _, ...rest } = source;
  const copy = withoutServerFields(rest);
  const { ownerReferences, labels, ...metadata } = metadataOf(copy);
  const from = refOf(source);
  const owned = ownerReferences !== undefined && from.namespace === ref.namespace;
  const clean = {
    ...copy,
    metadata: { ...metadata, labels: ownLabels(labels), ...(owned ? { ownerReferences } : {}) },
  };
  return named(addLabels(clean, sourceLabels(from)), ref);
}

/** A source may itself be generated. Its own generate labels do not apply to the copy. */
function ownLabels(labels: Json | undefined): JsonObject {
  if (!isObject(labels)) return {};
  return Object.fromEntries(Object.entries(labels).filter(([key]) => !key.startsWith(labelPrefix)));
}

function named(object: JsonObject, { apiVersion, kind, namespace, name }: ObjectRef): JsonObject {
  const { apiVersion: _, kind: __, metadata: ___, ...content } = object;
  const { name: ____, namespace: _____, generateName: ______, ...metadata } = metadataOf(object);
  return {
    apiVersion,
    kind,
    metadata: { name, ...(namespace === '' ? {} : { namespace }), ...metadata },
    ...content,
  };
}

function withoutServerFields(object: JsonObject): JsonObject {
  const metadata = readObject(object, 'metadata');
  if (metadata === undefined) return object;
  const kept = Object.entries(metadata).filter(([key]) => !(serverFields as readonly string[]).includes(key));
  return { ...object, metadata: Object.fromEntries(kept) };
}

/** The API server converts stringData to data, so the desired Secret must use data to compare equal. */
function withPlainSecret(object: JsonObject, { apiVersion, kind }: ObjectRef): JsonObject {
  if (apiVersion !== 'v1' || kind !== 'Secret' || !isObject(object['stringData'])) return object;
  const { stringData: _, ...rest } = object;
  const encoded = Object.entries(readTextMap(object, 'stringData')).map(([key, text]) => [
    key,
    Buffer.from(text, 'utf8').toString('base64'),
  ]);
  return { ...rest, data: { ...(readObject(object, 'data') ?? {}), ...Object.fromEntries(encoded) } };
}

/** The existing object with the desired content. Server fields, finalizers, owner references and status are kept. */
export function replaced(existing: JsonObject, wanted: JsonObject): JsonObject {
  const old = metadataOf(existing);
  const kept: Record<string, Json> = {};
  for (const field of [...serverFields, 'finalizers', 'ownerReferences']) {
    const value = old[field];
    if (value !== undefined) kept[field] = value;
  }
  const status = existing['status'];
  return {
    ...wanted,
    metadata: { ...kept, ...metadataOf(wanted) },
    ...(status === undefined ? {} : { status }),
  };
}
