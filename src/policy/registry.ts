import type {
  CompiledBlock,
  CompiledException,
  CompiledPolicy,
  CompiledRule,
  Operation,
  PolicyKind,
} from './compiled.ts';
import type { CompiledCelException } from './compiled-cel.ts';
import { type KindKey, matchesKind } from './kind-selector.ts';

/** An immutable set of policies, indexed by resource and operation. */
export interface PolicySnapshot {
  /** In evaluation order. */
  readonly policies: readonly CompiledPolicy[];
  readonly exceptions: readonly CompiledException[];
  /** Policies with rules that could apply, by kind, operation and namespace. The same list for the same key. */
  candidates(key: CandidateKey): readonly Candidate[];
  exceptionsFor(policyKey: string): readonly CompiledException[];
  /** Exceptions of policies.kyverno.io that name the policy. */
  celExceptionsFor(policy: CompiledPolicy): readonly CompiledCelException[];
}

export interface CandidateKey extends KindKey {
  readonly operation: Operation;
  /** Empty for objects without a namespace. */
  readonly namespace: string;
}

export interface Candidate {
  readonly policy: CompiledPolicy;
  readonly rules: readonly CompiledRule[];
}

export interface SnapshotOptions {
  /** By name (cluster policies first, then namespaced ones), or as given; kinds stay together in both. */
  readonly order?: 'name' | 'given' | undefined;
}

/** Keys come from requests, so the cache is cleared at this size. */
const maximumRemembered = 2_000;
const none: readonly never[] = [];

export function createSnapshot(
  policies: readonly CompiledPolicy[],
  exceptions: readonly CompiledException[] = [],
  { order = 'name' }: SnapshotOptions = {},
): PolicySnapshot {
  const ordered = policies.toSorted(order === 'given' ? byKind : byScopeAndName);
  const index = indexRules(ordered);
  const namespaces = new Set(ordered.flatMap((policy) => policy.namespace ?? []));
  const exceptionsByPolicy = indexExceptions(exceptions);
  const celExceptions = indexCelExceptions(exceptions);
  const remembered = new Map<string, readonly Candidate[]>();
  return {
    policies: ordered,
    exceptions,
    exceptionsFor: (policyKey) => exceptionsByPolicy.get(policyKey) ?? none,
    celExceptionsFor: ({ kind, name }) =>
      celExceptions.size === 0 ? none : (celExceptions.get(`${kind} ${name}`) ?? none),
    candidates(key) {
      // All namespaces without namespaced policies share one entry.
      const namespace = namespaces.has(key.namespace) ? key.namespace : '';
      const text = `${key.operation} ${key.group}/${key.version}/${key.kind}/${key.resource ?? ''}/${key.subresource} ${namespace}`;
      const known = remembered.get(text);
      if (known !== undefined) return known;
      if (remembered.size >= maximumRemembered) remembered.clear();
      const found = findCandidates(index, key);
      remembered.set(text, found);
      return found;
    },
  };
}

/** Kyverno's command line runs ClusterPolicies, then MutatingAdmissionPolicies, then MutatingPolicies. */
const kindOrder: Readonly<Record<PolicyKind, number>> = {
  ClusterPolicy: 0,
  Policy: 0,
  MutatingAdmissionPolicy: 1,
  MutatingPolicy: 2,
  NamespacedMutatingPolicy: 2,
};

function byKind(left: CompiledPolicy, right: CompiledPolicy): number {
  return kindOrder[left.kind] - kindOrder[right.kind];
}

function byScopeAndName(left: CompiledPolicy, right: CompiledPolicy): number {
  const difference = byKind(left, right);
  if (difference !== 0) return difference;
  if ((left.namespace === undefined) !== (right.namespace === undefined))
    return left.namespace === undefined ? -1 : 1;
  return compareTexts(left.name, right.name) || compareTexts(left.key, right.key);
}

