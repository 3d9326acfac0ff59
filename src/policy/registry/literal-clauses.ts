import { hasWildcard, type TextMatcher } from '../../expression/wildcard.ts';
import { isArray, isObject, type Json, type JsonObject, member } from '../../json/value.ts';
import type { CompiledBlock, CompiledFilter, CompiledRule } from '../compiled.ts';
import type { KindKey } from '../kind-selector.ts';
import { resourceOf } from '../resource-name.ts';

/** What literal clauses are compared with. */
export interface IndexedSubject {
  /** For an object without a name: its generateName prefix. */
  readonly name: string;
  readonly generateName: string;
  /** Of a Namespace, its own name. */
  readonly namespace: string;
  readonly labels: JsonObject;
  readonly annotations: JsonObject;
  readonly user?: IndexedUser | undefined;
  /** Undefined for objects without a namespace. */
  namespaceLabels(): JsonObject | undefined;
  /** The labels of all objects that a CEL policy may select by: as they were, as they are now, and the old object. */
  labelsOfVersions(): readonly JsonObject[];
  readonly request: { readonly name: string; readonly namespace: string };
}

/** A resource and what literal clauses are compared with. */
export interface SubjectKey extends KindKey {
  readonly subject: IndexedSubject;
}

interface IndexedUser {
  readonly info: { readonly username: string; readonly groups: readonly string[] };
  readonly roles: readonly string[];
  readonly clusterRoles: readonly string[];
}

/** The values of a subject by attribute. Undefined if they are not known: then every clause of the attribute may hold. */
const valuesByAttribute = {
  name: ({ name }: IndexedSubject) => [name],
  namespace: ({ namespace }: IndexedSubject) => [namespace],
  /** The namespace of a namespaced policy. */
  owner: ({ request }: IndexedSubject) => [request.namespace],
  labels: ({ labels }: IndexedSubject) => labelValues(labels),
  annotations: ({ annotations }: IndexedSubject) => labelValues(annotations),
  user: ({ user }: IndexedSubject) => (user === undefined ? undefined : userValues(user)),
  /** `resourceNames` of a CEL policy. */
  requestName: ({ request, generateName }: IndexedSubject) =>
    request.name === '' ? beginningsOf(generateName) : [request.name],
  /** `objectSelector` of a CEL policy. */
  objectLabels: (subject: IndexedSubject) => subject.labelsOfVersions().flatMap(labelValues),
  /** Last: they may have to be fetched. */
  namespaceLabels(subject: IndexedSubject) {
    const labels = subject.namespaceLabels();
    return labels === undefined ? undefined : labelValues(labels);
  },
} as const;

export type IndexedAttribute = keyof typeof valuesByAttribute;

/** Values one of which a subject must have. */
export interface Clause {
  readonly attribute: IndexedAttribute;
  readonly values: readonly string[];
}

/** One way to match: a subject is of one of the kinds, and meets all clauses. */
export interface Alternative {
  readonly kinds: readonly string[];
  readonly clauses: readonly Clause[];
}

export const anyKind = '*';
const longestName = 253;
const none: readonly never[] = [];

export function valuesOf(
  attribute: IndexedAttribute,
  subject: IndexedSubject,
): readonly string[] | undefined {
  return valuesByAttribute[attribute](subject);
}

/** The kinds of alternatives that a request can meet. */
export function kindsOf({ kind, resource }: Pick<KindKey, 'kind' | 'resource'>): readonly string[] {
  return [kind, resourceKind(resource ?? resourceOf(kind)), anyKind];
}

export function alternativesOfRule({ match, mutation }: CompiledRule, namespace?: string): Alternative[] {
  const owner: Clause[] = namespace === undefined ? [] : [{ attribute: 'owner', values: [namespace] }];
  const cel = mutation.type === 'cel' ? mutation.program.clauses : none;
  return alternativesOf(match, [...owner, ...cel]);
}

export function alternativesOf(
  { any, all = [] }: CompiledFilter,
  others: readonly Clause[] = none,
): Alternative[] {
  if (any !== undefined)
    return any.map((block) => ({
      kinds: literalKinds(block) ?? [anyKind],
      clauses: [...literalClauses(block), ...others],
    }));
  const kinds = all.map(literalKinds).find((each) => each !== undefined) ?? [anyKind];
  return [{ kinds, clauses: [...all.flatMap(literalClauses), ...others] }];
}

