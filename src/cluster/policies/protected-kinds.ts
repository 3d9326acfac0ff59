import type { CompiledRule } from '../../policy/compiled.ts';
import type { KindKey } from '../../policy/kind-selector.ts';
import type { PolicySnapshot } from '../../policy/registry.ts';

/**
 * Kinds that are needed to repair a cluster, or that components write constantly. A wildcard does not match them: only a
 * policy that names them applies to them.
 */
const protectedKinds: ReadonlyMap<string, ReadonlySet<string> | 'all'> = new Map<
  string,
  ReadonlySet<string> | 'all'
>([
  ['', new Set(['Node', 'Event', 'Binding'])],
  ['events.k8s.io', new Set(['Event'])],
  ['coordination.k8s.io', 'all'],
  ['certificates.k8s.io', new Set(['CertificateSigningRequest'])],
  ['apiregistration.k8s.io', 'all'],
  ['apiextensions.k8s.io', 'all'],
  ['admissionregistration.k8s.io', 'all'],
  ['rbac.authorization.k8s.io', 'all'],
  ['authentication.k8s.io', 'all'],
  ['authorization.k8s.io', 'all'],
  ['kyverno.io', 'all'],
  ['kymera.io', 'all'],
  ['policy.nirmata.io', 'all'],
  ['reports.kyverno.io', 'all'],
  ['wgpolicyk8s.io', 'all'],
]);

export function isProtected({ group, kind }: Pick<KindKey, 'group' | 'kind'>): boolean {
  const kinds = protectedKinds.get(group);
  return kinds === 'all' || (kinds?.has(kind) ?? false);
}

/** The same snapshot, in which wildcards do not match protected kinds. */
export function guardProtectedKinds(snapshot: PolicySnapshot): PolicySnapshot {
  const remembered = new WeakMap<object, ReturnType<PolicySnapshot['candidates']>>();
  return {
    ...snapshot,
    candidates(key) {
      const found = snapshot.candidates(key);
      if (!isProtected(key) || found.length === 0) return found;
      const known = remembered.get(found);
      if (known !== undefined) return known;
      const kept = found.flatMap((candidate) => {
        const rules = candidate.rules.filter((rule) => namesKind(rule, key));
        return rules.length === 0 ? [] : [{ ...candidate, rules }];
      });
      remembered.set(found, kept);
      return kept;
    },
  };
}

function namesKind({ match }: CompiledRule, { kind }: KindKey): boolean {
  return [...(match.any ?? []), ...(match.all ?? [])].some((block) =>
    block.kinds?.some((selector) => selector.kind.literal && selector.kind.pattern === kind),
  );
}
