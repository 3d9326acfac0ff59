import type { RequestSettings } from '../../admission/policy-provider.ts';
import {
  exclusionEntries,
  parseResourceFilters,
  type ResourceFilter,
} from '../../admission/request-filter.ts';
import type { TextMatcher } from '../../expression/wildcard.ts';
import type { JsonObject } from '../../json/value.ts';

/** Match conditions, or the setting that has no equivalent. */
export type RequestConditions = { readonly conditions: readonly JsonObject[] } | { readonly reason: string };

/** The settings that exclude users and objects from all policies, as conditions that the API server evaluates. */
export function requestConditions(settings: RequestSettings): RequestConditions {
  for (const key of ['excludeRoles', 'excludeClusterRoles'] as const) {
    if (exclusionEntries(settings[key]).length > 0)
      return {
        reason: `the setting ${key} excludes users by their roles, which the API server does not know`,
      };
  }
  const users = excludedUsers(settings);
  const filters = parseResourceFilters(settings.resourceFilters).map(filtered);
  return {
    conditions: [
      ...(users === undefined ? [] : [{ name: 'kymera.io/excluded-users', expression: `!(${users})` }]),
      ...(filters.length === 0
        ? []
        : [{ name: 'kymera.io/resource-filters', expression: `!(${filters.join(' || ')})` }]),
    ],
  };
}

function excludedUsers({ excludeUsernames, excludeGroups }: RequestSettings): string | undefined {
  const entries = [
    ...exclusionEntries(excludeUsernames).map(({ included, matcher }) => ({
      included,
      text: matches('request.userInfo.?username.orValue("")', matcher),
    })),
    ...exclusionEntries(excludeGroups).map(({ included, matcher }) => ({
      included,
      text: `request.userInfo.?groups.orValue([]).exists(group, ${matches('group', matcher)})`,
    })),
  ];
  const any = (included: boolean) =>
    entries
      .filter((entry) => entry.included === included)
      .map(({ text }) => text)
      .join(' || ');
  const [excluded, exempt] = [any(false), any(true)];
  if (excluded === '') return undefined;
  return exempt === '' ? excluded : `(${excluded}) && !(${exempt})`;
}

/** True for the objects of a filter. A filter for a namespace also matches the Namespace object. */
function filtered({ kind, namespace, name }: ResourceFilter): string {
  const [ofName, ofNamespace] = [namePart(name), matches('request.?namespace.orValue("")', namespace)];
  const isNamespace = `request.kind.group == "" && request.kind.kind == "Namespace" && ${namePart(namespace)}`;
  return all([
    matches('request.kind.kind', kind.kind),
    matches('request.kind.group', kind.group),
    matches('request.kind.version', kind.version),
    matches('request.?subResource.orValue("")', kind.subresource),
    `(${all([ofNamespace, ofName])} || (${isNamespace}))`,
  ]);
}

function namePart(matcher: TextMatcher): string {
  return matches('request.?name.orValue("")', matcher);
}

function all(parts: readonly string[]): string {
  const restricting = parts.filter((part) => part !== 'true');
  return restricting.length === 0 ? 'true' : `(${restricting.join(' && ')})`;
}

/** Whether a string matches a pattern with `*` and `?`. */
function matches(text: string, { pattern, literal }: TextMatcher): string {
  if (literal) return `${text} == ${JSON.stringify(pattern)}`;
  if (/^\*+$/.test(pattern)) return 'true';
  const expression = pattern
    .replace(/[\\^$.|+()[\]{}]/g, '\\$&')
    .replace(/\*+/g, '.*')
    .replaceAll('?', '.');
  return `${text}.matches(${JSON.stringify(`^(?s:${expression})$`)})`;
}
