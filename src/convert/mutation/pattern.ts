import { formatScalar } from '../../expression/conditions/pattern.ts';
import { rangeEnds } from '../../expression/conditions/pattern-text.ts';
import { parseDuration } from '../../expression/duration.ts';
import { parseQuantity } from '../../expression/quantity.ts';
import { findVariables } from '../../expression/template/tokens.ts';
import { hasWildcard } from '../../expression/wildcard.ts';
import { isArray, isObject, type Json, type JsonArray, type JsonObject } from '../../json/value.ts';
import type { StructuredSchema } from '../../patch/structured/schema.ts';
import {
  allOf,
  anyOf,
  bool,
  literal,
  not,
  precedence,
  quote,
  ternary,
  text,
  within,
} from '../expression/cel-text.ts';
import { wildcardTest } from '../expression/wildcard.ts';
import { type CelText, NotConvertible, type Scope } from '../types.ts';
import { fieldOf, isFilled, type Place, rootPlace } from './place.ts';
import { definiteText, hasVariables } from './value.ts';

/** What a pattern is compared with. */
export interface Subject {
  readonly place: Place;
  readonly schema: StructuredSchema | undefined;
  /** Field path in the policy, for messages. */
  readonly path: string;
  readonly scope: Scope;
}

/** Whether the value at a place exists and matches the value of a condition anchor. */
export function anchorHolds(subject: Subject, pattern: Json): CelText {
  if (isArray(pattern)) return check(subject, pattern).match;
  if (isObject(pattern)) return allOf([present(subject), check(subject, pattern).match]);
  const { schema, place } = subject;
  if (hasVariables(pattern)) return equalsVariable(subject, pattern);
  if (schema?.kind === 'list') {
    const item = itemSubject(subject, schema);
    return allOf([filled(subject), each(place, item, scalarTest(item, formatScalar(pattern)))]);
  }
  if (schema?.kind === 'map') return bool(false);
  return presentAnd(subject, formatScalar(pattern));
}

/** Values that the API server accepts only if they are names, so that they are never patterns. */
const nameVariable =
  /^(?:request\.(?:object\.metadata\.)?(?:name|namespace)|target\.metadata\.(?:name|namespace)|element\d*\.name)$/;

/** The old form reads the text as a pattern after its variables are substituted. */
function mayBePattern(pattern: Json, scope: Scope): boolean {
  if (typeof pattern !== 'string') return true;
  const variables = findVariables(pattern);
  const constant = variables.reduceRight(
    (rest, { start, end }) => `${rest.slice(0, start)}${rest.slice(end)}`,
    pattern,
  );
  const isName = (expression: string): boolean => {
    const [root = ''] = expression.split('.');
    return (
      nameVariable.test(expression) &&
      (!root.startsWith('element') || scope.lookup(root)?.schema !== undefined)
    );
  };
  return !/^[\w./:-]*$/.test(constant) || !variables.every(({ expression }) => isName(expression.trim()));
}

/** The value of a variable is compared as a string. */
function equalsVariable({ place, schema, path, scope }: Subject, pattern: Json): CelText {
  if (mayBePattern(pattern, scope)) {
    throw new NotConvertible(
      path,
      'the value of the variable may be a pattern, such as a text with wildcards or a quantity',
    );
  }
  if (schema?.kind !== 'scalar' || schema.scalar !== 'string') {
    throw new NotConvertible(
      path,
      'a variable is compared with a field that may be something other than a string',
    );
  }
  const value = definiteText(pattern, { scope, schema, path });
  return relation(`${place.optional}.orValue(null) == ${within(value, precedence.sum)}`);
}

/** The verdicts of a pattern. A value to which the pattern does not apply neither matches nor fails. */
interface Check {
  readonly match: CelText;
  /** Absent if the pattern applies to every value. */
  readonly applies?: CelText | undefined;
}

function check(subject: Subject, pattern: Json): Check {
  if (typeof pattern === 'string' && hasVariables(pattern))
    return { match: equalsVariable(subject, pattern) };
  if (isObject(pattern)) return checkMap(subject, pattern);
  if (isArray(pattern)) return { match: checkList(subject, pattern) };
  return { match: checkScalar(subject, pattern) };
}

function checkScalar(subject: Subject, pattern: null | boolean | number | bigint | string): CelText {
  const { place, schema, path } = subject;
  if (schema?.kind === 'list') {
    const item = itemSubject(subject, schema);
    return allOf([filled(subject), each(place, item, checkScalar(item, pattern))]);
  }
  if (pattern === null) {
    return relation(`${place.optional}.orValue(null) in [dyn(null), dyn(0), dyn(false), dyn('')]`);
  }
  if (typeof pattern === 'string') return presentAnd(subject, pattern);
  const isNumeric = typeof pattern !== 'boolean';
  if (isNumeric && (schema?.kind !== 'scalar' || schema.scalar !== 'number')) {
    throw new NotConvertible(path, 'a number is compared with a field that may be a string');
  }
  return relation(`${place.optional}.orValue(null) == ${literal(pattern, path).source}`);
}