/** By code unit, independent of the locale. */
function compareTexts(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

interface IndexedRule {
  readonly policy: CompiledPolicy;
  readonly rule: CompiledRule;
  /** Position among all rules of all policies. */
  readonly rank: number;
}

interface RuleIndex {
  readonly byKind: ReadonlyMap<string, readonly IndexedRule[]>;
  /** Rules with a wildcard for the kind, or with no kind. */
  readonly anyKind: readonly IndexedRule[];
}

function indexRules(policies: readonly CompiledPolicy[]): RuleIndex {
  const byKind = new Map<string, IndexedRule[]>();
  const anyKind: IndexedRule[] = [];
  let rank = 0;
  for (const policy of policies) {
    for (const rule of policy.rules) {
      const indexed: IndexedRule = { policy, rule, rank: rank++ };
      const kinds = literalKinds(rule);
      if (kinds === undefined) anyKind.push(indexed);
      for (const kind of kinds ?? []) {
        const list = byKind.get(kind);
        if (list === undefined) byKind.set(kind, [indexed]);
        else list.push(indexed);
      }
    }
  }
  return { byKind, anyKind };
}

/** The kinds that a rule can match; undefined when it is not limited to certain kinds. */
function literalKinds({ match }: CompiledRule): ReadonlySet<string> | undefined {
  const blocks = match.any ?? match.all?.slice(0, 1) ?? [];
  const kinds = new Set<string>();
  for (const block of blocks) {
    if (block.kinds === undefined) return undefined;
    for (const { kind } of block.kinds) {
      if (!kind.literal) return undefined;
      kinds.add(kind.pattern);
    }
  }
  return kinds;
}

function findCandidates(index: RuleIndex, key: CandidateKey): readonly Candidate[] {
  const found = [...(index.byKind.get(key.kind) ?? []), ...index.anyKind].filter(
    ({ policy, rule }) =>
      (policy.namespace === undefined || policy.namespace === key.namespace) && couldApply(rule, key),
  );
  found.sort((left, right) => left.rank - right.rank);
  const candidates = new Map<CompiledPolicy, CompiledRule[]>();
  for (const { policy, rule } of found) {
    const rules = candidates.get(policy);
    if (rules === undefined) candidates.set(policy, [rule]);
    else rules.push(rule);
  }
  return [...candidates].map(([policy, rules]) => ({ policy, rules }));
}

/** Whether a rule can apply by kind and operation alone. */
export function couldApply(rule: CompiledRule, key: Omit<CandidateKey, 'namespace'>): boolean {
  const { any, all = [] } = rule.match;
  const fits = (block: CompiledBlock): boolean =>
    (block.operations === undefined || block.operations.has(key.operation)) &&
    (block.kinds === undefined || block.kinds.some((kind) => matchesKind(kind, key)));
  if (any !== undefined) return any.some((block) => fits(block) && runsOn(key.operation, [block], rule));
  return all.length > 0 && all.every(fits) && runsOn(key.operation, all, rule);
}

/**
 * Without a list, rules run on CREATE and UPDATE. On DELETE there is nothing to mutate, so only rules for
 * existing objects run, and only when they list it. Those run on CONNECT by default, other rules only when they list it.
 */
function runsOn(operation: Operation, blocks: readonly CompiledBlock[], rule: CompiledRule): boolean {
  if (operation === 'CREATE' || operation === 'UPDATE') return true;
  const mutatesExisting = rule.targets !== undefined;
  if (operation === 'CONNECT' && mutatesExisting) return true;
  if (operation === 'DELETE' && !mutatesExisting) return false;
  return blocks.some((block) => block.operations?.has(operation) ?? false);
}

function indexExceptions(
  exceptions: readonly CompiledException[],
): ReadonlyMap<string, readonly CompiledException[]> {
  const index = new Map<string, CompiledException[]>();
  for (const exception of exceptions) {
    for (const name of new Set(exception.exceptions.map(({ policyName }) => policyName))) {
      const list = index.get(name);
      if (list === undefined) index.set(name, [exception]);
      else list.push(exception);
    }
  }
  return index;
}

function indexCelExceptions(
  exceptions: readonly CompiledException[],
): ReadonlyMap<string, readonly CompiledCelException[]> {
  const index = new Map<string, CompiledCelException[]>();
  for (const { cel } of exceptions) {
    for (const key of new Set(cel?.policies.map(({ kind, name }) => `${kind} ${name}`))) {
      const list = index.get(key);
      if (cel === undefined) continue;
      if (list === undefined) index.set(key, [cel]);
      else list.push(cel);
    }
  }
  return index;
}
