import type { CompiledPolicy, PolicyKind } from './compiled.ts';

/** Policies of these kinds may have the name of a ClusterPolicy or Policy. Names of objects contain no colon. */
const prefixes: Partial<Record<PolicyKind, string>> = {
  MutatingPolicy: 'mpol:',
  NamespacedMutatingPolicy: 'nmpol:',
  MutatingAdmissionPolicy: 'map:',
};

/** Identifies a policy among the policies of all kinds: `NAME`, `NAMESPACE/NAME`, `mpol:NAME`, `nmpol:NAMESPACE/NAME`. */
export function policyId({ kind, key }: Pick<CompiledPolicy, 'kind' | 'key'>): string {
  return `${prefixes[kind] ?? ''}${key}`;
}

/** Begins the id of a group of MutatingPolicies that share a path. */
export const groupPrefix = 'mpols:';

/** Whether a policy is a MutatingPolicy or NamespacedMutatingPolicy. */
export function isMutatingPolicy({ kind }: Pick<CompiledPolicy, 'kind'>): boolean {
  return kind === 'MutatingPolicy' || kind === 'NamespacedMutatingPolicy';
}
