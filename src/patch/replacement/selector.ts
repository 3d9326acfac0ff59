import { metadataOf } from '../../json/metadata.ts';
import { isObject, type JsonObject, member } from '../../json/value.ts';

/** The identity that selectors compare. */
export interface ResourceId {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
}

export const idFields = ['group', 'version', 'kind', 'name', 'namespace'] as const;
export type IdField = (typeof idFields)[number];

/** A resource with all its identities: the current one, and in a kustomize build the previous ones. */
export interface Identified {
  readonly ids: readonly ResourceId[];
  readonly object: JsonObject;
}

/** Selects the source object. An absent field matches anything; others are exact strings or `*`/`?` wildcards. */
export interface SourceSelector {
  readonly group?: string | undefined;
  readonly version?: string | undefined;
  readonly kind?: string | undefined;
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
}

export function idOf(object: JsonObject): ResourceId {
  const apiVersion = textAt(object, 'apiVersion');
  const slash = apiVersion.indexOf('/');
  const metadata = metadataOf(object);
  return {
    group: slash < 0 ? '' : apiVersion.slice(0, slash),
    version: apiVersion.slice(slash + 1),
    kind: textAt(object, 'kind'),
    name: textAt(metadata, 'name'),
    namespace: textAt(metadata, 'namespace'),
  };
}

/** An object without a namespace is in `default`. */
export function effectiveId(object: JsonObject): ResourceId {
  const id = idOf(object);
  return id.namespace === '' ? { ...id, namespace: 'default' } : id;
}

export function labelsOf(object: JsonObject, which: 'labels' | 'annotations'): JsonObject {
  const labels = member(metadataOf(object), which);
  return isObject(labels) ? labels : {};
}

export function describeSelector(selector: SourceSelector | JsonObject): string {
  const fields = Object.entries(selector).map(([field, text]) => `${field}: ${String(text)}`);
  return `{${fields.join(', ')}}`;
}

function textAt(object: JsonObject, key: string): string {
  const value = member(object, key);
  return typeof value === 'string' ? value : '';
}
