import { evaluateOperator } from '../../expression/conditions/operators.ts';
import { isArray, isObject, type Json, type JsonObject, member } from '../../json/value.ts';
import { type CelText, NotConvertible, type Scope } from '../types.ts';
import { allOf, anyOf, asBool, asDyn, bool, equalTo, not, precedence, ternary, text } from './cel-text.ts';
import { translateComparison, translateDurationComparison } from './comparison.ts';
import { translateEquals, translateNotEquals } from './equality.ts';
import { memberships, translateMembership, translateOldMembership } from './membership.ts';
import { templateTerm } from './template.ts';
import { classOf, definite, lenient, orDefault, type Term, truthy } from './term.ts';
import { freshName, isTotal } from './translation.ts';

/** Translates `{any, all}`, or the old list in which all must hold, to a boolean expression. */
export function translateConditions(conditions: Json, path: string, scope: Scope): CelText {
  if (isArray(conditions)) return allOf(translateGroup(conditions, path, scope));
  if (!isObject(conditions)) throw new NotConvertible(path, 'the conditions are neither any nor all');
  const any = group(conditions, 'any', path, scope);
  const all = allOf(group(conditions, 'all', path, scope) ?? []);
  if (any === undefined) return all;
  const some = anyOf(any);
  if (isTotal(all)) return isTotal(some) ? allOf([some, all]) : ternary(some, all, bool(false));
  // Kyverno evaluates `all` even where `any` has failed, and an error is an error.
  if (isTotal(some)) return ternary(all, some, bool(false));
  return ternary(some, all, ternary(all, bool(false), bool(false)));
}

function group(
  conditions: JsonObject,
  name: 'any' | 'all',
  path: string,
  scope: Scope,
): readonly CelText[] | undefined {
  const list = member(conditions, name) ?? null;
  if (list === null) return undefined;
  if (!isArray(list)) throw new NotConvertible(`${path}.${name}`, 'the conditions are not a list');
  return translateGroup(list, `${path}.${name}`, scope);
}

function translateGroup(list: readonly Json[], path: string, scope: Scope): readonly CelText[] {
  return list.map((condition, index) => {
    const at = `${path}[${index}]`;
    if (!isObject(condition)) throw new NotConvertible(at, 'the condition is not an object');
    return translateCondition(condition, at, scope);
  });
}

const comparisons: ReadonlyMap<string, string> = new Map([
  ['GreaterThan', '>'],
  ['GreaterThanOrEquals', '>='],
  ['LessThan', '<'],
  ['LessThanOrEquals', '<='],
]);

function translateCondition(condition: JsonObject, path: string, scope: Scope): CelText {
  const operator = String(member(condition, 'operator') ?? '');
  const written = templateTerm(member(condition, 'key') ?? null, `${path}.key`, scope);
  const value = templateTerm(member(condition, 'value') ?? null, `${path}.value`, scope);
  if (written.constant !== undefined && value.constant !== undefined) {
    return bool(evaluateOperator(operator, written.constant, value.constant));
  }
  const emptiness = translateEmptiness(written, operator, value);
  if (emptiness !== undefined) return asBool(emptiness);
  return whereNotNull(simplifyKey(written, operator, value), scope, (key) =>
    translateOperator(key, operator, value, path),
  );
}

/** Every operator is false for null. */
function whereNotNull(key: Term, scope: Scope, test: (key: Term) => CelText): CelText {
  const { optional, guarded, schema } = key;
  if (optional === undefined) return test(key);
  if (guarded !== undefined) {
    const inner = test({ ...text(guarded.source, 'dyn'), schema, total: false });
    return ternary(text(guarded.guard, 'bool', precedence.and), inner, bool(false));
  }
  if (key.missing !== 'null') {
    const inner = test({ ...key, optional: undefined });
    if (key.nullable !== true) return inner;
    return ternary(equalTo(asDyn(key), text('null', 'null')), bool(false), inner);
  }
  const [name] = freshName('value', { names: [], scope });
  const inner = test({ ...text(name, 'dyn'), schema, total: true });
  // In Kyverno, the static type of `orValue()` is always `dyn`.
  const type = scope.target === 'map' ? 'bool' : 'dyn';
  return asBool({
    ...text(`${optional}.optMap(${name}, ${inner.source}).orValue(false)`, type),
    total: inner.total,
  });
}

function translateOperator(key: Term, operator: string, value: Term, path: string): CelText {
  switch (operator) {
    case 'Equals':
    case 'Equal':
      return translateEquals(key, value, path);
    case 'NotEquals':
    case 'NotEqual':
      return translateNotEquals(key, value, path);
    case 'In':
    case 'NotIn':
      return translateOldMembership(key, operator === 'NotIn', value, path);
    default:
  }
  const membership = memberships.get(operator);
  if (membership !== undefined) return translateMembership(key, membership, value, path);
  const comparison = comparisons.get(operator);
  if (comparison !== undefined) return translateComparison(key, comparison, value, path);
  const duration = comparisons.get(operator.replace(/^Duration/, ''));
  if (duration === undefined) throw new NotConvertible(path, `the operator ${operator} does not exist`);
  return translateDurationComparison(key, duration, value, path);
}

/** `key || ''` equals `''` exactly where the key is empty. */
function translateEmptiness(key: Term, operator: string, value: Term): CelText | undefined {
  const { alternative } = key;
  if (alternative === undefined || alternative.right.constant !== '' || value.constant !== '')
    return undefined;
  if (operator === 'Equals' || operator === 'Equal') return not(truthy(alternative.left));
  return operator === 'NotEquals' || operator === 'NotEqual' ? truthy(alternative.left) : undefined;
}

const emptyValues: readonly Json[] = [null, false, '', [], {}];

/**
 * `key || default`, compared with a constant: where the default and every empty value give the same result, it does not matter whether the key is
 * empty, so that the key alone is compared.
 */
function simplifyKey(key: Term, operator: string, value: Term): Term {
  const { alternative } = key;
  const { constant } = value;
  if (alternative === undefined || constant === undefined) return key;
  const fallback = alternative.right.constant;
  const { left } = alternative;
  const kind = classOf(left);
  if (fallback === undefined || left.optional === undefined || left.mixed === true) return key;
  if (kind !== 'string' && kind !== 'unknown') return key;
  const result = evaluateOperator(operator, fallback, constant);
  if (emptyValues.some((empty) => evaluateOperator(operator, empty, constant) !== result)) return key;
  if (kind === 'string') return definite(orDefault(left, "''"), { schema: left.schema, total: true });
  const isText = typeof constant === 'string' && typeof fallback === 'string';
  return definite(isText ? orDefault(left, "''") : lenient(left), { type: 'dyn', total: true });
}
