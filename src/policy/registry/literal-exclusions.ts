import { isObject, type Json, type JsonObject, member } from '../../json/value.ts';
import type { CompiledBlock, CompiledRule } from '../compiled.ts';
import {
  type Clause,
  type IndexedAttribute,
  type IndexedSubject,
  literalClauses,
  valuesOf,
} from './literal-clauses.ts';

/** What an exclude block of a rule excludes: within its kinds and operations, subjects with one of the values. */
export interface Exclusion {
  readonly block: CompiledBlock;
  /** Undefined when the block has only kinds and operations. */
  readonly clause: Clause | undefined;
}

/** The values of all literal exclusions, by attribute. */
export type ExcludedValues = ReadonlyMap<IndexedAttribute, ReadonlySet<string>>;

const none: readonly never[] = [];
const noValues: ReadonlySet<string> = new Set();

/** The exclude blocks of a rule that one literal clause decides. The others are left to the evaluation. */
export function exclusionsOfRule({ exclude }: CompiledRule): readonly Exclusion[] {
  if (exclude === undefined) return none;
  const { any, all = none } = exclude;
  // A single block is the same in both.
  return (any ?? (all.length === 1 ? all : none)).flatMap((block) => exclusionOf(block) ?? none);
}

function exclusionOf(block: CompiledBlock): Exclusion | undefined {
  const requirements = countRequirements(block);
  if (requirements === 0) {
    const isEmpty = block.kinds === undefined && block.operations === undefined;
    return isEmpty ? undefined : { block, clause: undefined };
  }
  const [clause] = literalClauses(block);
  return requirements === 1 && clause !== undefined ? { block, clause } : undefined;
}

/** A literal clause decides about a block if it stands for its only requirement. */
function countRequirements(block: CompiledBlock): number {
  const { names, namespaces, annotations, selector, namespaceSelector, subjects, roles, clusterRoles } =
    block;
  const single = [names, namespaces, subjects, roles, clusterRoles].filter((each) => each !== undefined);
  const labels = selector === undefined ? 0 : selectorSize(selector.document);
  // The labels of namespaces may have to be fetched.
  const ofNamespace = namespaceSelector === undefined ? 0 : Number.POSITIVE_INFINITY;
  return single.length + (annotations?.length ?? 0) + labels + ofNamespace;
}

/** A selector without requirements counts as one: it has no clause, but selects every object. */
function selectorSize(document: NonNullable<CompiledBlock['selector']>['document']): number {
  const labels = member(document, 'matchLabels');
  const expressions = member(document, 'matchExpressions');
  const size =
    (isObject(labels) ? Object.keys(labels).length : 0) +
    (Array.isArray(expressions) ? expressions.length : 0);
  return Math.max(1, size);
}

/** @param clauses those of all exclusions. */
export function excludedValuesOf(clauses: Iterable<Clause>): ExcludedValues {
  const excluded = new Map<IndexedAttribute, Set<string>>();
  for (const { attribute, values } of clauses) {
    const known = excluded.get(attribute) ?? new Set();
    for (const value of values) known.add(value);
    excluded.set(attribute, known);
  }
  return excluded;
}

/** Those values by which rules may exclude the subject, with their attributes. */
export function excludingValues(excluded: ExcludedValues, subject: IndexedSubject): ReadonlySet<string> {
  if (excluded.size === 0) return noValues;
  const found = new Set<string>();
  for (const [attribute, values] of excluded) {
    if (attribute === 'labels' && !isExact(subject.labels, isText)) continue;
    if (attribute === 'annotations' && !isExact(subject.annotations)) continue;
    for (const value of valuesOf(attribute, subject) ?? none)
      if (values.has(value)) found.add(textOf(attribute, value));
  }
  return found;
}

/** Whether a rule excludes subjects with these values, given its exclusions for the kind and operation. */
export function isExcludedBy(exclusions: readonly Exclusion[], values: ReadonlySet<string>): boolean {
  return exclusions.some(
    ({ clause }) =>
      clause === undefined || clause.values.some((value) => values.has(textOf(clause.attribute, value))),
  );
}

/**
 * Whether values stand for exactly these labels or annotations. An object that is not validated yet may have a key with a
 * space, which reads like another key with its value.
 */
function isExact(labels: JsonObject, isComparable: (value: Json) => boolean = () => true): boolean {
  return Object.entries(labels).every(([key, value]) => !key.includes(' ') && isComparable(value));
}

/** Selectors compare only strings. */
function isText(value: Json): boolean {
  return typeof value === 'string';
}

function textOf(attribute: IndexedAttribute, value: string): string {
  return `${attribute} ${value}`;
}
