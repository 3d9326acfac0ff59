/** Where the server keeps its things when it runs outside a cluster. */
export const defaultNamespace = 'kymera';

/** Names of the objects in the cluster. They never equal those of Kyverno, so that both can be installed. */
export const mutatingConfigurationName = 'kymera-resource-mutation';
export const validatingConfigurationName = 'kymera-policy-validation';
/** Requests that set off rules which act in the background. */
export const triggerConfigurationName = 'kymera-resource-triggers';

/** On every object that belongs to this installation. */
export const managedLabels = { 'app.kubernetes.io/managed-by': 'kymera' } as const;
export const managedSelector = 'app.kubernetes.io/managed-by=kymera';

/** Under which the API server records what this program writes; it never changes. */
export const fieldManager = 'kymera';

export type FailureGroup = 'fail' | 'ignore';

type Verb = 'mutate' | 'validate';

export function sharedEntryName(group: FailureGroup, verb: Verb = 'mutate'): string {
  return `${group}.${verb}.kymera.io`;
}

/** For policies of namespaces, which have an entry where no other asks for the same; called by the first of them. */
export function namespacesEntryName(namespace: string, group: FailureGroup, verb: Verb = 'mutate'): string {
  return `${namespace}.namespace.${group}.${verb}.kymera.io`;
}

/** A fully qualified name; names of policies have at most 63 characters, so it fits. */
export function policyEntryName(key: string, group: FailureGroup, verb: Verb = 'mutate'): string {
  const [first = '', second] = key.split('/');
  const name = second === undefined ? `${first}.cluster-policy` : `${second}.${first}.policy`;
  return `${name}.${group}.${verb}.kymera.io`;
}

export function sharedPath(group: FailureGroup, verb: Verb = 'mutate'): string {
  return `/${verb}/${group}`;
}

export function policyPath(key: string, group: FailureGroup, verb: Verb = 'mutate'): string {
  return `/${verb}/${group}/finegrained/${key}`;
}

export const policyReviewPath = '/policyvalidate';
