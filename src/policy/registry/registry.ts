import type { CompiledException, CompiledPolicy, CompiledRule, Operation, PolicyKind } from '../compiled.ts';
import type { CompiledCelException } from '../compiled-cel.ts';
import { lazy, oncePer } from '../lazy.ts';
import { couldApply, fits, type KindAndOperation, matchesAll } from './could-apply.ts';
import { indexCelExceptions, indexExceptions } from './exception-index.ts';
import { alternativesOfRule, type IndexedAttribute, kindsOf, type SubjectKey } from './literal-clauses.ts';
import {
  type Exclusion,
  excludedValuesOf,
  excludingValues,
  exclusionsOfRule,
  isExcludedBy,
} from './literal-exclusions.ts';
import { createIndexer, type Indexer, inOrder } from './rule-index.ts';

/** An immutable set of policies, indexed by kind and literal clauses. */
export interface PolicySnapshot {
  /** In evaluation order. */
  readonly policies: readonly CompiledPolicy[];
  readonly exceptions: readonly CompiledException[];
  /** Policies with rules that could apply. The same list for the same policies and rules. */
  candidates(key: CandidateKey): readonly Candidate[];
  /** Whether candidates depend on the labels or annotations of objects. */
  selectsBy(metadata: 'labels' | 'annotations'): boolean;
  /** Exceptions that name the policy. With a key, those whose literal clauses it may meet. */
  exceptionsFor(policyKey: string, key?: SubjectKey): readonly CompiledException[];
  /** Exceptions of policies.kyverno.io that name the policy. */
  celExceptionsFor(policy: CompiledPolicy): readonly CompiledCelException[];
}

export interface CandidateKey extends SubjectKey {
  readonly operation: Operation;
}

export interface Candidate {
  readonly policy: CompiledPolicy;
  /** The position of the policy in the snapshot; in a part of a snapshot, its position in the whole. */
  readonly position: number;
  /** All rules for the kind and operation, also those whose literal clauses do not match. */
  readonly rules: readonly CompiledRule[];
  /** Those whose match block holds for every object of the kind and operation. Absent if that is not known. */
  readonly matched?: ReadonlySet<CompiledRule> | undefined;
}

interface KnownCandidate {
  readonly candidate: Candidate;
  /** The literal exclusions of each rule. Absent if a rule has none: then the policy is always a candidate. */
  readonly exclusions?: readonly (readonly Exclusion[])[] | undefined;
}

export interface SnapshotOptions {
  /** By name (cluster policies first, then namespaced ones), or as given; kinds stay together in both. */
  readonly order?: 'name' | 'given' | undefined;
  /** For snapshots that follow one another: each takes over the index of the one before. */
  readonly indexer?: PolicyIndexer | undefined;
}

export type PolicyIndexer = Indexer<CompiledPolicy>;

export function createPolicyIndexer(): PolicyIndexer {
  return createIndexer((policy: CompiledPolicy) => literalsOf(policy).alternatives);
}

/** Keys come from requests, so the cache is cleared at this size. */
const maximumRemembered = 2_000;
const longestRemembered = 100;
/** The lists of the cache have at most so many items together: most contain all policies without literal clauses. */
const maximumReferences = 1_000_000;
const none: readonly never[] = [];
/** A Namespace has the labels that selectors of namespaces read. */
const attributesFrom: Readonly<Record<'labels' | 'annotations', readonly IndexedAttribute[]>> = {
  labels: ['labels', 'objectLabels', 'namespaceLabels'],
  annotations: ['annotations'],
};

