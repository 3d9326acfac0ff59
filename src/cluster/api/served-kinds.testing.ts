import { createKindTable, type KindTable } from './discovery.ts';
import type { ServedKind } from './discovery-document.ts';

const all = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'];

function served(
  apiVersion: string,
  kind: string,
  resource: string,
  namespaced: boolean,
  subresources: readonly string[] = [],
  verbs: readonly string[] = all,
): ServedKind {
  const [first = '', second] = apiVersion.split('/');
  const [group, version] = second === undefined ? ['', first] : [first, second];
  return { group, version, kind, resource, namespaced, subresources, verbs };
}

/** The kinds that the API server of a small test cluster serves. */
export const smallCluster: KindTable = createKindTable([
  served('v1', 'Pod', 'pods', true, ['ephemeralcontainers', 'eviction', 'exec', 'log', 'status']),
  served('v1', 'ConfigMap', 'configmaps', true),
  served('v1', 'Namespace', 'namespaces', false, ['finalize', 'status']),
  served('v1', 'Node', 'nodes', false, ['status']),
  served('v1', 'Event', 'events', true),
  served('v1', 'ComponentStatus', 'componentstatuses', false, [], ['get', 'list']),
  served('apps/v1', 'Deployment', 'deployments', true, ['scale', 'status']),
  served('autoscaling/v2', 'HorizontalPodAutoscaler', 'horizontalpodautoscalers', true, ['status']),
  served('autoscaling/v1', 'HorizontalPodAutoscaler', 'horizontalpodautoscalers', true, ['status']),
  served('coordination.k8s.io/v1', 'Lease', 'leases', true),
  served('rbac.authorization.k8s.io/v1', 'ClusterRole', 'clusterroles', false),
  served('kyverno.io/v1', 'ClusterPolicy', 'clusterpolicies', false, ['status']),
  served('authentication.k8s.io/v1', 'TokenReview', 'tokenreviews', false, [], ['create']),
]);
