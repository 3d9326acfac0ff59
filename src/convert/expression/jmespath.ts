import type {
  BoundText,
  ComparisonOperator,
  Node,
  PathStep,
  TextValue,
} from '../../expression/jmespath/ast.ts';
import { parseExpression } from '../../expression/jmespath/parser.ts';
import { ExpressionSyntaxError } from '../../expression/jmespath/syntax-error.ts';
import { isArray, isObject, type Json } from '../../json/value.ts';
import { anySchema, scalarSchemas } from '../../patch/structured/schema.ts';
import type { CelText, Scope } from '../types.ts';
import {
  allOf,
  anyOf,
  asDyn,
  equalTo,
  listText,
  literal,
  mapText,
  not,
  precedence,
  primary,
  ternary,
  text,
  within,
} from './cel-text.ts';
import { commonSchema } from './common-schema.ts';
import { translateCall } from './functions.ts';
import { translateList } from './projections.ts';
import { rootTerm } from './roots.ts';
import {
  classOf,
  definite,
  type EmptyLiteral,
  lenient,
  optionalTerm,
  orDefault,
  type Spread,
  selectField,
  selectIndex,
  type Term,
  truthy,
  truthyOptional,
} from './term.ts';
import { concatenate, freshName, isTotal, printed, refuse, type Translation } from './translation.ts';

/**
 * Translates a JMESPath expression over the variables of a rule. A missing key is an error, as it is in a variable.
 * @public
 */
export function translateJmesPath(source: string, path: string, scope: Scope): CelText {
  return translateSource(source, rootTranslation(path, scope));
}

/** A translation at the root of a rule's variables. */
export function rootTranslation(path: string, scope: Scope): Translation {
  return { path, scope, variables: [], names: [], current: undefined, translate: translateNode };
}

export function translateSource(
  source: string,
  translation: Translation,
  ranges: Parameters<typeof parseExpression>[1] = [],
): Term {
  try {
    return translateNode(parseExpression(source, ranges), translation);
  } catch (error) {
    if (!(error instanceof ExpressionSyntaxError)) throw error;
    return refuse(translation, `the expression does not parse: ${error.message}`);
  }
}

function translateNode(node: Node, translation: Translation): Term {
  switch (node.type) {
    case 'path':
      return translatePath(node.head, node.steps, translation);
    case 'literal':
      return definite(literal(node.value, translation.path), { constant: node.value });
    case 'bound-text':
      return boundText(node.text, translation);
    case 'bound-json':
      return refuse(translation, 'a literal in backticks contains a variable');
    case 'chain':
      return translateChain(node.left, node.right, translation);
    case 'pipe':
      return node.children.reduce<Term | undefined>(
        (current, child) =>
          translateNode(
            child,
            current === undefined ? translation : { ...translation, current: lenientValue(current) },
          ),
        undefined,
      ) as Term;
    case 'or':
      return node.children
        .map((child) => translateNode(child, translation))
        .reduceRight((right, left) => ({
          ...or(left, right),
          alternative: { left, right },
          truth: anyOf([truthy(left), truthy(right)]),
        }));
    case 'and':
      return node.children
        .map((child) => translateNode(child, translation))
        .reduceRight((right, left) => ({
          ...and(left, right, translation),
          truth: allOf([truthy(left), truthy(right)]),
        }));
    case 'not':
      return definite(not(truthy(translateNode(node.child, translation))));
    case 'compare':
      return compareTerms(
        node.operator,
        translateNode(node.left, translation),
        translateNode(node.right, translation),
        translation,
      );
    case 'list': {
      const parts = node.children.map((child) => translateNode(child, translation));
      const items = parts.map(lenient);
      const isStrings = items.every((item) => item.optional === undefined && classOf(item) === 'string');
      const schema = isStrings ? stringList : undefined;
      const list = definite(listText(items), {
        total: items.every(isTotal),
        schema,
        spread: spreadOf(parts),
      });
      return whereCurrent(list, translation);
    }
    case 'hash': {
      const entries = node.entries.map(({ key, value }) => ({
        key: keyText(key, translation),
        value: lenient(translateNode(value, translation)),
      }));
      return whereCurrent(
        definite(mapText(entries), { total: entries.every(({ value }) => isTotal(value)) }),
        translation,
      );
    }
    case 'call':
      return translateCall(node, translation);
    case 'reference':
      return refuse(translation, 'an expression reference (&) has no form in CEL');
    default:
      return translateList(node, translation);
  }
}

const stringList = { kind: 'list', merge: 'atomic', keys: [], items: scalarSchemas.string } as const;

/** The items of several lists, if all operands are lists. */
function spreadOf(parts: readonly Term[]): Spread | undefined {
  const schemas = parts.flatMap(({ schema }) => (schema?.kind === 'list' ? [schema.items] : []));
  if (schemas.length === 0 || schemas.length < parts.length) return undefined;
  const lists = parts.map((part) => orDefault(part, '[]').source);
  return { source: `[${lists.join(', ')}].flatten()`, items: commonSchema(schemas) ?? anySchema };
}

