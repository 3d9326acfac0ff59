import { stringifyJson } from '../json/json-text.ts';
import type { JsonObject, Path } from '../json/value.ts';
import type { CompiledBlock, CompiledFilter, Operation, Subject } from '../policy/compiled.ts';
import { matchesKind } from '../policy/kind-selector.ts';
import type { MatchSubject } from './match-subject.ts';
import type { ClauseMiss } from './outcome.ts';
import type { RequestUser } from './request.ts';

export type MatchMode = 'match' | 'exclude' | 'exception';

/** The block that matched, or undefined. With `all`, the first block represents all of them. */
export function matchingBlock(
  filter: CompiledFilter,
  subject: MatchSubject,
  mode: MatchMode,
): CompiledBlock | undefined {
  if (filter.any !== undefined)
    return filter.any.find((block) => firstMismatch(block, subject, mode) === undefined);
  const all = filter.all ?? [];
  if (all.length === 0) return undefined;
  return all.every((block) => firstMismatch(block, subject, mode) === undefined) ? all[0] : undefined;
}

/** Why a filter did not match: the deciding attribute of each block that failed. */
export function clauseMisses(
  filter: CompiledFilter,
  subject: MatchSubject,
  mode: MatchMode,
): readonly ClauseMiss[] {
  const misses: ClauseMiss[] = [];
  for (const block of filter.any ?? filter.all ?? []) {
    const attribute = firstMismatch(block, subject, mode);
    if (attribute !== undefined) misses.push(describeMiss(block, attribute, subject));
  }
  return misses;
}

/** A block without operations means CREATE and UPDATE. */
export function unlistedOperation(block: CompiledBlock, operation: Operation): ClauseMiss {
  const path: Path = [...block.path, 'resources', 'operations'];
  return { path, attribute: 'operations', expected: 'CREATE, UPDATE', actual: operation };
}

type Attribute =
  | 'operations'
  | 'kinds'
  | 'names'
  | 'namespaces'
  | 'annotations'
  | 'selector'
  | 'namespaceSelector'
  | 'roles'
  | 'clusterRoles'
  | 'subjects'
  | 'empty';

/** The first attribute that does not match; undefined when the block matches. */
function firstMismatch(block: CompiledBlock, subject: MatchSubject, mode: MatchMode): Attribute | undefined {
  if (isEmpty(block)) return 'empty';
  if (block.operations !== undefined && mode !== 'exception') {
    if (subject.operation === undefined || !block.operations.has(subject.operation)) return 'operations';
  }
  if (block.kinds !== undefined && !block.kinds.some((kind) => matchesKind(kind, subject.kind)))
    return 'kinds';
  if (block.names !== undefined && !block.names.some((name) => name.matches(subject.name))) return 'names';
  if (block.namespaces !== undefined) {
    const namespace = namespaceForMatch(subject);
    if (!block.namespaces.some((pattern) => pattern.matches(namespace))) return 'namespaces';
  }
  if (block.annotations !== undefined && !annotationsFit(block.annotations, subject.annotations))
    return 'annotations';
  if (block.selector !== undefined && !block.selector.matches(subject.labels)) return 'selector';
  if (block.namespaceSelector !== undefined && !namespaceSelectorFits(block, subject, mode)) {
    return 'namespaceSelector';
  }
  return userMismatch(block, subject.user, mode);
}

function isEmpty(block: CompiledBlock): boolean {
  return (
    block.kinds === undefined &&
    block.names === undefined &&
    block.namespaces === undefined &&
    block.annotations === undefined &&
    block.selector === undefined &&
    block.namespaceSelector === undefined &&
    block.operations === undefined &&
    block.subjects === undefined &&
    block.roles === undefined &&
    block.clusterRoles === undefined
  );
}

/** A Namespace object is matched by its own name. */
export function namespaceForMatch(subject: MatchSubject): string {
  return isNamespace(subject) ? subject.name : subject.namespace;
}

export function isNamespace(subject: MatchSubject): boolean {
  return subject.kind.kind === 'Namespace' && subject.kind.group === '';
}

