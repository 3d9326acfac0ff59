import type { Json } from '../../json/value.ts';
import type { StructuredSchema } from '../../patch/structured/schema.ts';
import type { CelText, CelType } from '../types.ts';
import {
  asDyn,
  bool,
  equalTo,
  isFieldName,
  not,
  precedence,
  primary,
  quote,
  type Truth,
  text,
  within,
} from './cel-text.ts';

/**
 * A translated JMESPath expression. JMESPath has three results: a value, null, and "no such key", which is an error as the result of
 * a variable and null almost everywhere else. The source fails for a missing key.
 */
export interface Term extends CelText {
  /** An optional that has no value where the key is missing (or, see `missing`, where the result is null). Absent if there always is a value. */
  readonly optional?: string | undefined;
  /** What the optional without a value stands for. */
  readonly missing?: 'error' | 'null' | undefined;
  /** The selection without its guard, and the guard: without it the value is null. */
  readonly guarded?: { readonly source: string; readonly guard: string } | undefined;
  /** For lists: the list, or an empty list instead of null. */
  readonly orEmpty?: string | undefined;
  /** The source may be null although no key of the path is missing. */
  readonly nullable?: boolean | undefined;
  /** One of several values, so that its type may vary. */
  readonly mixed?: boolean | undefined;
  /** The static type may also be `dyn`. */
  readonly uncertain?: boolean | undefined;
  /** The plain path: it fails for a missing key where the source gives null. */
  readonly direct?: string | undefined;
  /** The string is never empty. */
  readonly nonEmpty?: boolean | undefined;
  /** The value is never null. */
  readonly notNull?: boolean | undefined;
  /** The map whose keys are the list. */
  readonly keysOf?: CelText | undefined;
  /** Whether JMESPath takes the value for true, where that is simpler to say than the value. */
  readonly truth?: CelText | undefined;
  /** A context entry: its failure is an error everywhere. */
  readonly bound?: boolean | undefined;
  /** For a list of lists: its items, with an empty list for each one that is missing. */
  readonly spread?: Spread | undefined;
  /** The operands of `left || right`. */
  readonly alternative?: { readonly left: Term; readonly right: Term } | undefined;
  /** The value of a literal. */
  readonly constant?: Json | undefined;
  /** The string can only have ASCII characters, so that its case can be changed. */
  readonly ascii?: boolean | undefined;
}

export interface Spread {
  readonly source: string;
  /** Without a value where the list of lists is missing; absent if it never is. */
  readonly optional?: string | undefined;
  readonly items: StructuredSchema;
}

/** What is known of a value at run time. */
export type ValueClass = 'string' | 'number' | 'boolean' | 'list' | 'map' | 'null' | 'unknown';

const classes: Readonly<Record<CelType, ValueClass>> = {
  string: 'string',
  int: 'number',
  double: 'number',
  bool: 'boolean',
  list: 'list',
  map: 'map',
  null: 'null',
  dyn: 'unknown',
};

export function classOf({ type, schema }: CelText): ValueClass {
  if (type !== 'dyn' || schema === undefined) return classes[type];
  if (schema.kind === 'any') return 'unknown';
  if (schema.kind !== 'scalar') return schema.kind;
  return schema.scalar === 'untyped' ? 'unknown' : schema.scalar;
}

/** A value that always exists. */
export function definite(part: CelText, more: Partial<Term> = {}): Term {
  return { ...part, total: part.total ?? true, ...more };
}

/** The value, or null where the key is missing. */
export function lenient(term: Term): Term {
  if (term.optional === undefined) return term;
  if (term.type !== 'dyn') {
    // A field of the request has a static type, which null has not.
    const { source } = term;
    return { ...text(`has(${source}) ? dyn(${source}) : null`, 'dyn', precedence.ternary), total: true };
  }
  return {
    ...text(`${term.optional}.orValue(null)`, 'dyn'),
    total: true,
    uncertain: isIndexed(term.optional),
  };
}

/** The value of an optional; its absence is an error. */
export function presentValue(optional: string): string {
  return isIndexed(optional) ? `dyn(${optional}.value())` : `${optional}.value()`;
}

