/** Where the server keeps its things when it runs outside a cluster. */
export const defaultNamespace = 'kymera';

/** Names of the objects in the cluster. They never equal those of Kyverno, so that both can be installed. */
export const mutatingConfigurationName = 'kymera-resource-mutation';
export const validatingConfigurationName = 'kymera-policy-validation';

/** On every object that belongs to this installation. */
export const managedLabels = { 'app.kubernetes.io/managed-by': 'kymera' } as const;
export const managedSelector = 'app.kubernetes.io/managed-by=kymera';

export type FailureGroup = 'fail' | 'ignore';

export function sharedEntryName(group: FailureGroup): string {
  return `${group}.mutate.kymera.io`;
}

/** A fully qualified name; names of policies have at most 63 characters, so it fits. */
export function policyEntryName(key: string, group: FailureGroup): string {
  const [first = '', second] = key.split('/');
  const name = second === undefined ? `${first}.cluster-policy` : `${second}.${first}.policy`;
  return `${name}.${group}.mutate.kymera.io`;
}

export function sharedPath(group: FailureGroup): string {
  return `/mutate/${group}`;
}

export function policyPath(key: string, group: FailureGroup): string {
  return `/mutate/${group}/finegrained/${key}`;
}

export const policyReviewPath = '/policyvalidate';