function checkList(subject: Subject, pattern: JsonArray): CelText {
  const [first] = pattern;
  const { schema, path } = subject;
  if (first === undefined) return bool(false);
  if (isArray(first)) throw new NotConvertible(path, 'a list of lists is compared');
  if (schema?.kind !== 'list') throw new NotConvertible(path, 'the schema of the compared list is not known');
  const item = itemSubject(subject, schema);
  if (!isObject(first)) {
    return allOf([filled(subject), each(subject.place, item, checkScalar(item, first))]);
  }
  const { match, applies } = checkMap(item, first);
  const name = item.place.read;
  const list = subject.place.read;
  if (applies === undefined) return allOf([filled(subject), each(subject.place, item, match)]);
  return allOf([
    filled(subject),
    call(`${list}.all(${name}, ${anyOf([not(applies), match]).source})`),
    anyOf([relation(`size(${list}) == 0`), call(`${list}.exists(${name}, ${match.source})`)]),
  ]);
}

function checkMap(subject: Subject, pattern: JsonObject): Check {
  const anchored: CelText[] = [];
  const plain: CelText[] = [];
  for (const [key, inner] of Object.entries(pattern)) {
    const [, modifier, anchoredName] = /^([<=X^]?)\((.+)\)$/s.exec(key) ?? [];
    const name = anchoredName ?? key;
    const path = `${subject.path}.${key}`;
    if (key.includes('{{') || hasWildcard(name)) throw new NotConvertible(path, 'the key is not constant');
    const { schema } = subject;
    const field: Subject = {
      place: fieldOf(subject.place, name),
      schema: schema?.kind === 'map' ? schema.field(name) : undefined,
      path,
      scope: subject.scope,
    };
    const isAny = modifier === undefined && inner === '*';
    const holds = (): CelText =>
      isAny
        ? relation(isFilled(field.place))
        : isArray(inner)
          ? check(field, inner).match
          : allOf([present(field), check(field, inner).match]);
    if (modifier === undefined) plain.push(inner === null ? check(field, inner).match : holds());
    else anchored.push(modified(modifier, field, inner, holds));
  }
  const match = allOf([...anchored, ...plain]);
  return anchored.length === 0 ? { match } : { match, applies: allOf(anchored) };
}

function modified(modifier: string, field: Subject, pattern: Json, holds: () => CelText): CelText {
  switch (modifier) {
    case '':
      return holds();
    case '<':
    case '=':
      return anyOf([not(present(field)), check(field, pattern).match]);
    case 'X':
      return not(present(field));
    default:
      return anyOf([not(present(field)), existence(field, pattern)]);
  }
}

function existence(field: Subject, pattern: Json): CelText {
  const { schema, place, path } = field;
  if (!isArray(pattern) || schema?.kind !== 'list')
    throw new NotConvertible(path, 'the compared value is not a list');
  const item = itemSubject(field, schema);
  return allOf(
    pattern.map((each) =>
      call(`${place.read}.exists(${item.place.read}, ${check(item, each).match.source})`),
    ),
  );
}

function present({ place }: Subject): CelText {
  return call(place.present);
}

function filled({ place }: Subject): CelText {
  return relation(isFilled(place));
}

/** The variable of a comprehension is named after the list. */
function itemSubject(subject: Subject, schema: Extract<StructuredSchema, { kind: 'list' }>): Subject {
  const name = itemName(subject.place);
  return { place: rootPlace(name), schema: schema.items, path: `${subject.path}[0]`, scope: subject.scope };
}

/** @example itemName of object.spec.containers is `container` */
export function itemName({ pointer }: Place): string {
  const last = pointer.findLast((part) => typeof part === 'string' && /^[A-Za-z]\w*$/.test(part));
  const list = typeof last === 'string' ? last : 'items';
  const single = list.replace(/ies$/, 'y').replace(/(?<=[^s])s$/, '');
  return single === list || single === 'object' ? `${single}Item` : single;
}

function each({ read }: Place, item: Subject, test: CelText): CelText {
  return call(`${read}.all(${item.place.read}, ${test.source})`);
}

function call(source: string): CelText {
  return { ...text(source, 'bool'), total: true };
}

function relation(source: string): CelText {
  return { ...text(source, 'bool', precedence.relation), total: true };
}

/** Whether a scalar exists and matches a string of Kyverno's pattern language. */
function presentAnd(subject: Subject, pattern: string): CelText {
  const { place } = subject;
  if (pattern === '*' && subject.schema?.kind === 'scalar') return present(subject);
  const isPlain =
    subject.schema?.kind === 'scalar' && subject.schema.scalar === 'string' && !/[*?|&<>!]|^\d/.test(pattern);
  if (isPlain && !isMeasure(pattern)) return relation(`${place.optional}.orValue(null) == ${quote(pattern)}`);
  // Only values of an unknown type can be null, which equals `null` and is unequal to everything else.
  const mayBeNull = subject.schema === undefined || subject.schema.kind === 'any';
  const exists =
    mayBeNull && /^(?:null$|!(?!.*[|&]))/.test(pattern) ? present(subject) : relation(isFilled(place));
  return allOf([exists, testOfType(subject, (each) => scalarTest(each, pattern))]);
}

