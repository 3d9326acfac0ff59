import { clusterScopedKinds } from '../policy/cluster-scoped-kinds.ts';

/** Whether a resource of this kind is known to have no namespace. Unknown kinds count as namespaced. */
export function isClusterScoped(id: { readonly group: string; readonly kind: string }): boolean {
  return clusterScopedKinds.has(id.kind);
}
