import type { CompiledPolicy } from '../../policy/compiled.ts';
import { mayBeReinvoked } from './reinvocation.ts';

/** Policies with the same failure policy share a webhook entry, and a path of the server. */
export type FailureGroup = 'fail' | 'ignore';

export function failureGroup({ failurePolicy }: CompiledPolicy): FailureGroup {
  return failurePolicy === 'Ignore' ? 'ignore' : 'fail';
}

/** The timeout of webhook entries, unless a ClusterPolicy needs more. */
export const defaultTimeoutSeconds = 10;

/**
 * A policy has its own mutating webhook entry if it has matchConditions, if a second run would change its result, or if it
 * is namespaced and needs more time than others: a tenant must not slow down the requests of other namespaces.
 */
export function hasOwnEntry(policy: CompiledPolicy): boolean {
  const { matchConditions, namespace, timeoutSeconds = 0 } = policy;
  const isSlowTenant = namespace !== undefined && timeoutSeconds > defaultTimeoutSeconds;
  return matchConditions.length > 0 || isSlowTenant || !mayBeReinvoked(policy);
}

/** Whether a policy has its own entry in the trigger webhook. */
export function hasOwnTriggerEntry({ matchConditions }: CompiledPolicy): boolean {
  return matchConditions.length > 0;
}
