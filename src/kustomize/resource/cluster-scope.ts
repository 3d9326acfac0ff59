/**
 * Cluster-scoped kinds known to kustomize, by group. As in kustomize, newer and custom kinds count as namespaced.
 */
const clusterScoped: Readonly<Record<string, { versions: readonly string[]; kinds: readonly string[] }>> = {
  '': { versions: ['v1'], kinds: ['ComponentStatus', 'Namespace', 'Node', 'PersistentVolume'] },
  'admissionregistration.k8s.io': {
    versions: ['v1', 'v1beta1'],
    kinds: ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'],
  },
  'apiextensions.k8s.io': { versions: ['v1', 'v1beta1'], kinds: ['CustomResourceDefinition'] },
  'apiregistration.k8s.io': { versions: ['v1', 'v1beta1'], kinds: ['APIService'] },
  'certificates.k8s.io': { versions: ['v1', 'v1beta1'], kinds: ['CertificateSigningRequest'] },
  'flowcontrol.apiserver.k8s.io': {
    versions: ['v1beta1'],
    kinds: ['FlowSchema', 'PriorityLevelConfiguration'],
  },
  'networking.k8s.io': { versions: ['v1', 'v1beta1'], kinds: ['IngressClass'] },
  'node.k8s.io': { versions: ['v1', 'v1beta1'], kinds: ['RuntimeClass'] },
  policy: { versions: ['v1beta1'], kinds: ['PodSecurityPolicy'] },
  'rbac.authorization.k8s.io': {
    versions: ['v1', 'v1beta1'],
    kinds: ['ClusterRole', 'ClusterRoleBinding'],
  },
  'scheduling.k8s.io': { versions: ['v1', 'v1beta1'], kinds: ['PriorityClass'] },
  'storage.k8s.io': {
    versions: ['v1', 'v1beta1'],
    kinds: ['CSIDriver', 'CSINode', 'StorageClass', 'VolumeAttachment'],
  },
};

const clusterScopedKeys: ReadonlySet<string> = new Set(
  Object.entries(clusterScoped).flatMap(([group, { versions, kinds }]) =>
    versions.flatMap((version) => kinds.map((kind) => `${group}/${version}/${kind}`)),
  ),
);
const clusterScopedNames = new Set(Object.values(clusterScoped).flatMap(({ kinds }) => kinds));

export function isClusterScoped(id: {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}): boolean {
  return clusterScopedNames.has(id.kind) && clusterScopedKeys.has(`${id.group}/${id.version}/${id.kind}`);
}
