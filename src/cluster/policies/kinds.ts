import type { ResourceType } from '../api/resource-path.ts';

export interface WatchedKind {
  readonly kind: string;
  readonly type: ResourceType;
}

function watched(
  group: string,
  version: string,
  kind: string,
  resource: string,
  namespaced: boolean,
): WatchedKind {
  return { kind, type: { group, version, resource, namespaced } };
}

/** The kinds of policies. Of two policies with the same name, the one of the earlier kind takes precedence. */
export const policyKinds: readonly WatchedKind[] = [
  watched('kyverno.io', 'v1', 'ClusterPolicy', 'clusterpolicies', false),
  watched('kyverno.io', 'v1', 'Policy', 'policies', true),
  watched('kymera.io', 'v1', 'ClusterPolicy', 'kymeraclusterpolicies', false),
  watched('kymera.io', 'v1', 'Policy', 'kymerapolicies', true),
  watched('policy.nirmata.io', 'v1alpha1', 'Policy', 'policies', false),
  watched('policies.kyverno.io', 'v1', 'MutatingPolicy', 'mutatingpolicies', false),
  watched('policies.kyverno.io', 'v1', 'NamespacedMutatingPolicy', 'namespacedmutatingpolicies', true),
];

/** For rules, and for CEL policies. */
export const exceptionKinds: readonly WatchedKind[] = [
  watched('kyverno.io', 'v2', 'PolicyException', 'policyexceptions', true),
  watched('policies.kyverno.io', 'v1', 'PolicyException', 'policyexceptions', true),
];
export const globalContextKind = watched(
  'kyverno.io',
  'v2beta1',
  'GlobalContextEntry',
  'globalcontextentries',
  false,
);
