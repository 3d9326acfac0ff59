import { hasWildcard, type TextMatcher } from '../expression/wildcard.ts';
import { isArray, isObject, type Json, type JsonObject, member } from '../json/value.ts';
import type { CompiledBlock, CompiledPolicy, CompiledRule } from './compiled.ts';

/** The values of an object that `names`, `namespaces` and label selectors are compared with. */
export interface IndexedSubject {
  readonly name: string;
  readonly namespace: string;
  readonly labels: JsonObject;
}

/** Finds policies by kind and by one literal clause of each block: a name, a namespace, or a label. */
export interface RuleIndex {
  /** The positions of all policies with a rule for the kind. May contain duplicates. */
  all(kind: string): readonly number[];
  /** The positions of policies with a rule for the kind that no literal clause restricts. May contain duplicates. */
  unrestricted(kind: string): readonly number[];
  /** The positions of policies with a rule for the kind whose literal clause the object meets. May contain duplicates. */
  restricted(kind: string, subject: IndexedSubject): readonly number[];
}

/** Values one of which an object must have, as keys of the index. */
type Clause = readonly string[];

/** The clauses of one block that restrict it. One of them is enough to find the block. */
type BlockClauses = readonly Clause[];

interface RuleClauses {
  readonly kinds: readonly string[];
  /** An object must meet a clause of at least one of these. */
  readonly alternatives: readonly BlockClauses[];
  /** The first clause of each alternative; undefined for one without clauses. */
  readonly first: readonly (Clause | undefined)[];
  /** Whether an alternative has several clauses. */
  readonly hasChoice: boolean;
}

interface KindIndex {
  readonly unrestricted: number[];
  /** One position or several: with thousands of policies, most values occur once. */
  readonly byValue: Map<string, number | number[]>;
  hasLabels: boolean;
}

const none: readonly never[] = [];
const emptyIndex: KindIndex = { unrestricted: [], byValue: new Map(), hasLabels: false };
const anyKind = '*';

export function indexRules(policies: readonly CompiledPolicy[]): RuleIndex {
  const clauses = policies.map(clausesOf);
  const counts = countValues(clauses);
  const byKind = new Map<string, KindIndex>();
  clauses.forEach((rules, position) => {
    addPolicy(byKind, position, rules, counts);
  });
  const forAnyKind = byKind.get(anyKind) ?? emptyIndex;
  const forKind = (kind: string): KindIndex => byKind.get(kind) ?? emptyIndex;
  return {
    all: (kind) =>
      [forKind(kind), forAnyKind].flatMap(({ unrestricted, byValue }) => [
        ...unrestricted,
        ...[...byValue.values()].flat(),
      ]),
    unrestricted: (kind) => [...forKind(kind).unrestricted, ...forAnyKind.unrestricted],
    restricted(kind, subject) {
      const found: number[] = [];
      collect(forKind(kind), subject, found);
      collect(forAnyKind, subject, found);
      return found;
    },
  };
}

function collect({ byValue, hasLabels }: KindIndex, subject: IndexedSubject, found: number[]): void {
  if (byValue.size === 0) return;
  const add = (value: string): void => {
    const positions = byValue.get(value);
    if (typeof positions === 'number') found.push(positions);
    else if (positions !== undefined) for (const position of positions) found.push(position);
  };
  add(nameValue(subject.name));
  add(namespaceValue(subject.namespace));
  if (!hasLabels) return;
  for (const key of Object.keys(subject.labels)) {
    const value = subject.labels[key];
    if (typeof value === 'string') add(labelValue(key, value));
  }
}

function addPolicy(
  byKind: Map<string, KindIndex>,
  position: number,
  rules: readonly RuleClauses[],
  counts: ReadonlyMap<string, number>,
): void {
  for (const { kinds, alternatives, first, hasChoice } of rules) {
    const chosen = hasChoice ? alternatives.map((each) => rarest(each, counts)) : first;
    for (const kind of kinds) addRule(indexOf(byKind, kind), position, chosen);
  }
}

function indexOf(byKind: Map<string, KindIndex>, kind: string): KindIndex {
  const known = byKind.get(kind);
  if (known !== undefined) return known;
  const created = { unrestricted: [], byValue: new Map(), hasLabels: false };
  byKind.set(kind, created);
  return created;
}

