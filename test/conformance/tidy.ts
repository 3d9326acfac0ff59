import { isArray, isObject, type Json, type JsonObject } from '../../src/json/value.ts';

/** Without nulls, empty maps and empty lists, at any depth. Undefined when nothing is left. */
export function tidy(value: Json): Json | undefined {
  if (value === null) return undefined;
  if (isArray(value)) {
    const items = value.map(tidy).filter((item) => item !== undefined);
    return items.length > 0 ? items : undefined;
  }
  if (!isObject(value)) return value;
  const entries = Object.entries(value).flatMap(([key, item]) => {
    const kept = tidy(item);
    return kept === undefined ? [] : [[key, kept] as const];
  });
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}

const clusterScoped = new Set([
  'Namespace',
  'Node',
  'PersistentVolume',
  'ClusterRole',
  'ClusterRoleBinding',
  'CustomResourceDefinition',
  'StorageClass',
  'PriorityClass',
  'CertificateSigningRequest',
]);

/** A namespaced object that names no namespace lives in `default`. */
export function withDefaultNamespace(object: JsonObject): JsonObject {
  const metadata = isObject(object['metadata']) ? object['metadata'] : {};
  if (clusterScoped.has(String(object['kind'])) || metadata['namespace']) return object;
  return { ...object, metadata: { ...metadata, namespace: 'default' } };
}
