import type { KindTable } from '../api/discovery.ts';
import type { ResourceType } from '../api/resource-path.ts';

export interface WatchedKind {
  readonly kind: string;
  readonly type: ResourceType;
  /** Versions with the same fields, for clusters that do not serve the first one. */
  readonly otherVersions?: readonly string[] | undefined;
}

function watched(
  group: string,
  version: string,
  kind: string,
  resource: string,
  namespaced: boolean,
  otherVersions?: readonly string[],
): WatchedKind {
  return { kind, type: { group, version, resource, namespaced }, otherVersions };
}

const older = ['v1beta1', 'v1alpha1'];

/** The kinds of policies. Of two policies with the same name, the one of the earlier kind takes precedence. */
export const policyKinds: readonly WatchedKind[] = [
  watched('kyverno.io', 'v1', 'ClusterPolicy', 'clusterpolicies', false),
  watched('kyverno.io', 'v1', 'Policy', 'policies', true),
  watched('kymera.io', 'v1', 'ClusterPolicy', 'kymeraclusterpolicies', false),
  watched('kymera.io', 'v1', 'Policy', 'kymerapolicies', true),
  watched('policy.nirmata.io', 'v1alpha1', 'Policy', 'policies', false),
  watched('policies.kyverno.io', 'v1', 'MutatingPolicy', 'mutatingpolicies', false, older),
  watched('policies.kyverno.io', 'v1', 'NamespacedMutatingPolicy', 'namespacedmutatingpolicies', true, older),
];

/** For rules, and for CEL policies. */
export const exceptionKinds: readonly WatchedKind[] = [
  watched('kyverno.io', 'v2', 'PolicyException', 'policyexceptions', true, ['v2beta1']),
  watched('policies.kyverno.io', 'v1', 'PolicyException', 'policyexceptions', true, older),
];
export const globalContextKind = watched(
  'kyverno.io',
  'v2beta1',
  'GlobalContextEntry',
  'globalcontextentries',
  false,
);

/** The versions of a kind that Kymera reads, best first. */
export function readVersions({ type, otherVersions = [] }: WatchedKind): readonly string[] {
  return [type.version, ...otherVersions];
}

/** The resource of a kind in a version that the API server serves: the given one, if it still does. */
export function servedType(
  watched: WatchedKind,
  table: KindTable,
  preferred?: string | undefined,
): ResourceType | undefined {
  const known = readVersions(watched);
  return (preferred === undefined ? known : [preferred, ...known])
    .map((version) => ({ ...watched.type, version }))
    .find((type) => table.kindOfResource(type) !== undefined);
}
