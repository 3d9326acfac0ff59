import { hasWildcard } from '../expression/wildcard.ts';
import { readObject, readText } from '../json/read-field.ts';
import type { JsonObject } from '../json/value.ts';
import { mergeKinds } from '../patch/generated/merge-types.ts';

/** Built-in kinds without a namespace. Custom kinds are known only to a cluster. */
export const clusterScopedKinds: ReadonlySet<string> = new Set([
  'APIService',
  'CertificateSigningRequest',
  'ClusterPolicy',
  'ClusterRole',
  'ClusterRoleBinding',
  'ClusterTrustBundle',
  'ComponentStatus',
  'CSIDriver',
  'CSINode',
  'CustomResourceDefinition',
  'DeviceClass',
  'FlowSchema',
  'IngressClass',
  'IPAddress',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionPolicyBinding',
  'MutatingWebhookConfiguration',
  'Namespace',
  'Node',
  'PersistentVolume',
  'PriorityClass',
  'PriorityLevelConfiguration',
  'ResourceSlice',
  'RuntimeClass',
  'SelfSubjectAccessReview',
  'SelfSubjectReview',
  'SelfSubjectRulesReview',
  'ServiceCIDR',
  'StorageClass',
  'StorageVersion',
  'StorageVersionMigration',
  'SubjectAccessReview',
  'TokenReview',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
  'ValidatingWebhookConfiguration',
  'VolumeAttachment',
  'VolumeAttributesClass',
]);

/**
 * The scope of a kind without a cluster. Custom kinds have the scope of their CustomResourceDefinition, if it is given; otherwise they
 * count as namespaced, because most are. Unknown kinds of the core group are undefined.
 */
export function isNamespacedKind(
  apiVersion: string,
  kind: string,
  definitions: Iterable<JsonObject> = [],
): boolean | undefined {
  const slash = apiVersion.indexOf('/');
  const group = slash < 0 ? '' : apiVersion.slice(0, slash);
  const isAny = apiVersion === '' || hasWildcard(apiVersion);
  for (const definition of definitions) {
    const spec = readObject(definition, 'spec') ?? {};
    if (readText(readObject(spec, 'names') ?? {}, 'kind') !== kind) continue;
    if (isAny || readText(spec, 'group') === group) return readText(spec, 'scope') === 'Namespaced';
  }
  if (clusterScopedKinds.has(kind)) return false;
  return isAny || slash >= 0 || Object.hasOwn(mergeKinds, `${apiVersion}/${kind}`) ? true : undefined;
}
