import { readObject } from '../../json/read-field.ts';
import { isArray, isObject, type Json } from '../../json/value.ts';
import { readOperations } from '../../policy/check/json-patch-operations.ts';
import { patchDocuments } from '../../policy/check/patch-writes.ts';
import type { CompiledPolicy } from '../../policy/compiled.ts';

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

const reinvocationAnnotation = 'kymera.io/reinvocation';

/**
 * Whether a policy may run again on its own result after a later webhook changed the object. It may not if a second run
 * would insert or remove another list item, or compute a different value.
 */
export function mayBeReinvoked(policy: CompiledPolicy): boolean {
  const written = policy.annotations[reinvocationAnnotation];
  if (written === 'never') return false;
  return policy.rules.every(
    (rule) =>
      rule.targets !== undefined ||
      (!changesListsByIndex(rule.document) && !dependsOnTimeOrChance(rule.document)),
  );
}

function changesListsByIndex(rule: Parameters<typeof readObject>[0]): boolean {
  return patchDocuments(readObject(rule, 'mutate') ?? {}, []).some(
    (patch) =>
      patch.form === 'operations' &&
      readOperations(patch.content).some(({ op, path }) => movesItems.has(op) && endsInIndex(path)),
  );
}

const movesItems: ReadonlySet<string> = new Set(['add', 'remove', 'copy', 'move']);

/** `/spec/containers/0`, `/-`, `/-1`, or an index from a variable. Paths in v1alpha1 policies may end in `/`. */
function endsInIndex(path: string): boolean {
  const last = path.replace(/\/$/, '').replace(/^.*\/(?![^{]*\}\})/s, '');
  return /^(-|-?\d+)$/.test(last) || /^\{\{.*\}\}$/s.test(last);
}

const timeOrChance = /\b(random|time_now|time_now_utc|time_since)\s*\(/;

function dependsOnTimeOrChance(value: Json): boolean {
  if (typeof value === 'string') return timeOrChance.test(value);
  if (isArray(value)) return value.some(dependsOnTimeOrChance);
  return isObject(value) && Object.values(value).some(dependsOnTimeOrChance);
}
