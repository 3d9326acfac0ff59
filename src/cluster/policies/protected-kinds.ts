import { quote } from '../../convert/expression/cel-text.ts';
import type { CompiledRule } from '../../policy/compiled.ts';
import { type KindKey, matchesKind } from '../../policy/kind-selector.ts';
import { type PolicySnapshot, withCandidates } from '../../policy/registry/registry.ts';
import { resourceOf } from '../../policy/resource-name.ts';

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
  ['policies.kyverno.io', 'all'],
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
  return {
    ...snapshot,
    ...withCandidates(snapshot, (found, key) =>
      isProtected(key)
        ? found.flatMap((candidate) => {
            const rules = candidate.rules.filter((rule) => namesKind(rule, key));
            return rules.length === 0 ? [] : [{ ...candidate, rules }];
          })
        : found,
    ),
  };
}

function namesKind({ match }: CompiledRule, key: KindKey): boolean {
  return [...(match.any ?? []), ...(match.all ?? [])].some((block) =>
    block.kinds?.some((selector) =>
      selector.resource === undefined
        ? selector.kind.literal && selector.kind.pattern === key.kind
        : selector.resource.literal && matchesKind(selector, key),
    ),
  );
}

/** Resources, as in the rules of a webhook. */
export interface NamedResource {
  /** `*` for every group. */
  readonly group: string;
  readonly resource: string;
}

/**
 * A CEL expression that is false for requests about protected kinds, except those that are named. With it, API servers
 * do not call a webhook for kinds that only a wildcard of its rules matches.
 */
export function protectionCondition(named: readonly NamedResource[]): string {
  const groups = [...protectedKinds].flatMap(([group, kinds]) => (kinds === 'all' ? [group] : []));
  const single = [...protectedKinds].flatMap(([group, kinds]) =>
    kinds === 'all' ? [] : [`${inGroup(group)} && ${isOneOf([...kinds].map(resourceOf))}`],
  );
  const parts = [`request.resource.group in ${listText(groups)}`, ...single.map((text) => `(${text})`)];
  const allowed = named
    .filter(({ group, resource }) => namesProtected(group, resource))
    .map(({ group, resource }) =>
      group === '*' ? isOneOf([resource]) : `(${inGroup(group)} && ${isOneOf([resource])})`,
    );
  return [`!(${parts.join(' || ')})`, ...[...new Set(allowed)].sort()].join(' || ');
}

function namesProtected(group: string, resource: string): boolean {
  return [...protectedKinds].some(
    ([name, kinds]) =>
      (group === '*' || group === name) &&
      (kinds === 'all' || [...kinds].some((kind) => resourceOf(kind) === resource)),
  );
}

function inGroup(group: string): string {
  return `request.resource.group == ${quote(group)}`;
}

function isOneOf(resources: readonly string[]): string {
  return resources.length === 1
    ? `request.resource.resource == ${quote(resources[0] ?? '')}`
    : `request.resource.resource in ${listText(resources)}`;
}

function listText(names: readonly string[]): string {
  return `[${names.map(quote).join(', ')}]`;
}