/** A multiselect of null is null. */
function whereCurrent(term: Term, { current }: Translation): Term {
  if (current === undefined || classOf(current) !== 'unknown' || current.schema !== undefined) return term;
  return definite(
    ternary(equalTo(current, { ...text('null', 'null'), total: true }), text('null', 'null'), term),
    { total: term.total },
  );
}

function keyText(key: TextValue, translation: Translation): CelText {
  return typeof key === 'string' ? literal(key, translation.path) : boundText(key, translation);
}

/** Null where the key is missing, with what is known of the value otherwise. */
function lenientValue(term: Term): Term {
  if (term.optional === undefined) return term;
  const direct =
    term.direct ?? (term.missing === 'error' && term.guarded === undefined ? term.source : undefined);
  const { optional, schema, orEmpty, keysOf } = term;
  return { ...lenient(term), optional, missing: 'null', schema, orEmpty, keysOf, direct };
}

function boundText({ parts }: BoundText, translation: Translation): Term {
  const texts = parts.map((part) =>
    typeof part === 'string'
      ? definite(literal(part, translation.path))
      : printed(variableAt(part, translation), translation),
  );
  return concatenate(texts);
}

function variableAt(index: number, translation: Translation): Term {
  return translation.variables[index] ?? refuse(translation, 'a nested variable is unknown');
}

function translatePath(head: Node | undefined, steps: readonly PathStep[], translation: Translation): Term {
  if (head !== undefined) return walk(translateNode(head, translation), steps, translation);
  const { current } = translation;
  if (current !== undefined) return walk(current, steps, translation);
  const fixed = steps.slice(0, 3).filter((step): step is string | number => typeof step !== 'object');
  const { term, used } = rootTerm(fixed, translation.path, translation.scope);
  return walk(term, steps.slice(used), translation);
}

function walk(start: Term, steps: readonly PathStep[], translation: Translation): Term {
  let term = start;
  for (const step of steps) {
    const kind = classOf(term);
    if (typeof step === 'number') {
      if (kind !== 'list' && kind !== 'unknown') return nullOf([term], translation);
      term =
        selectIndex(term, step) ?? refuse(translation, `CEL has no index ${step} from the end of a list`);
    } else {
      if (kind !== 'map' && kind !== 'unknown') return nullOf([term], translation);
      term =
        typeof step === 'string'
          ? selectField(term, step)
          : selectComputed(term, boundText(step, translation));
    }
  }
  return term;
}

/** Null, whatever the operands are, unless one of them fails. */
function nullOf(operands: readonly Term[], translation: Translation): Term {
  if (operands.some((operand) => operand.optional === undefined && !isTotal(operand))) {
    return refuse(translation, 'the expression is null unless a part of it fails');
  }
  return definite(text('null', 'null'), { constant: null });
}

/** `parent."{{ name }}"`. */
function selectComputed(parent: Term, key: Term): Term {
  const schema = parent.schema?.kind === 'map' ? parent.schema.field('') : undefined;
  const base = parent.optional ?? primary(parent);
  return optionalTerm(
    `${base}[?${key.source}]`,
    `${primary(parent)}[${key.source}]`,
    parent.missing === 'null' ? 'null' : 'error',
    { schema },
  );
}

/** `left.right`, where right is a projection, a function or a multiselect over the value of left. Without left there is no value. */
function translateChain(leftNode: Node, rightNode: Node, translation: Translation): Term {
  const left = translateNode(leftNode, translation);
  const { optional, missing, ...present } = left;
  const strict = translateNode(rightNode, { ...translation, current: { ...present, total: true } });
  if (optional === undefined) return strict;
  const through = translateNode(rightNode, { ...translation, current: left });
  if (through.optional !== undefined) {
    const { source, precedence: level } = strict;
    return {
      ...through,
      source,
      precedence: level,
      missing,
      direct: strict.direct ?? through.direct,
      nullable: through.missing === 'null' || through.nullable === true,
      total: missing === 'null',
    };
  }
  const [name, names] = freshName('value', translation);
  const bound: Term = { ...text(name, 'dyn'), schema: left.schema, total: true };
  const body = translateNode(rightNode, { ...translation, names, current: bound });
  if (!isTotal(body))
    return refuse(translation, 'a function that may fail reads a value that may be missing');
  const schema = body.schema ?? schemaOfClass(classOf(body));
  const spread =
    through.spread === undefined || body.spread === undefined
      ? undefined
      : { ...through.spread, optional: `${optional}.optMap(${name}, dyn(${body.spread.source}))` };
  return optionalTerm(
    `${optional}.optMap(${name}, ${asDyn(body).source})`,
    strict.source,
    missing ?? 'error',
    {
      schema,
      spread,
      ...(missing === 'null' ? {} : { precedence: strict.precedence, uncertain: strict.type !== 'dyn' }),
    },
  );
}

/** What the type of an expression says about its value. */
function schemaOfClass(kind: ReturnType<typeof classOf>): Term['schema'] {
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
function or(left: Term, right: Term): Term {
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
  const value = `${optional}.orValue(${fallback.source})`;
  return definite(text(value, 'dyn'), {
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
function and(left: Term, right: Term, translation: Translation): Term {
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

function compareTerms(operator: ComparisonOperator, left: Term, right: Term, translation: Translation): Term {
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
