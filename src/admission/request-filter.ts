import type { Request, RequestUser } from '../engine/request.ts';
import { compileWildcard, type TextMatcher } from '../expression/wildcard.ts';
import type { KindSelector } from '../policy/compiled.ts';
import { compileKind } from '../policy/kind-selector.ts';
import type { RequestSettings } from './policy-provider.ts';

/** Returns why a request bypasses all policies; undefined when policies apply. */
export type RequestFilter = (request: Request) => string | undefined;

/** Kyverno's reports and update requests are never mutated. */
const ownKinds: ReadonlySet<string> = new Set([
  'AdmissionReport',
  'ClusterAdmissionReport',
  'BackgroundScanReport',
  'ClusterBackgroundScanReport',
  'UpdateRequest',
]);

/**
 * Compiles `excludeUsernames` … and `resourceFilters`. Users are checked first. An entry with `!` exempts its users
 * from exclusion.
 */
export function compileRequestFilter(settings: RequestSettings): RequestFilter {
  const isExcluded = compileExclusions(settings);
  const filters = parseResourceFilters(settings.resourceFilters);
  return (request) => {
    if (request.user !== undefined && isExcluded(request.user)) return 'the user is excluded';
    if (filters.some((filter) => matchesFilter(filter, request))) return 'the resource is filtered';
    if (ownKinds.has(request.kind.kind)) return `${request.kind.kind} is never mutated`;
    return undefined;
  };
}

/** An entry of `excludeUsernames` and the like. */
interface ExclusionEntry {
  readonly matcher: TextMatcher;
  /** An entry with `!`. */
  readonly included: boolean;
}

interface Exclusion extends ExclusionEntry {
  readonly values: (user: RequestUser) => readonly string[];
}

export function exclusionEntries(entries: readonly string[]): readonly ExclusionEntry[] {
  return entries
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '' && entry !== '!')
    .map((entry) => ({
      included: entry.startsWith('!'),
      matcher: compileWildcard(entry.startsWith('!') ? entry.slice(1) : entry),
    }));
}

function compileExclusions(settings: RequestSettings): (user: RequestUser) => boolean {
  const compile = (entries: readonly string[], values: Exclusion['values']): Exclusion[] =>
    exclusionEntries(entries).map((entry) => ({ ...entry, values }));
  const exclusions = [
    ...compile(settings.excludeUsernames, (user) => [user.info.username]),
    ...compile(settings.excludeGroups, (user) => user.info.groups),
    ...compile(settings.excludeRoles, (user) => user.roles),
    ...compile(settings.excludeClusterRoles, (user) => user.clusterRoles),
  ];
  const matches = (user: RequestUser) => (exclusion: Exclusion) =>
    exclusion.values(user).some((value) => exclusion.matcher.matches(value));
  return (user) => {
    const matching = exclusions.filter(matches(user));
    return matching.length > 0 && !matching.some(({ included }) => included);
  };
}

export interface ResourceFilter {
  readonly kind: KindSelector;
  readonly namespace: TextMatcher;
  readonly name: TextMatcher;
}

/** Parses `[kind,namespace,name]` groups. An omitted part matches only an empty value, as in Kyverno. */
export function parseResourceFilters(text: string): readonly ResourceFilter[] {
  const filters: ResourceFilter[] = [];
  for (const [, group = ''] of text.matchAll(/\[([^[\]]*)\]/g)) {
    const [kindText = '', namespace = '', name = ''] = group.split(',').map((part) => part.trim());
    const kind = compileKind(kindText);
    if (kind === undefined) continue;
    filters.push({ kind, namespace: compileWildcard(namespace), name: compileWildcard(name) });
  }
  return filters;
}

function matchesFilter(filter: ResourceFilter, request: Request): boolean {
  const { group, version, kind } = request.kind;
  if (!filter.kind.kind.matches(kind) || !filter.kind.group.matches(group)) return false;
  if (!filter.kind.version.matches(version) || !filter.kind.subresource.matches(request.subresource))
    return false;
  if (filter.namespace.matches(request.namespace) && filter.name.matches(request.name)) return true;
  // A filter for a namespace also matches the Namespace object.
  return group === '' && kind === 'Namespace' && filter.namespace.matches(request.name);
}