export function createSnapshot(
  policies: readonly CompiledPolicy[],
  exceptions: readonly CompiledException[] = [],
  { order = 'name', indexer = createPolicyIndexer() }: SnapshotOptions = {},
): PolicySnapshot {
  const ordered = policies.toSorted(order === 'given' ? byKind : byScopeAndName);
  const index = lazy(() => indexer(ordered));
  const namespaces = lazy(() => new Set(ordered.map(({ namespace }) => namespace)));
  const exceptionsByPolicy = lazy(() => indexExceptions(exceptions));
  const celExceptions = indexCelExceptions(exceptions);
  const remembered = new Map<string, readonly Candidate[]>();
  let references = 0;
  /** Shared by all lists, by kind and operation, then by position. */
  const known = new Map<string, Map<number, KnownCandidate | undefined>>();
  const excludedValues = lazy(() =>
    excludedValuesOf(ordered.flatMap((policy) => literalsOf(policy).excluding)),
  );
  const textOf = createKeyText();

  function remember(text: string, find: () => readonly Candidate[]): readonly Candidate[] {
    const former = remembered.get(text);
    if (former !== undefined) return former;
    const found = find();
    references += found.length;
    if (remembered.size >= maximumRemembered || references > maximumReferences) {
      remembered.clear();
      known.clear();
      references = found.length;
    }
    remembered.set(text, found);
    return found;
  }

  /** @param excluding what the subject has of the values that exclude. */
  function candidatesAt(
    positions: readonly number[],
    excluding: ReadonlySet<string>,
    key: CandidateKey,
  ): readonly Candidate[] {
    const text = kindText(key);
    const ofKind = known.get(text) ?? new Map<number, KnownCandidate | undefined>();
    // Lists that are not remembered use it, too.
    if (known.size >= maximumRemembered) known.clear();
    known.set(text, ofKind);
    return inOrder(positions).flatMap((position) => {
      const policy = ordered[position] as CompiledPolicy;
      if (policy.namespace !== undefined && policy.namespace !== key.subject.request.namespace) return [];
      if (!ofKind.has(position)) ofKind.set(position, candidateFor(policy, position, key));
      const found = ofKind.get(position);
      if (found === undefined) return [];
      const isExcluded = found.exclusions?.every((each) => isExcludedBy(each, excluding)) ?? false;
      return isExcluded ? [] : found.candidate;
    });
  }

  return {
    policies: ordered,
    exceptions,
    selectsBy: (metadata) =>
      attributesFrom[metadata].some(
        (attribute) => index().attributes.has(attribute) || excludedValues().has(attribute),
      ),
    exceptionsFor(policyKey, key) {
      const found = exceptionsByPolicy().get(policyKey);
      if (found === undefined) return none;
      return key === undefined ? found.all : found.meeting(key);
    },
    celExceptionsFor: ({ kind, name }) =>
      celExceptions.size === 0 ? none : (celExceptions.get(`${kind} ${name}`) ?? none),
    candidates(key) {
      const { subject } = key;
      // All namespaces without namespaced policies share one entry.
      const namespace = namespaces().has(subject.request.namespace) ? subject.request.namespace : '';
      const text = textOf(key, namespace);
      const kinds = kindsOf(key);
      const restricted = index().restricted(kinds, subject);
      const excluding = excludingValues(excludedValues(), subject);
      const find = () => candidatesAt([...restricted, ...index().unrestricted(kinds)], excluding, key);
      const varying = restricted.length + excluding.size;
      if (varying > longestRemembered) return find();
      // Mostly the same string as before, whose hash is known.
      if (varying === 0) return remember(text, find);
      // Values may contain any separator.
      const values = excluding.size === 0 ? '' : JSON.stringify([...excluding]);
      return remember(`${text} ${restricted.join()} ${values}`, find);
    },
  };
}

/** Makes the text of a key. Most keys equal the one before, and a request asks again when its labels change. */
function createKeyText(): (key: CandidateKey, namespace: string) => string {
  let last: (KindAndOperation & { readonly namespace: string; readonly text: string }) | undefined;
  return ({ operation, group, version, kind, resource, subresource }, namespace) => {
    if (
      last?.kind === kind &&
      last.group === group &&
      last.version === version &&
      last.operation === operation &&
      last.namespace === namespace &&
      last.resource === resource &&
      last.subresource === subresource
    )
      return last.text;
    const facts = { operation, group, version, kind, resource, subresource };
    const text = `${kindText(facts)} ${namespace}`;
    last = { ...facts, namespace, text };
    return text;
  };
}

function kindText({ operation, group, version, kind, resource, subresource }: KindAndOperation): string {
  return `${operation} ${group}/${version}/${kind}/${resource ?? ''}/${subresource}`;
}

/** Some policies of a snapshot. They match at most what they match in the snapshot, which may be restricted. */
export function partOf(
  snapshot: PolicySnapshot,
  isPart: (policy: CompiledPolicy) => boolean,
): PolicySnapshot {
  return {
    ...snapshot,
    policies: snapshot.policies.filter(isPart),
    ...withCandidates(snapshot, (found) => found.filter(({ policy }) => isPart(policy))),
  };
}

/** Changes lists of candidates, each list once. */
export function withCandidates(
  snapshot: PolicySnapshot,
  change: (found: readonly Candidate[], key: CandidateKey) => readonly Candidate[],
): Pick<PolicySnapshot, 'candidates'> {
  const changed = new WeakMap<readonly Candidate[], readonly Candidate[]>();
  return {
    candidates(key) {
      const found = snapshot.candidates(key);
      let result = changed.get(found);
      if (result === undefined) {
        result = change(found, key);
        changed.set(found, result);
      }
      return result;
    },
  };
}

function candidateFor(
  policy: CompiledPolicy,
  position: number,
  key: KindAndOperation,
): KnownCandidate | undefined {
  const rules = policy.rules.filter((rule) => couldApply(rule, key));
  if (rules.length === 0) return undefined;
  const matched = new Set(rules.filter((rule) => matchesAll(rule, key)));
  const exclusions = rules.map((rule) => exclusionsOfRule(rule).filter(({ block }) => fits(block, key)));
  return {
    candidate: { policy, position, rules, matched },
    exclusions: exclusions.every(({ length }) => length > 0) ? exclusions : undefined,
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

/** What the index reads of a policy. Most policies survive a change of the set. */
const literalsOf = oncePer(({ rules, namespace }: CompiledPolicy) => ({
  alternatives: rules.flatMap((rule) => alternativesOfRule(rule, namespace)),
  /** The clauses of literal exclusions. */
  excluding: rules.flatMap((rule) => exclusionsOfRule(rule).flatMap(({ clause }) => clause ?? none)),
}));