/** The checker takes the type of such an optional from its default. */
export function isIndexed(optional: string): boolean {
  return /[\])]$/.test(optional);
}

/**
 * The value of an optional, or else the other one. Kyverno always evaluates the argument of `orValue()`, so that one
 * that may fail has to be an optional itself.
 */
export function orElse(optional: string, other: Term): string {
  return other.total === true
    ? `${optional}.orValue(${other.source})`
    : `${optional}.or(optional.of(dyn(${other.source}))).value()`;
}

const fallbackTypes = { "''": 'string', '[]': 'list', '{}': 'map', false: 'bool' } as const;
export type EmptyLiteral = keyof typeof fallbackTypes;

/** The value, or a default where the key is missing or the result is null. */
export function orDefault(term: Term, fallback: EmptyLiteral): Term {
  if (term.optional === undefined) return term;
  const source =
    fallback === '[]' && term.orEmpty !== undefined ? term.orEmpty : `${term.optional}.orValue(${fallback})`;
  const isKnown = source !== term.orEmpty && !isIndexed(term.optional) && term.type === 'dyn';
  const type = isKnown ? 'dyn' : fallbackTypes[fallback];
  return { ...text(source, type), schema: term.schema, total: true, uncertain: !isKnown };
}

/** A term whose key may be missing. */
export function optionalTerm(
  optional: string,
  source: string,
  missing: 'error' | 'null',
  more: Partial<Term> = {},
): Term {
  const strict = missing === 'null' ? text(`${optional}.orValue(null)`, 'dyn') : text(source, 'dyn');
  const uncertain = missing === 'null' && isIndexed(optional);
  return { ...strict, optional, missing, total: missing === 'null', uncertain, ...more };
}

/** A field of a custom resource may be null or of another type, and JMESPath finds null in it. */
function mayBeOther({ optional, schema, type }: Term): boolean {
  return optional !== undefined && type === 'dyn' && (schema === undefined || schema.kind === 'any');
}

/** The optional without a value of another type. */
export function onlyType(optional: string, type: 'list' | 'map'): string;
export function onlyType(optional: string | undefined, type: 'list' | 'map'): string | undefined;
export function onlyType(optional: string | undefined, type: 'list' | 'map'): string | undefined {
  if (optional === undefined) return undefined;
  return `${optional}.optFlatMap(v, type(v) == ${type} ? optional.of(v) : optional.none())`;
}

/** `parent.name`. */
export function selectField(parent: Term, name: string): Term {
  const schema = fieldSchema(parent.schema, name);
  const dotted = isFieldName(name);
  const strict = (source: string): string => (dotted ? `${source}.${name}` : `${source}[${quote(name)}]`);
  // The static type of a literal is that of its values, which the default need not have.
  const base =
    (mayBeOther(parent) ? onlyType(parent.optional, 'map') : parent.optional) ??
    primary(parent.type === 'map' ? asDyn(parent) : parent);
  const optional = dotted ? `${base}.?${name}` : `${base}[?${quote(name)}]`;
  if (parent.guarded !== undefined) {
    const { source, guard } = parent.guarded;
    const isMap = mayBeOther(parent) ? ` && type(${source}) == map` : '';
    return guardedTerm(optional, { source: strict(source), guard: `${guard}${isMap}` }, schema);
  }
  if (mayBeOther(parent) && parent.missing !== 'null') {
    const source = primary(parent);
    return guardedTerm(optional, { source: strict(source), guard: `type(${source}) == map` }, schema);
  }
  return optionalTerm(optional, strict(primary(parent)), parent.missing === 'null' ? 'null' : 'error', {
    schema,
  });
}

