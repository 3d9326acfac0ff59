import { kindOf } from '../admission/resource-request.ts';
import { setMember } from '../json/edit.ts';
import { metadataOf } from '../json/metadata.ts';
import type { JsonObject } from '../json/value.ts';
import { clusterScopedKinds } from '../policy/cluster-scoped-kinds.ts';

export function nameOf(object: JsonObject): string {
  const { name, generateName } = metadataOf(object);
  if (typeof name === 'string' && name !== '') return name;
  return typeof generateName === 'string' ? generateName : '';
}

/** The namespace of an object: `default` if it has none, '' for a cluster-scoped kind. */
export function namespaceOf(object: JsonObject): string {
  const namespace = metadataOf(object)['namespace'];
  if (typeof namespace === 'string' && namespace !== '') return namespace;
  return isClusterScoped(object) ? '' : 'default';
}

export function isClusterScoped(object: JsonObject): boolean {
  return clusterScopedKinds.has(kindOf(object).kind);
}

/** The object with the default namespace, as kubectl would send it. */
export function withDefaultNamespace(object: JsonObject): JsonObject {
  const namespace = metadataOf(object)['namespace'];
  if ((typeof namespace === 'string' && namespace !== '') || isClusterScoped(object)) return object;
  return setMember(object, 'metadata', setMember(metadataOf(object), 'namespace', 'default'));
}

/** Removes a defaulted namespace, so that the output has a namespace only if the input has one. */
export function withoutDefaultNamespace(result: JsonObject, original: JsonObject): JsonObject {
  if (Object.hasOwn(metadataOf(original), 'namespace')) return result;
  const metadata = metadataOf(result);
  if (metadata['namespace'] !== 'default' || isClusterScoped(original)) return result;
  const { namespace: _, ...rest } = metadata;
  return setMember(result, 'metadata', rest);
}

/** `Pod default/web`, `ClusterRole admin`. */
export function titleOf(object: JsonObject): string {
  const namespace = namespaceOf(object);
  return `${kindOf(object).kind} ${namespace === '' ? '' : `${namespace}/`}${nameOf(object)}`;
}
