import { metadataOf } from '../json/metadata.ts';
import { readObject, readText, readTextMap } from '../json/read-field.ts';
import type { JsonObject } from '../json/value.ts';
import type { ObjectRef } from './ports.ts';

/** Labels whose values are strings; files may contain others. */
export function stringLabelsOf(object: JsonObject): Readonly<Record<string, string>> {
  return readTextMap(metadataOf(object), 'labels');
}

/** The reference to an object, from its own fields. */
export function refOf(object: JsonObject): ObjectRef {
  const metadata = metadataOf(object);
  const uid = readText(metadata, 'uid');
  return {
    apiVersion: readText(object, 'apiVersion') ?? '',
    kind: readText(object, 'kind') ?? '',
    namespace: readText(metadata, 'namespace') ?? '',
    name: readText(metadata, 'name') ?? '',
    uid: uid === '' ? undefined : uid,
  };
}

/** Equal for two references to one object, with or without uid. */
export function refKey({ apiVersion, kind, namespace, name, subresource = '' }: ObjectRef): string {
  return JSON.stringify([apiVersion, kind, namespace, name, subresource]);
}

/** `Secret ns/name`, for messages. */
export function refTitle({ kind, namespace, name, subresource = '' }: ObjectRef): string {
  const part = subresource === '' ? '' : `/${subresource}`;
  return `${kind}${part} ${namespace === '' ? '' : `${namespace}/`}${name}`;
}

export function groupVersionOf(apiVersion: string): { readonly group: string; readonly version: string } {
  const slash = apiVersion.indexOf('/');
  return { group: apiVersion.slice(0, Math.max(slash, 0)), version: apiVersion.slice(slash + 1) };
}

/** Adds labels. Existing labels are kept as written, even if they are not strings. */
export function addLabels(object: JsonObject, labels: Readonly<Record<string, string>>): JsonObject {
  const metadata = metadataOf(object);
  return { ...object, metadata: { ...metadata, labels: { ...readObject(metadata, 'labels'), ...labels } } };
}
