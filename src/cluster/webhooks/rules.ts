import { backgroundRules } from '../../background/background-rule.ts';
import type {
  CompiledBlock,
  CompiledGenerateRule,
  CompiledPolicy,
  CompiledRuleHead,
  KindSelector,
  Operation,
} from '../../policy/compiled.ts';
import type { KindTable } from '../api/discovery.ts';
import type { ServedKind } from '../api/discovery-document.ts';
import { isProtected } from '../policies/protected-kinds.ts';

/** One `rules` item of a webhook. */
export interface WebhookRule {
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  readonly resources: readonly string[];
  readonly operations: readonly (Operation | '*')[];
  readonly scope: 'Namespaced' | 'Cluster' | '*';
}

/** A resource or subresource, and the operations that policies match. */
export interface Interest {
  readonly group: string;
  readonly version: string;
  /** `pods`, `pods/exec`. */
  readonly resource: string;
  readonly scope: WebhookRule['scope'];
  readonly operations: ReadonlySet<Operation>;
}

/** Interests by resource; interests of several rules are merged. */
export type Interests = ReadonlyMap<string, Interest>;

const operationOrder: readonly Operation[] = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'];
const defaultOperations: ReadonlySet<Operation> = new Set(['CREATE', 'UPDATE']);
/** The operations that a match block needs. */
type OperationsOf = (block: CompiledBlock) => ReadonlySet<Operation>;

export interface PolicyInterests {
  readonly interests: Interests;
  readonly unknownKinds: readonly string[];
}

/** The resources that the admission rules of a policy without CEL match, and the kinds that the API server does not serve. */
export function interestsOf(policy: CompiledPolicy, kinds: KindTable): PolicyInterests {
  const rules = policy.rules.filter(
    ({ targets, mutation }) => targets === undefined && mutation.type !== 'cel',
  );
  return collect(policy, kinds, [{ rules, operationsOf: operationsToMutate }]);
}

/** The resources that trigger the mutateExisting and generate rules of a policy. */
export function triggerInterestsOf(policy: CompiledPolicy, kinds: KindTable): PolicyInterests {
  const isSynchronized = ({ synchronize }: CompiledGenerateRule) => synchronize;
  return collect(policy, kinds, [
    {
      rules: backgroundRules(policy).flatMap((each) => (each.type === 'mutate' ? [each.rule] : [])),
      operationsOf: operationsOfTriggers,
    },
    {
      rules: policy.generateRules.filter((rule) => !isSynchronized(rule)),
      operationsOf: operationsOfTriggers,
    },
    { rules: policy.generateRules.filter(isSynchronized), operationsOf: operationsToFollow },
  ]);
}

type MatchingRule = Pick<CompiledRuleHead, 'match' | 'exclude'>;

function collect(
  policy: CompiledPolicy,
  kinds: KindTable,
  groups: readonly { readonly rules: readonly MatchingRule[]; readonly operationsOf: OperationsOf }[],
): PolicyInterests {
  const interests = new Map<string, Interest>();
  const unknownKinds = new Set<string>();
  for (const { rules, operationsOf } of groups) {
    for (const interest of rules.flatMap((rule) =>
      interestsOfRule(rule, kinds, unknownKinds, operationsOf),
    )) {
      if (policy.namespace === undefined || interest.scope === 'Namespaced') addInterest(interests, interest);
    }
  }
  return { interests, unknownKinds: [...unknownKinds].sort() };
}

export function addInterest(into: Map<string, Interest>, interest: Interest): void {
  const key = keyOf(interest);
  const known = into.get(key);
  const operations = new Set([...(known?.operations ?? []), ...interest.operations]);
  into.set(key, { ...interest, operations });
}

/** The interests that `covered` does not include. */
export function withoutCovered(interests: Interests, covered: Interests): readonly Interest[] {
  return [...interests.values()].flatMap((interest) => {
    const included = covered.get(keyOf(interest))?.operations;
    const operations = [...interest.operations].filter((operation) => !included?.has(operation));
    return operations.length === 0 ? [] : [{ ...interest, operations: new Set(operations) }];
  });
}

function keyOf({ group, version, resource }: Interest): string {
  return `${group}/${version}/${resource}`;
}

function interestsOfRule(
  rule: MatchingRule,
  kinds: KindTable,
  unknown: Set<string>,
  operationsOf: OperationsOf,
): readonly Interest[] {
  const { any, all } = rule.match;
  const of = (block: CompiledBlock) => ofBlock(block, operationsOf(block), kinds, unknown);
  const found = any === undefined ? intersection((all ?? []).map(of)) : union(any.map(of));
  // Blocks of `exclude.any` with only kinds and operations can be excluded from the webhook, too.
  const excluded = (rule.exclude?.any ?? []).filter(isAboutKindsOnly);
  return [...found.values()].flatMap((interest) => {
    const operations = excluded.reduce(
      (left, block) => withoutExcluded(left, block, interest, kinds),
      interest.operations,
    );
    return operations.size === 0 ? [] : [{ ...interest, operations }];
  });
}

function union(maps: readonly Interests[]): Interests {
  const result = new Map<string, Interest>();
  for (const map of maps) for (const interest of map.values()) addInterest(result, interest);
  return result;
}

/** All blocks must match: only resources and operations that all of them name. */
function intersection(maps: readonly Interests[]): Interests {
  const [first = new Map(), ...others] = maps;
  const result = new Map<string, Interest>();
  for (const [key, interest] of first) {
    const operations = [...interest.operations].filter((operation) =>
      others.every((map) => map.get(key)?.operations.has(operation) ?? false),
    );
    if (operations.length > 0) result.set(key, { ...interest, operations: new Set(operations) });
  }
  return result;
}