function literalKinds({ kinds }: CompiledBlock): readonly string[] | undefined {
  const texts = kinds?.map(({ kind, resource }) => {
    if (resource === undefined) return kind.literal ? kind.pattern : anyKind;
    return resource.literal ? resourceKind(resource.pattern) : anyKind;
  });
  return texts === undefined || texts.includes(anyKind) ? undefined : [...new Set(texts)];
}

/** Kinds have no slash. */
function resourceKind(resource: string): string {
  return `${resource}/`;
}

export function literalClauses({
  names,
  namespaces,
  selector,
  annotations,
  subjects,
  roles,
  clusterRoles,
  namespaceSelector,
}: CompiledBlock): readonly Clause[] {
  const clauses = [
    ...literalTexts('name', names),
    ...literalTexts('namespace', namespaces),
    ...selectorClauses('labels', selector?.document),
  ];
  for (const { key, value } of annotations ?? none)
    if (key.literal && value.literal)
      clauses.push({ attribute: 'annotations', values: [labelValue(key.pattern, value.pattern)] });
  if (subjects?.every(({ matches }) => matches.literal))
    clauses.push({
      attribute: 'user',
      values: subjects.map(({ kind, matches }) =>
        (kind === 'Group' ? groupValue : userValue)(matches.pattern),
      ),
    });
  if (roles !== undefined) clauses.push({ attribute: 'user', values: [...roles].map(roleValue) });
  if (clusterRoles !== undefined)
    clauses.push({ attribute: 'user', values: [...clusterRoles].map(clusterRoleValue) });
  clauses.push(...selectorClauses('namespaceLabels', namespaceSelector?.document));
  return clauses;
}

function literalTexts(attribute: IndexedAttribute, matchers: readonly TextMatcher[] | undefined): Clause[] {
  if (matchers === undefined || !matchers.every(({ literal }) => literal)) return [];
  return [{ attribute, values: matchers.map(({ pattern }) => pattern) }];
}

/** The labels that an object must have: entries of `matchLabels` without wildcards, `In` and `Exists`. */
export function selectorClauses(
  attribute: 'labels' | 'objectLabels' | 'namespaceLabels',
  selector: JsonObject = {},
): readonly Clause[] {
  const labels = Object.entries(objectOf(member(selector, 'matchLabels')))
    .filter(([key, value]) => typeof value === 'string' && !hasWildcard(key) && !hasWildcard(value))
    .map(([key, value]) => ({ attribute, values: [labelValue(key, value)] }));
  const expressions = member(selector, 'matchExpressions');
  const listed = (isArray(expressions) ? expressions : []).flatMap((entry) => {
    const { key, operator, values } = objectOf(entry);
    if (operator === 'Exists') return [{ attribute, values: [String(key)] }];
    if (operator !== 'In' || !isArray(values)) return [];
    return [{ attribute, values: values.map((value) => labelValue(String(key), value)) }];
  });
  return [...labels, ...listed];
}

function objectOf(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

/** Each key alone, and each key with its value. */
function labelValues(labels: JsonObject): string[] {
  const values: string[] = [];
  for (const key of Object.keys(labels)) values.push(key, labelValue(key, labels[key] ?? null));
  return values;
}

/** A key has no space. Kyverno compares annotations that are not strings by their text. */
function labelValue(key: string, value: Json): string {
  return `${key} ${String(value)}`;
}

function userValues({ info, roles, clusterRoles }: IndexedUser): string[] {
  return [
    userValue(info.username),
    ...info.groups.map(groupValue),
    ...roles.map(roleValue),
    ...clusterRoles.map(clusterRoleValue),
  ];
}

const userValue = (name: string) => `user ${name}`;
const groupValue = (name: string) => `group ${name}`;
const roleValue = (name: string) => `role ${name}`;
const clusterRoleValue = (name: string) => `clusterRole ${name}`;

/** A listed name may be the beginning of generateName. Undefined if it is longer than any name: it comes from a request. */
function beginningsOf(text: string): string[] | undefined {
  if (text.length > longestName) return undefined;
  return Array.from({ length: text.length }, (_, index) => text.slice(0, index + 1));
}
