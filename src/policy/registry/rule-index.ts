import { lazy } from '../lazy.ts';
import {
  type Alternative,
  type Clause,
  type IndexedAttribute,
  type IndexedSubject,
  valuesOf,
} from './literal-clauses.ts';

/** Finds items by kind and by one literal clause of each alternative. Lists of positions may contain duplicates. */
export interface LiteralIndex {
  /** The attributes of all literal clauses, and perhaps of some that no item has any more. */
  readonly attributes: ReadonlySet<IndexedAttribute>;
  /** The positions of items with an alternative for one of the kinds that no literal clause restricts. */
  unrestricted(kinds: readonly string[]): readonly number[];
  /** The positions of items with an alternative for one of the kinds whose literal clause the subject may meet. */
  restricted(kinds: readonly string[], subject: IndexedSubject): readonly number[];
}

interface KindIndex {
  readonly unrestricted: readonly number[];
  readonly byAttribute: ReadonlyMap<IndexedAttribute, PositionsByValue>;
}

/** One position or several: with thousands of policies, most values occur once. */
type PositionsByValue = Map<string, number | number[]>;

/** The alternatives of a kind. A kind is indexed when it is first asked for: a change of the set costs less. */
interface KindEntries {
  readonly positions: number[];
  readonly alternatives: Alternative[];
  index?: KindIndex | undefined;
}

/** Indexes a list of items; the index finds them by their positions. */
export type Indexer<Item> = (items: readonly Item[]) => LiteralIndex;

/** What a list has in common with those before: their index, and where its items are. */
interface Base<Item> {
  readonly index: LiteralIndex;
  readonly length: number;
  readonly positions: () => ReadonlyMap<Item, number>;
}

/** The share of a list that may differ from the base before everything is indexed anew. */
const largestChange = 1 / 8;

/** Indexes lists that follow one another: a list that is nearly the same as one before costs little. */
export function createIndexer<Item>(alternativesOf: (item: Item) => readonly Alternative[]): Indexer<Item> {
  let base: Base<Item> | undefined;
  const rebase = (items: readonly Item[]) => {
    const index = indexAlternatives(items.map(alternativesOf));
    base = {
      index,
      length: items.length,
      positions: lazy(() => new Map(items.map((item, position) => [item, position]))),
    };
    return index;
  };
  return (items) =>
    (base === undefined ? undefined : indexChanges(base, items, alternativesOf)) ?? rebase(items);
}

/** The index of the base and another one of what is not in it. Undefined if too much has changed. */
function indexChanges<Item>(
  base: Base<Item>,
  items: readonly Item[],
  alternativesOf: (item: Item) => readonly Alternative[],
): LiteralIndex | undefined {
  const { index, length } = base;
  const positions = base.positions();
  /** Where the items of the base are now; -1 for those that are gone. */
  const current = new Int32Array(length).fill(-1);
  const added: number[] = [];
  items.forEach((item, position) => {
    const before = positions.get(item);
    if (before === undefined || current[before] !== -1) added.push(position);
    else current[before] = position;
  });
  const gone = length - (items.length - added.length);
  if (Math.max(gone, added.length) > length * largestChange) return undefined;
  const ofAdded = indexAlternatives(added.map((position) => alternativesOf(items[position] as Item)));
  const merge = (kept: readonly number[], others: readonly number[]) => {
    const found: number[] = [];
    for (const before of kept) {
      const position = current[before] as number;
      if (position !== -1) found.push(position);
    }
    for (const position of others) found.push(added[position] as number);
    return found;
  };
  return {
    attributes: new Set([...index.attributes, ...ofAdded.attributes]),
    unrestricted: (kinds) => merge(index.unrestricted(kinds), ofAdded.unrestricted(kinds)),
    restricted: (kinds, subject) =>
      merge(index.restricted(kinds, subject), ofAdded.restricted(kinds, subject)),
  };
}

