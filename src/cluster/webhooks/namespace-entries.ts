import type { FailureGroup } from '../policies/grouping.ts';
import { addInterest, type Interest, type Interests, webhookRulesOf, withoutCovered } from './rules.ts';

/** A namespaced policy that shares an entry. */
export interface LocalPolicy {
  readonly namespace: string;
  readonly group: FailureGroup;
  readonly interests: Interests;
}

export interface NamespaceEntry {
  readonly namespaces: readonly string[];
  readonly interests: Interests;
}

/** The resources of namespaced policies that the cluster-wide entry does not cover. Namespaces with the same resources share an entry. */
export function namespaceEntries(
  policies: readonly LocalPolicy[],
  cluster: Interests,
): readonly NamespaceEntry[] {
  const byNamespace = new Map<string, Map<string, Interest>>();
  for (const { namespace, interests } of policies) {
    const known = byNamespace.get(namespace) ?? new Map<string, Interest>();
    for (const interest of withoutCovered(interests, cluster)) addInterest(known, interest);
    byNamespace.set(namespace, known);
  }
  const entries = new Map<string, NamespaceEntry>();
  for (const [namespace, interests] of [...byNamespace].sort(([left], [right]) => (left < right ? -1 : 1))) {
    const key = JSON.stringify(webhookRulesOf(interests));
    const known = entries.get(key);
    entries.set(key, { namespaces: [...(known?.namespaces ?? []), namespace], interests });
  }
  return [...entries.values()];
}