function namespaceSelectorFits(block: CompiledBlock, subject: MatchSubject, mode: MatchMode): boolean {
  if (isNamespace(subject)) return mode === 'exception';
  return block.namespaceSelector?.matches(subject.namespaceLabels()) ?? true;
}

function annotationsFit(wanted: NonNullable<CompiledBlock['annotations']>, annotations: JsonObject): boolean {
  return wanted.every(({ key, value }) => {
    for (const [name, text] of Object.entries(annotations)) {
      if (key.matches(name) && value.matches(String(text))) return true;
    }
    return false;
  });
}

function userMismatch(
  block: CompiledBlock,
  user: RequestUser | undefined,
  mode: MatchMode,
): Attribute | undefined {
  if (block.roles === undefined && block.clusterRoles === undefined && block.subjects === undefined)
    return undefined;
  // Without a request there is no user: match blocks ignore user clauses, exclude blocks and exceptions do not match.
  if (user === undefined && mode === 'match') return undefined;
  if (block.roles !== undefined && !intersects(block.roles, user?.roles)) return 'roles';
  if (block.clusterRoles !== undefined && !intersects(block.clusterRoles, user?.clusterRoles))
    return 'clusterRoles';
  if (block.subjects !== undefined && !block.subjects.some((subject) => subjectFits(subject, user)))
    return 'subjects';
  return undefined;
}

function intersects(wanted: ReadonlySet<string>, held: readonly string[] | undefined): boolean {
  return held?.some((role) => wanted.has(role)) ?? false;
}

function subjectFits(subject: Subject, user: RequestUser | undefined): boolean {
  if (user === undefined) return false;
  if (subject.kind === 'Group') return user.info.groups.some((group) => subject.matches.matches(group));
  return subject.matches.matches(user.info.username);
}

function describeMiss(block: CompiledBlock, attribute: Attribute, subject: MatchSubject): ClauseMiss {
  const [expected, actual] = operands(block, attribute, subject);
  const inResources = attribute !== 'roles' && attribute !== 'clusterRoles' && attribute !== 'subjects';
  const path: Path = [...block.path, ...(inResources ? ['resources', attribute] : [attribute])];
  return { path: attribute === 'empty' ? block.path : path, attribute, expected, actual };
}

function operands(block: CompiledBlock, attribute: Attribute, subject: MatchSubject): [string, string] {
  const patterns = (list: readonly { readonly pattern: string }[] = []) =>
    list.map((item) => item.pattern).join(', ');
  switch (attribute) {
    case 'operations':
      return [[...(block.operations ?? [])].join(', '), subject.operation ?? 'none'];
    case 'kinds':
      return [(block.kinds ?? []).map((kind) => kind.text).join(', '), describeKind(subject)];
    case 'names':
      return [patterns(block.names), subject.name];
    case 'namespaces':
      return [patterns(block.namespaces), namespaceForMatch(subject)];
    case 'annotations':
      return [
        (block.annotations ?? []).map(({ key, value }) => `${key.pattern}=${value.pattern}`).join(', '),
        keysOf(subject.annotations),
      ];
    case 'selector':
      return [stringifyJson(block.selector?.document ?? {}), keysOf(subject.labels)];
    case 'namespaceSelector':
      return [stringifyJson(block.namespaceSelector?.document ?? {}), subject.namespace];
    case 'roles':
      return [[...(block.roles ?? [])].join(', '), (subject.user?.roles ?? []).join(', ')];
    case 'clusterRoles':
      return [[...(block.clusterRoles ?? [])].join(', '), (subject.user?.clusterRoles ?? []).join(', ')];
    case 'subjects':
      return [(block.subjects ?? []).map((item) => item.text).join(', '), subject.user?.info.username ?? ''];
    case 'empty':
      return ['at least one attribute', 'none'];
  }
}

function describeKind(subject: MatchSubject): string {
  const { group, version, kind, subresource } = subject.kind;
  const base = group === '' ? `${version}/${kind}` : `${group}/${version}/${kind}`;
  return subresource === '' ? base : `${base}/${subresource}`;
}

/** Names only: values of labels and annotations must not appear in messages. */
function keysOf(map: JsonObject): string {
  return Object.keys(map).join(', ');
}