/** @param items the alternatives of each item; the index finds the items by their positions. */
export function indexAlternatives(items: readonly (readonly Alternative[])[]): LiteralIndex {
  const byKind = new Map<string, KindEntries>();
  const attributes = new Set<IndexedAttribute>();
  items.forEach((alternatives, position) => {
    for (const alternative of alternatives) {
      for (const { attribute } of alternative.clauses) attributes.add(attribute);
      for (const kind of alternative.kinds) {
        const { positions, alternatives: ofKind } = entriesOf(byKind, kind);
        positions.push(position);
        ofKind.push(alternative);
      }
    }
  });
  const find = (kinds: readonly string[], collect: (index: KindIndex, found: number[]) => void) => {
    const found: number[] = [];
    for (const kind of kinds) {
      const entries = byKind.get(kind);
      if (entries === undefined) continue;
      entries.index ??= indexKind(entries);
      collect(entries.index, found);
    }
    return found;
  };
  return {
    attributes,
    unrestricted: (kinds) =>
      find(kinds, ({ unrestricted }, found) => {
        for (const position of unrestricted) found.push(position);
      }),
    restricted: (kinds, subject) =>
      find(kinds, ({ byAttribute }, found) => {
        for (const [attribute, byValue] of byAttribute) collectValues(attribute, byValue, subject, found);
      }),
  };
}

function entriesOf(byKind: Map<string, KindEntries>, kind: string): KindEntries {
  const known = byKind.get(kind);
  if (known !== undefined) return known;
  const created = { positions: [], alternatives: [] };
  byKind.set(kind, created);
  return created;
}

function collectValues(
  attribute: IndexedAttribute,
  byValue: PositionsByValue,
  subject: IndexedSubject,
  found: number[],
): void {
  const add = (positions: number | number[] | undefined): void => {
    if (typeof positions === 'number') found.push(positions);
    else if (positions !== undefined) for (const position of positions) found.push(position);
  };
  const values = valuesOf(attribute, subject);
  if (values === undefined) for (const positions of byValue.values()) add(positions);
  else for (const value of values) add(byValue.get(value));
}

function indexKind({ positions, alternatives }: KindEntries): KindIndex {
  const counts = countValues(alternatives);
  const unrestricted: number[] = [];
  const byAttribute = new Map<IndexedAttribute, PositionsByValue>();
  alternatives.forEach(({ clauses }, entry) => {
    const position = positions[entry] as number;
    const clause = clauses.length > 1 ? rarest(clauses, counts) : clauses[0];
    if (clause === undefined) unrestricted.push(position);
    else addValues(mapOf(byAttribute, clause.attribute), clause.values, position);
  });
  return { unrestricted, byAttribute };
}

function addValues(byValue: PositionsByValue, values: readonly string[], position: number): void {
  for (const value of values) {
    const positions = byValue.get(value);
    if (positions === undefined) byValue.set(value, position);
    else if (typeof positions === 'number') byValue.set(value, [positions, position]);
    else positions.push(position);
  }
}

type ValueCounts = ReadonlyMap<IndexedAttribute, ReadonlyMap<string, number>>;

/** How many alternatives have each value. Without a choice between clauses nothing has to be counted. */
function countValues(alternatives: readonly Alternative[]): ValueCounts {
  const counts = new Map<IndexedAttribute, Map<string, number>>();
  if (alternatives.every(({ clauses }) => clauses.length < 2)) return counts;
  for (const { clauses } of alternatives) {
    for (const { attribute, values } of clauses) {
      const ofAttribute = mapOf(counts, attribute);
      for (const value of values) ofAttribute.set(value, (ofAttribute.get(value) ?? 0) + 1);
    }
  }
  return counts;
}

function mapOf<Value>(
  maps: Map<IndexedAttribute, Map<string, Value>>,
  attribute: IndexedAttribute,
): Map<string, Value> {
  const known = maps.get(attribute);
  if (known !== undefined) return known;
  const created = new Map<string, Value>();
  maps.set(attribute, created);
  return created;
}

/** Policies may share all clauses but one: the clause with the rarest values is the one that separates them. */
function rarest(clauses: readonly Clause[], counts: ValueCounts): Clause {
  const frequency = ({ attribute, values }: Clause) =>
    Math.max(...values.map((value) => counts.get(attribute)?.get(value) ?? 0));
  return clauses.reduce((best, clause) => (frequency(clause) < frequency(best) ? clause : best));
}

/** Positions in ascending order, each once. */
export function inOrder(positions: readonly number[]): readonly number[] {
  return [...new Set(positions)].sort((left, right) => left - right);
}