function addRule(index: KindIndex, position: number, chosen: readonly (Clause | undefined)[]): void {
  if (chosen.includes(undefined)) {
    index.unrestricted.push(position);
    return;
  }
  for (const clause of chosen) {
    for (const value of clause ?? none) {
      index.hasLabels ||= value.startsWith(labelPrefix);
      const positions = index.byValue.get(value);
      if (positions === undefined) index.byValue.set(value, position);
      else if (typeof positions === 'number') index.byValue.set(value, [positions, position]);
      else positions.push(position);
    }
  }
}

/** How many rules each value occurs in, for values of rules with several clauses. */
function countValues(policies: readonly (readonly RuleClauses[])[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const rules of policies) {
    for (const { alternatives, hasChoice } of rules) {
      if (hasChoice) for (const value of alternatives.flat(2)) counts.set(value, 0);
    }
  }
  if (counts.size === 0) return counts;
  for (const { alternatives } of policies.flat()) {
    for (const value of alternatives.flat(2)) {
      const count = counts.get(value);
      if (count !== undefined) counts.set(value, count + 1);
    }
  }
  return counts;
}

/** Policies may share all clauses but one: the clause with the rarest values is the one that separates them. */
function rarest(clauses: BlockClauses, counts: ReadonlyMap<string, number>): Clause | undefined {
  if (clauses.length < 2) return clauses[0];
  const frequency = (clause: Clause) => Math.max(...clause.map((value) => counts.get(value) ?? 0));
  return clauses.reduce((best, clause) => (frequency(clause) < frequency(best) ? clause : best));
}

/** Policies are immutable, and most of them survive a change of the set, so their clauses are read once. */
const known = new WeakMap<CompiledPolicy, readonly RuleClauses[]>();

function clausesOf(policy: CompiledPolicy): readonly RuleClauses[] {
  const remembered = known.get(policy);
  if (remembered !== undefined) return remembered;
  const clauses = policy.rules.map(readClauses);
  known.set(policy, clauses);
  return clauses;
}

function readClauses(rule: CompiledRule): RuleClauses {
  const { any, all = [] } = rule.match;
  const alternatives = any === undefined ? [all.flatMap(literalClauses)] : any.map(literalClauses);
  return {
    kinds: literalKinds(rule),
    alternatives,
    first: alternatives.map(([clause]) => clause),
    hasChoice: alternatives.some((clauses) => clauses.length > 1),
  };
}

/** The kinds that a rule can match. */
function literalKinds({ match }: CompiledRule): readonly string[] {
  const blocks = match.any ?? match.all?.slice(0, 1) ?? [];
  const kinds = new Set<string>();
  for (const block of blocks) {
    if (block.kinds === undefined) return [anyKind];
    for (const { kind } of block.kinds) {
      if (!kind.literal) return [anyKind];
      kinds.add(kind.pattern);
    }
  }
  return [...kinds];
}

function literalClauses({ names, namespaces, selector }: CompiledBlock): BlockClauses {
  return [
    ...literalTexts(names, nameValue),
    ...literalTexts(namespaces, namespaceValue),
    ...(selector === undefined ? none : literalLabels(selector.document)),
  ];
}

function literalTexts(
  matchers: readonly TextMatcher[] | undefined,
  keyOf: (text: string) => string,
): Clause[] {
  if (matchers === undefined || !matchers.every(({ literal }) => literal)) return [];
  return [matchers.map(({ pattern }) => keyOf(pattern))];
}

/** The labels that an object must have: entries of `matchLabels` without wildcards, and `In`. */
function literalLabels(selector: JsonObject): Clause[] {
  const labels = Object.entries(objectOf(member(selector, 'matchLabels')))
    .filter(([key, value]) => typeof value === 'string' && !hasWildcard(key) && !hasWildcard(value))
    .map(([key, value]) => [labelValue(key, String(value))]);
  const expressions = member(selector, 'matchExpressions');
  const listed = (isArray(expressions) ? expressions : []).flatMap((entry) => {
    const { key, operator, values } = objectOf(entry);
    if (operator !== 'In' || !isArray(values)) return [];
    return [values.map((value) => labelValue(String(key), String(value)))];
  });
  return [...labels, ...listed];
}

function objectOf(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

const labelPrefix = 'label ';

function nameValue(name: string): string {
  return `name ${name}`;
}

function namespaceValue(namespace: string): string {
  return `namespace ${namespace}`;
}

/** A label key has no space. */
function labelValue(key: string, value: string): string {
  return `${labelPrefix}${key} ${value}`;
}
