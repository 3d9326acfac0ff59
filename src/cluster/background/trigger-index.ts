import { modeOf } from '../../admission/policy-mode.ts';
import type { PolicySets } from '../../admission/policy-provider.ts';
import { backgroundRules } from '../../background/background-rule.ts';
import type { CompiledException, CompiledPolicy } from '../../policy/compiled.ts';
import { isMutatingPolicy } from '../../policy/policy-id.ts';
import type { PolicySnapshot } from '../../policy/registry/registry.ts';
import { failureGroup, hasOwnTriggerEntry } from '../policies/grouping.ts';

/** The policies of a path of the server. */
export interface TriggerScope {
  readonly set: 'all' | 'ignore' | 'fail';
  readonly policy?: string | undefined;
}

interface TriggerIndex {
  readonly byKind: ReadonlyMap<string, readonly CompiledPolicy[]>;
  /** Policies with a wildcard kind, or without kinds. */
  readonly anyKind: readonly CompiledPolicy[];
}

const known = new WeakMap<PolicySets, TriggerIndex>();

/** The policies with rules that a request for a kind can trigger. Policies in audit mode are not triggered. */
export function policiesFor(sets: PolicySets, scope: TriggerScope, kind: string): readonly CompiledPolicy[] {
  const index = known.get(sets) ?? indexOf(sets);
  known.set(sets, index);
  const found = [...(index.byKind.get(kind) ?? []), ...index.anyKind];
  if (scope.policy !== undefined) return found.filter(({ key }) => key === scope.policy);
  if (scope.set === 'all') return found;
  return found.filter((policy) => !hasOwnTriggerEntry(policy) && failureGroup(policy) === scope.set);
}

/** The exceptions of both kinds that may concern a policy. */
export function exceptionsOf(snapshot: PolicySnapshot, policy: CompiledPolicy): readonly CompiledException[] {
  if (!isMutatingPolicy(policy)) return snapshot.exceptionsFor(policy.key);
  return snapshot.exceptions.filter(({ cel }) => cel !== undefined);
}

function indexOf({ all }: PolicySets): TriggerIndex {
  const byKind = new Map<string, CompiledPolicy[]>();
  const anyKind: CompiledPolicy[] = [];
  for (const policy of all.policies) {
    const rules = backgroundRules(policy);
    if (rules.length === 0 || modeOf(policy) === 'audit') continue;
    const blocks = rules.flatMap(({ rule: { match } }) => match.any ?? match.all ?? []);
    const selectors = blocks.flatMap(({ kinds }) => kinds ?? []);
    const isOpen =
      blocks.some(({ kinds }) => kinds === undefined) || selectors.some(({ kind }) => !kind.literal);
    if (isOpen) anyKind.push(policy);
    for (const kind of isOpen ? [] : new Set(selectors.map((selector) => selector.kind.pattern)))
      byKind.set(kind, [...(byKind.get(kind) ?? []), policy]);
  }
  return { byKind, anyKind };
}
