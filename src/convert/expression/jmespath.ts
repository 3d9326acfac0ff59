import type { Node, TextValue } from '../../expression/jmespath/ast.ts';
import { parseExpression } from '../../expression/jmespath/parser.ts';
import { ExpressionSyntaxError } from '../../expression/jmespath/syntax-error.ts';
import { anySchema, scalarSchemas } from '../../patch/structured/schema.ts';
import type { CelText, Scope } from '../types.ts';
import { allOf, anyOf, asDyn, equalTo, listText, literal, mapText, not, ternary, text } from './cel-text.ts';
import { commonSchema } from './common-schema.ts';
import { translateCall } from './functions/call.ts';
import { and, compareTerms, or, schemaOfClass } from './operators.ts';
import { boundText, translatePath } from './paths.ts';
import { translateList } from './projections.ts';
import {
  classOf,
  definite,
  lenient,
  optionalTerm,
  orDefault,
  type Spread,
  type Term,
  truthy,
} from './term.ts';
import { freshName, isTotal, refuse, type Translation } from './translation.ts';

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