function ofBlock(
  block: CompiledBlock,
  operations: ReadonlySet<Operation>,
  kinds: KindTable,
  unknown: Set<string>,
): Interests {
  const result = new Map<string, Interest>();
  if (operations.size === 0) return result;
  if (block.kinds === undefined) {
    for (const served of kinds.kinds.filter(isReachedByWildcard))
      addInterest(result, interest(served, '', operations));
    return result;
  }
  for (const selector of block.kinds) {
    const resources = resourcesOf(selector, kinds);
    if (resources.length === 0 && isLiteral(selector)) unknown.add(selector.text);
    for (const { served, subresource } of resources)
      addInterest(result, interest(served, subresource, operations));
  }
  return result;
}

/** A mutate rule never runs on DELETE, and on CONNECT only if it is listed. */
function operationsToMutate({ operations }: CompiledBlock): ReadonlySet<Operation> {
  if (operations === undefined) return defaultOperations;
  return new Set([...operations].filter((operation) => operation !== 'DELETE'));
}

/** mutateExisting and generate rules run on DELETE and CONNECT if these are listed. */
function operationsOfTriggers({ operations }: CompiledBlock): ReadonlySet<Operation> {
  return operations ?? defaultOperations;
}

/** A synchronized object is deleted when its trigger is deleted or no longer matches. */
function operationsToFollow(block: CompiledBlock): ReadonlySet<Operation> {
  return new Set([...operationsOfTriggers(block), 'UPDATE', 'DELETE']);
}

function interest(served: ServedKind, subresource: string, operations: ReadonlySet<Operation>): Interest {
  return {
    group: served.group,
    version: served.version,
    resource: subresource === '' ? served.resource : `${served.resource}/${subresource}`,
    scope: served.namespaced ? 'Namespaced' : 'Cluster',
    operations,
  };
}

interface SelectedResource {
  readonly served: ServedKind;
  readonly subresource: string;
}

function resourcesOf(selector: KindSelector, kinds: KindTable): readonly SelectedResource[] {
  return kinds
    .select(selector)
    .filter(({ resource }) => selector.resource?.matches(resource) ?? true)
    .filter((served) => isLiteral(selector) || isReachedByWildcard(served))
    .flatMap((served) => {
      const names = ['', ...served.subresources].filter((name) => selector.subresource.matches(name));
      // In Kyverno, Pod includes pods/ephemeralcontainers.
      const isPod =
        selector.resource === undefined &&
        served.group === '' &&
        served.version === 'v1' &&
        served.kind === 'Pod';
      if (isPod && selector.subresource.pattern === '') names.push('ephemeralcontainers');
      return [...new Set(names)].map((subresource) => ({ served, subresource }));
    });
}

/** CEL policies name resources, others kinds. */
function isLiteral({ kind, resource = kind }: KindSelector): boolean {
  return resource.literal;
}

function isReachedByWildcard(served: ServedKind): boolean {
  return !isProtected(served) && served.verbs.some((verb) => verb === 'create' || verb === 'update');
}

function isAboutKindsOnly(block: CompiledBlock): boolean {
  const { path: _, kinds, operations, ...rest } = block;
  return (
    (kinds !== undefined || operations !== undefined) &&
    Object.values(rest).every((attribute) => attribute === undefined)
  );
}

function withoutExcluded(
  operations: ReadonlySet<Operation>,
  block: CompiledBlock,
  { group, version, resource }: Interest,
  kinds: KindTable,
): ReadonlySet<Operation> {
  const [name = '', subresource = ''] = resource.split('/');
  const kind = kinds.kindOfResource({ group, version, resource: name })?.kind ?? '';
  const fits = (block.kinds ?? []).some(
    (selector) =>
      selector.kind.matches(kind) &&
      selector.group.matches(group) &&
      selector.version.matches(version) &&
      selector.subresource.matches(subresource),
  );
  if (block.kinds !== undefined && !fits) return operations;
  if (block.operations === undefined) return new Set();
  return new Set([...operations].filter((operation) => !block.operations?.has(operation)));
}

/** The smallest equivalent list of rules, in a fixed order: grouped by version, then versions with equal resources merged. */
export function webhookRulesOf(interests: Interests): readonly WebhookRule[] {
  const byVersion = group([...interests.values()], (each) =>
    [each.group, each.scope, textOf(each.operations), each.version].join(' '),
  ).map((list) => ({ first: list[0] as Interest, resources: list.map(({ resource }) => resource).sort() }));
  const merged = group(byVersion, ({ first, resources }) =>
    [first.group, first.scope, textOf(first.operations), ...resources].join(' '),
  ).map((list): WebhookRule => {
    const { first, resources } = list[0] as (typeof byVersion)[number];
    return {
      apiGroups: [first.group],
      apiVersions: list.map((each) => each.first.version).sort(),
      resources,
      operations: sorted(first.operations),
      scope: first.scope,
    };
  });
  return merged.sort((left, right) => compare(JSON.stringify(left), JSON.stringify(right)));
}

function group<T>(items: readonly T[], keyOfItem: (item: T) => string): T[][] {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOfItem(item);
    const list = groups.get(key);
    if (list === undefined) groups.set(key, [item]);
    else list.push(item);
  }
  return [...groups.values()];
}

function sorted(operations: ReadonlySet<Operation>): readonly Operation[] {
  return operationOrder.filter((operation) => operations.has(operation));
}

function textOf(operations: ReadonlySet<Operation>): string {
  return sorted(operations).join();
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