/** `parent[index]`, which is null beyond the end. */
export function selectIndex(term: Term, index: number): Term | undefined {
  const parent = mayBeOther(term) ? onlyList(term) : term;
  const schema = parent.schema?.kind === 'list' ? parent.schema.items : undefined;
  if (index < 0) {
    if (index !== -1) return undefined;
    const last = `${orDefault(parent, '[]').source}.last()`;
    if (parent.optional === undefined)
      return optionalTerm(`${primary(parent)}.last()`, '', 'null', { schema });
    if (parent.missing === 'null') return optionalTerm(last, '', 'null', { schema });
    const source = parent.guarded?.source ?? primary(parent);
    const some = `size(${source}) > 0`;
    const guard = parent.guarded === undefined ? some : `${parent.guarded.guard} && ${some}`;
    return guardedTerm(last, { source: `${source}[size(${source}) - 1]`, guard }, schema);
  }
  const optional = `${parent.optional ?? primary(parent)}[?${index}]`;
  if (parent.optional === undefined || parent.missing === 'null')
    return optionalTerm(optional, '', 'null', { schema });
  const list = parent.guarded?.source ?? primary(parent);
  const sized = `size(${list}) > ${index}`;
  const guard = parent.guarded === undefined ? sized : `${parent.guarded.guard} && ${sized}`;
  return guardedTerm(optional, { source: `${list}[${index}]`, guard }, schema);
}

/** The list; null where the value is none. */
function onlyList(term: Term): Term {
  const optional = onlyType(term.optional, 'list');
  if (term.missing === 'null') return { ...term, optional };
  const source = term.guarded?.source ?? primary(term);
  const guard = [...(term.guarded === undefined ? [] : [term.guarded.guard]), `type(${source}) == list`];
  return { ...term, optional, guarded: { source, guard: guard.join(' && ') } };
}

function guardedTerm(
  optional: string,
  guarded: NonNullable<Term['guarded']>,
  schema: StructuredSchema | undefined,
): Term {
  const source = `${guarded.guard} ? ${guarded.source} : null`;
  return {
    ...text(source, 'dyn', precedence.ternary),
    optional,
    missing: 'error',
    guarded,
    schema,
    total: false,
  };
}

function fieldSchema(schema: StructuredSchema | undefined, name: string): StructuredSchema | undefined {
  return schema?.kind === 'map' ? schema.field(name) : undefined;
}

const emptyValues = "[dyn(null), dyn(false), dyn(''), dyn([]), dyn({})]";

/** Whether JMESPath takes the value for true: not null, false, or empty. */
export function truthy(term: Term): CelText {
  if (term.truth !== undefined) return term.truth;
  const total = term.optional !== undefined || term.total;
  switch (classOf(term)) {
    case 'boolean':
      return { ...(term.optional === undefined ? term : orDefault(term, 'false')), total };
    case 'string':
      return { ...not({ ...equalTo(orDefault(term, "''"), text("''", 'string')) }), total };
    case 'list':
      return sized(orDefault(term, '[]'), total);
    case 'map':
      return sized(orDefault(term, '{}'), total);
    case 'number':
      if (term.optional !== undefined) return { ...text(`${term.optional}.hasValue()`, 'bool'), total };
      return total === true ? bool(true) : not(equalTo(asDyn(term), text('null', 'null')));
    case 'null':
      return bool(false);
    case 'unknown':
      return {
        ...not(
          text(`${within(lenient(term), precedence.sum)} in ${emptyValues}`, 'bool', precedence.relation),
        ),
        total,
      };
  }
}

function sized(collection: CelText, total: boolean | undefined): Truth {
  const size = `size(${collection.source})`;
  return { ...text(`${size} > 0`, 'bool', precedence.relation), negated: `${size} == 0`, total };
}

/** An optional with the value, unless JMESPath takes it for false. It must be dynamic if its default has another type. */
export function truthyOptional(term: Term, dynamic: boolean): string {
  const wrap = (source: string): string => (dynamic ? `dyn(${source})` : source);
  const nonZero = (empty: EmptyLiteral): string =>
    `optional.ofNonZeroValue(${wrap(orDefault(term, empty).source)})`;
  const value = term.optional === undefined ? `optional.of(${wrap(term.source)})` : term.optional;
  switch (classOf(term)) {
    case 'number':
      return value;
    case 'string':
      return term.nonEmpty === true && !dynamic ? value : nonZero("''");
    case 'list':
      return nonZero('[]');
    case 'map':
      return nonZero('{}');
    case 'boolean':
      return nonZero('false');
    default: {
      const v = isIndexed(value) ? 'dyn(v)' : 'v';
      return `${value}.optFlatMap(v, ${v} == 0 ? optional.of(${v}) : optional.ofNonZeroValue(${v}))`;
    }
  }
}
