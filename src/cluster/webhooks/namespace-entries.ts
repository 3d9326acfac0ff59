import type { FailureGroup } from '../policies/grouping.ts';
import { addInterest, type Interest, type Interests, webhookRulesOf, withoutCovered } from './rules.ts';

/** A policy of a namespace that shares an entry. */
export interface LocalPolicy {
  readonly namespace: string;
  readonly group: FailureGroup;
  readonly interests: Interests;
}

export interface NamespaceEntry {
  readonly namespaces: readonly string[];
  readonly interests: Interests;
}

/** What policies of namespaces ask for beyond those of the cluster; namespaces that ask for the same have one entry. */
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
    const mark = JSON.stringify(webhookRulesOf(interests));
    const known = entries.get(mark);
    entries.set(mark, { namespaces: [...(known?.namespaces ?? []), namespace], interests });
  }
  return [...entries.values()];
}
