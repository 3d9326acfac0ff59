import type { ComparisonOperator } from '../../expression/jmespath/ast.ts';
import { isArray, isObject, type Json } from '../../json/value.ts';
import { anySchema, scalarSchemas } from '../../patch/structured/schema.ts';
import type { CelText } from '../types.ts';
import { allOf, anyOf, asDyn, equalTo, not, precedence, ternary, text, within } from './cel-text.ts';
import {
  classOf,
  definite,
  type EmptyLiteral,
  lenient,
  optionalTerm,
  orDefault,
  orElse,
  type Term,
  truthy,
  truthyOptional,
} from './term.ts';
import { freshName, isTotal, nullOf, refuse, type Translation } from './translation.ts';

/** What the type of an expression says about its value. */
export function schemaOfClass(kind: ReturnType<typeof classOf>): Term['schema'] {
  if (kind === 'string' || kind === 'number' || kind === 'boolean') return scalarSchemas[kind];
  if (kind === 'list') return { kind: 'list', merge: 'atomic', keys: [], items: anySchema };
  if (kind !== 'map') return undefined;
  return {
    kind: 'map',
    atomic: true,
    field: () => undefined,
    declares: () => false,
    fieldNames: [],
    defaults: {},
  };
}

/** The first operand that is neither null, false nor empty; otherwise the last. */
export function or(left: Term, right: Term): Term {
  const fallback = lenient(right);
  if (left.constant !== undefined) return definite(isEmptyConstant(left.constant) ? fallback : left);
  const kind = classOf(left);
  if (kind === 'null') return definite(fallback, { total: fallback.total });
  if (
    kind === 'boolean' &&
    classOf(right) === 'boolean' &&
    right.constant !== false &&
    right.optional === undefined
  ) {
    return definite(anyOf([truthy(left), truthy(right)]));
  }
  const empty = emptyOf(kind);
  if (empty !== undefined && fallback.source === empty) {
    return {
      ...definite(orDefault(left, empty)),
      schema: left.schema,
      keysOf: left.keysOf,
      total: isTotal(left) || left.optional !== undefined,
    };
  }
  const isCollection = kind === 'list' || kind === 'map';
  const isStatic = isCollection && (left.type !== 'dyn' || left.orEmpty !== undefined);
  const optional = truthyOptional(left, classOf(fallback) !== kind || isStatic);
  const schema = classOf(fallback) === kind ? (left.schema ?? schemaOfClass(kind)) : undefined;
  return definite(text(orElse(optional, fallback), 'dyn'), {
    schema,
    uncertain: true,
    notNull: (right.constant ?? null) !== null,
    total: (isTotal(left) || left.optional !== undefined) && isTotal(fallback),
  });
}

function isEmptyConstant(value: Json): boolean {
  if (isArray(value)) return value.length === 0;
  return (
    value === null || value === false || value === '' || (isObject(value) && Object.keys(value).length === 0)
  );
}

function emptyOf(kind: ReturnType<typeof classOf>): EmptyLiteral | undefined {
  switch (kind) {
    case 'string':
      return "''";
    case 'list':
      return '[]';
    case 'map':
      return '{}';
    case 'boolean':
      return 'false';
    default:
      return undefined;
  }
}

/** The first operand that is null, false or empty; otherwise the last, of which a missing key is an error. */
export function and(left: Term, right: Term, translation: Translation): Term {
  if (
    classOf(left) === 'boolean' &&
    classOf(right) === 'boolean' &&
    right.optional === undefined &&
    left.optional === undefined
  ) {
    return definite(allOf([truthy(left), right]));
  }
  const value = lenient(left);
  const condition = truthy(left);
  const chosen = ternary(condition, right, value);
  if (right.optional === undefined) return definite(chosen, { total: isTotal(value) && isTotal(right) });
  if (right.type !== 'dyn' || right.uncertain === true)
    return refuse(translation, 'the second operand of && is a field of the request that may be missing');
  if (!isTotal(value))
    return refuse(translation, 'the first operand of && may fail, and the second may be missing');
  const optional = ternary(
    condition,
    text(right.optional, 'dyn'),
    text(`optional.of(${asDyn(value).source})`, 'dyn'),
  );
  return {
    ...chosen,
    mixed: true,
    optional: `(${optional.source})`,
    missing: right.missing,
    total: right.missing === 'null' && isTotal(value),
  };
}

export function compareTerms(
  operator: ComparisonOperator,
  left: Term,
  right: Term,
  translation: Translation,
): Term {
  if (operator === '==' || operator === '!=') {
    const equality = equalTo(comparable(left, right), comparable(right, left));
    return definite(operator === '==' ? equality : not(equality));
  }
  const [a, b] = [classOf(left), classOf(right)];
  if ([a, b].some((kind) => kind !== 'number' && kind !== 'unknown'))
    return nullOf([left, right], translation);
  if (a === 'unknown' || b === 'unknown') {
    return refuse(
      translation,
      `the operands of ${operator} may be other values than numbers, for which JMESPath gives null`,
    );
  }
  if (left.optional !== undefined && right.optional !== undefined) {
    return refuse(translation, `both operands of ${operator} may be missing`);
  }
  if (left.optional === undefined && right.optional === undefined) {
    return definite(ordered(left, operator, right), { total: isTotal(left) && isTotal(right) });
  }
  if (!isTotal(left.optional === undefined ? left : right)) {
    return refuse(translation, `an operand of ${operator} may fail, and the other may be missing`);
  }
  const [name] = freshName('number', translation);
  const number = text(name, 'dyn');
  const optional = left.optional ?? right.optional ?? '';
  const body =
    left.optional === undefined ? ordered(left, operator, number) : ordered(number, operator, right);
  return {
    ...optionalTerm(`${optional}.optMap(${name}, dyn(${body.source}))`, '', 'null'),
    schema: { kind: 'scalar', scalar: 'boolean' },
  };
}

function ordered(left: CelText, operator: string, right: CelText): CelText {
  return text(
    `${within(left, precedence.sum)} ${operator} ${within(right, precedence.sum)}`,
    'bool',
    precedence.relation,
  );
}

/** Missing is null. Compared with a string that is not empty, an empty string reads better. */
function comparable(term: Term, other: Term): CelText {
  if (term.optional === undefined) return term;
  const isText = term.type === 'dyn' || term.type === 'string';
  if (isText && typeof other.constant === 'string' && other.constant !== '') return orDefault(term, "''");
  return lenient(term);
}
