import type { JsonObject } from '../../json/value.ts';
import type { AccessVerb, NeededAccess } from './needed-access.ts';

/** ClusterRoles with this label are aggregated into the role of the background controller. */
export const aggregationLabel = 'rbac.kymera.io/aggregate-to-background-controller';

const verbOrder: readonly AccessVerb[] = ['get', 'list', 'watch', 'create', 'patch', 'delete'];

/** Builds a ClusterRole that grants exactly this access. Resources with the same verbs share a rule. */
export function clusterRoleFor(name: string, needed: readonly NeededAccess[]): JsonObject {
  const verbsByResource = new Map<string, { group: string; resource: string; verbs: Set<AccessVerb> }>();
  for (const { group, resource, subresource, verb } of needed) {
    const path = subresource === '' ? resource : `${resource}/${subresource}`;
    const key = `${group}/${path}`;
    const known = verbsByResource.get(key) ?? { group, resource: path, verbs: new Set() };
    known.verbs.add(verb);
    verbsByResource.set(key, known);
  }
  const rules = new Map<string, { group: string; resources: string[]; verbs: readonly AccessVerb[] }>();
  for (const { group, resource, verbs } of verbsByResource.values()) {
    const ordered = verbOrder.filter((verb) => verbs.has(verb));
    const key = `${group} ${ordered.join(' ')}`;
    const rule = rules.get(key) ?? { group, resources: [], verbs: ordered };
    rule.resources.push(resource);
    rules.set(key, rule);
  }
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name, labels: { [aggregationLabel]: 'true' } },
    rules: [...rules.values()].map(({ group, resources, verbs }) => ({
      apiGroups: [group],
      resources: resources.toSorted(),
      verbs,
    })),
  };
}
