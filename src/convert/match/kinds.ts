import { hasWildcard } from '../../expression/wildcard.ts';
import type { JsonObject } from '../../json/value.ts';
import { mergeKinds } from '../../patch/generated/merge-types.ts';
import { parseKind } from '../../policy/kind-selector.ts';
import { resourceOf } from '../../policy/resource-name.ts';
import { allOf, anyOf, bool, equalTo, quote, text } from '../expression/cel-text.ts';
import { type CelText, NotConvertible } from '../types.ts';

/** A kind of a match block as a resource rule. */
export interface MatchedKind {
  readonly groups: readonly string[];
  /** The rule names the group. */
  readonly isGroupWritten: boolean;
  readonly version: string;
  readonly resources: readonly string[];
  /** Undefined for every kind. */
  readonly kind: string | undefined;
  readonly subresource: string;
  /** The resource rule also covers other kinds of the group, because the plural name of the kind is not known. */
  readonly isWide: boolean;
}

/** Groups of the built-in kinds, by kind. */
const groupsOfKind = new Map<string, Set<string>>();
for (const name of Object.keys(mergeKinds)) {
  const parts = name.split('/');
  const kind = parts.at(-1) ?? '';
  const group = parts.length === 3 ? (parts[0] ?? '') : '';
  groupsOfKind.set(kind, (groupsOfKind.get(kind) ?? new Set()).add(group));
}

/** Reads `Kind`, `version/Kind` and `group/version/Kind`, each with a subresource. */
export function matchedKind(written: string, path: string): MatchedKind {
  const parts = parseKind(written);
  if (parts === undefined) throw new NotConvertible(path, `${written} has too many parts to be a kind`);
  const { group, version, kind, subresource } = parts;
  const isAnyGroup = group === '*';
  const isGroupWritten = !isAnyGroup;
  if (hasWildcard(version) && version !== '*') throw new NotConvertible(path, 'the version is a pattern');
  if (hasWildcard(group) && !isAnyGroup) throw new NotConvertible(path, 'the group is a pattern');
  if (kind === '*') {
    const resource = subresource === '' ? '*' : `*/${subresource}`;
    return {
      groups: [group],
      isGroupWritten,
      version,
      resources: [resource],
      kind: undefined,
      subresource,
      isWide: false,
    };
  }
  if (hasWildcard(kind)) throw new NotConvertible(path, 'the kind is a pattern');
  const builtIn = groupsOfKind.get(kind);
  if (builtIn !== undefined && (isAnyGroup || builtIn.has(group))) {
    const groups = isAnyGroup ? [...builtIn] : [group];
    const resources = resourcesOf(kind, groups, subresource);
    return { groups, isGroupWritten, version, resources, kind, subresource, isWide: false };
  }
  if (subresource !== '') throw new NotConvertible(path, `the plural name of ${kind} is not known`);
  return { groups: [group], isGroupWritten, version, resources: ['*'], kind, subresource, isWide: true };
}

/** As in Kyverno, `Pod` also means its ephemeral containers, which are a subresource. */
function resourcesOf(kind: string, groups: readonly string[], subresource: string): readonly string[] {
  const plural = resourceOf(kind);
  if (subresource !== '') return [`${plural}/${subresource}`];
  return kind === 'Pod' && groups.includes('') ? [plural, `${plural}/ephemeralcontainers`] : [plural];
}

/** Kinds of the same groups and version become one resource rule. */
export function resourceRules(
  kinds: readonly MatchedKind[],
  operations: readonly string[],
): readonly JsonObject[] {
  const rules = new Map<string, { groups: readonly string[]; version: string; resources: Set<string> }>();
  for (const { groups, version, resources } of kinds) {
    const key = `${groups.join(',')} ${version}`;
    const rule = rules.get(key) ?? { groups, version, resources: new Set<string>() };
    for (const resource of resources) rule.resources.add(resource);
    rules.set(key, rule);
  }
  return [...rules.values()].map(({ groups, version, resources }) => ({
    apiGroups: groups,
    apiVersions: [version],
    operations,
    resources: [...resources],
  }));
}

/** Whether the object of the request is of one of the kinds. */
export function kindTest(kinds: readonly MatchedKind[], path: string): CelText {
  const tests = kinds.map(({ groups, isGroupWritten, version, kind, subresource }) => {
    if (kind === undefined) {
      if (subresource !== '' || !groups.includes('*'))
        throw new NotConvertible(path, 'the kind is a pattern');
      return bool(true);
    }
    if (subresource !== '') {
      throw new NotConvertible(path, 'the kind of a subresource is not that of its object in CEL');
    }
    const parts = [is('request.kind.kind', kind)];
    if (isGroupWritten) parts.push(is('request.kind.group', groups[0] ?? ''));
    if (version !== '*') parts.push(is('request.kind.version', version));
    return allOf(parts);
  });
  return anyOf(tests);
}

function is(field: string, value: string): CelText {
  return equalTo({ ...text(field, 'string'), total: true }, { ...text(quote(value), 'string'), total: true });
}
