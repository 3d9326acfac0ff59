import { createHash } from 'node:crypto';
import { stringifyJson } from '../../json/json-text.ts';
import { readObject, readText } from '../../json/read-field.ts';
import type { CompiledPolicy } from '../../policy/compiled.ts';
import { groupPrefix, isMutatingPolicy, policyId } from '../../policy/policy-id.ts';
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
 * MutatingPolicies have entries after those of all other policies.
 */
export function hasOwnEntry(policy: CompiledPolicy): boolean {
  if (isMutatingPolicy(policy)) return true;
  const { matchConditions, namespace, timeoutSeconds = 0 } = policy;
  const isSlowTenant = namespace !== undefined && timeoutSeconds > defaultTimeoutSeconds;
  return matchConditions.length > 0 || isSlowTenant || !mayBeReinvoked(policy);
}

/** Whether a policy has its own entry in the trigger webhook. */
export function hasOwnTriggerEntry(policy: CompiledPolicy): boolean {
  // The server evaluates the conditions of a MutatingPolicy.
  return policy.matchConditions.length > 0 && !isMutatingPolicy(policy);
}

/** The path that a policy shares with others, apart from those of a failure policy. */
export function pathGroupOf(policy: CompiledPolicy): string | undefined {
  return isMutatingPolicy(policy) ? celEntryId(policy) : undefined;
}

/**
 * The webhook entry of a MutatingPolicy, which is also the set of policies that the server runs for it. A policy shares an
 * entry with those of the same namespace, failure policy, reinvocation policy and selectors, unless it has conditions that
 * the API server evaluates, a timeout of its own, or matches exact versions.
 */
export function celEntryId(policy: CompiledPolicy): string {
  const spec = readObject(policy.document, 'spec') ?? {};
  const constraints = readObject(spec, 'matchConstraints') ?? {};
  const isSpecial =
    policy.matchConditions.length > 0 ||
    policy.timeoutSeconds !== undefined ||
    readText(constraints, 'matchPolicy') === 'Exact';
  if (isSpecial) return policyId(policy);
  const shared = [
    policy.namespace ?? null,
    policy.failurePolicy,
    readText(spec, 'reinvocationPolicy') ?? 'Never',
    constraints['namespaceSelector'] ?? {},
    constraints['objectSelector'] ?? {},
  ];
  return `${groupPrefix}${createHash('sha256').update(stringifyJson(shared)).digest('hex').slice(0, 16)}`;
}
