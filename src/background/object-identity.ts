import { metadataOf } from '../json/metadata.ts';
import { readObject, readText, readTextMap } from '../json/read-field.ts';
import type { JsonObject } from '../json/value.ts';
import type { ObjectRef } from './ports.ts';

export function labelsOf(object: JsonObject): Readonly<Record<string, string>> {
  return readTextMap(metadataOf(object), 'labels');
}

/** What an object is, by its own words. */
export function refOf(object: JsonObject): ObjectRef {
  const metadata = metadataOf(object);
  const uid = readText(metadata, 'uid');
  return {
    apiVersion: readText(object, 'apiVersion') ?? '',
    kind: readText(object, 'kind') ?? '',
    namespace: readText(metadata, 'namespace') ?? '',
    name: readText(metadata, 'name') ?? '',
    ...(uid === undefined || uid === '' ? {} : { uid }),
  };
}

/** The same for two references to one object, whether or not they know its uid. */
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

/** With more labels; what is among them already stays as it is written, even where it is no text. */
export function addLabels(object: JsonObject, labels: Readonly<Record<string, string>>): JsonObject {
  const metadata = metadataOf(object);
  return { ...object, metadata: { ...metadata, labels: { ...readObject(metadata, 'labels'), ...labels } } };
}