/** A value of an unknown type may be a list, of which all items must match, or a map, which never matches. */
function testOfType(subject: Subject, test: (subject: Subject) => CelText): CelText {
  const { place, schema } = subject;
  if (schema !== undefined && schema.kind !== 'any') return test(subject);
  const item: Subject = { ...subject, place: rootPlace(itemName(place)) };
  const isScalar = relation(`!(type(${item.place.read}) in [dyn(map), dyn(list), dyn(null_type)])`);
  const all = each(place, item, allOf([isScalar, test(item)]));
  const only = allOf([relation(`type(${place.read}) != map`), test(subject)]);
  return ternary(relation(`type(${place.read}) == list`), all, only);
}

function isMeasure(operand: string): boolean {
  return parseDuration(operand) !== undefined || parseQuantity(operand) !== undefined;
}

/** Alternatives by `|`, conjunctions by `&`. A value that is the pattern itself matches too. */
function scalarTest(subject: Subject, pattern: string): CelText {
  const alternatives = pattern.split('|').map((part) =>
    allOf(
      part
        .trim()
        .split('&')
        .map((term) => termTest(subject, term.trim())),
    ),
  );
  const { schema, place } = subject;
  const mayBeItself =
    schema?.kind === 'scalar' && (schema.scalar === 'string' || schema.scalar === 'untyped');
  const itself =
    /[|&<>!]/.test(pattern) && mayBeItself ? [relation(`${place.read} == ${quote(pattern)}`)] : [];
  return anyOf([...alternatives, ...itself]);
}

const comparisons = ['>=', '<=', '>', '<', '!'] as const;

function termTest(subject: Subject, term: string): CelText {
  const comparison = term.length < 2 ? undefined : comparisons.find((each) => term.startsWith(each));
  const range = comparison === undefined ? rangeEnds(term) : undefined;
  if (range !== undefined) {
    return allOf([measureTest(subject, '>=', range[0]), measureTest(subject, '<=', range[1])]);
  }
  if (/\d!-/.test(term)) throw new NotConvertible(subject.path, `the range ${term} has no form in CEL`);
  const operand = comparison === undefined ? term : term.slice(comparison.length).trim();
  if (isMeasure(operand)) {
    return measureTest(
      subject,
      comparison === undefined ? '==' : comparison === '!' ? '!=' : comparison,
      operand,
    );
  }
  if (comparison === undefined) return textTest(subject, operand);
  return comparison === '!' ? not(textTest(subject, operand)) : bool(false);
}

function measureTest(subject: Subject, comparison: string, operand: string): CelText {
  const { place, schema, path } = subject;
  if (schema?.kind !== 'scalar')
    throw new NotConvertible(path, 'the type of the compared field is not known');
  if (parseDuration(operand) !== undefined && operand !== '0') {
    throw new NotConvertible(
      path,
      `${operand} is compared as a duration or as a quantity, depending on the value`,
    );
  }
  if (schema.scalar === 'number') {
    if (!/^-?\d+(\.\d+)?$/.test(operand))
      throw new NotConvertible(path, `${operand} is compared with a number`);
    return relation(`${place.read} ${comparison} ${operand}`);
  }
  if (schema.scalar === 'boolean') return bool(comparison === '!=');
  const value = schema.scalar === 'string' ? place.read : `string(${place.read})`;
  const measured = relation(`quantity(${value}).compareTo(quantity(${quote(operand)})) ${comparison} 0`);
  const isMeasured = call(`isQuantity(${value})`);
  if (comparison === '==')
    return anyOf([relation(`${value} == ${quote(operand)}`), allOf([isMeasured, measured])]);
  return comparison === '!=' ? anyOf([not(isMeasured), measured]) : allOf([isMeasured, measured]);
}

function textTest({ place, schema, path }: Subject, operand: string): CelText {
  if (schema?.kind === 'scalar') {
    if (schema.scalar === 'boolean' && /^(true|false)$/.test(operand))
      return relation(`${place.read} == ${operand}`);
    const value = schema.scalar === 'string' ? place.read : `string(${place.read})`;
    return { ...wildcardTest(text(value, 'string'), operand), total: true };
  }
  if (/^(true|false)$/.test(operand))
    return relation(`${place.read} in [dyn(${quote(operand)}), dyn(${operand})]`);
  if (operand === 'null') return relation(`${place.read} in [dyn('null'), dyn(null)]`);
  if (!hasWildcard(operand)) return relation(`${place.read} == ${quote(operand)}`);
  throw new NotConvertible(path, 'the type of the field that the wildcard is compared with is not known');
}
