import { stringifyJson } from '../../json/json-text.ts';
import { isArray, isObject, type Json, type JsonObject, member, type Path } from '../../json/value.ts';
import type { Reporter } from '../../problem.ts';
import { didYouMean } from '../did-you-mean.ts';
import { emptyScope, type Scope } from '../scope.ts';
import { compileTemplate } from '../template/template.ts';
import { isOperator, operatorNames, operatorSpelling, prepareOperator } from './operators.ts';

/** Conditions, compiled when their policy was loaded. */
export interface CompiledConditions {
  /** Root names that the variables read; `@` for any. */
  readonly roots: ReadonlySet<string>;
  /** Throws EvaluationError when a variable of an evaluated condition cannot be resolved. */
  evaluate(scope: Scope): ConditionsResult;
}

export interface ConditionsResult {
  readonly passed: boolean;
  /** The conditions evaluated, in order. */
  readonly evaluated: readonly ConditionResult[];
}

/** One condition with both operands after substitution. */
export interface ConditionResult {
  readonly path: Path;
  readonly operator: string;
  readonly key: Json;
  readonly value: Json;
  readonly passed: boolean;
  readonly message?: string | undefined;
}

export interface ConditionsOptions {
  /** Whether the deprecated plain list is accepted. Defaults to true. */
  readonly legacyList?: boolean | undefined;
}

/**
 * Compiles `{any, all}`, or the deprecated list in which all must hold. Returns undefined after reporting a problem.
 * @example compileConditions({ all: [{ key: '{{ request.operation }}', operator: 'Equals', value: 'CREATE' }] }, path, reporter)
 */
export function compileConditions(
  value: Json,
  path: Path,
  reporter: Reporter,
  options: ConditionsOptions = {},
): CompiledConditions | undefined {
  if (isArray(value) && options.legacyList !== false) {
    const all = compileGroup(value, path, reporter);
    return all && conditionsOf(undefined, all);
  }
  if (!isObject(value)) {
    reporter.error(
      path,
      'KYM_CONDITION_INVALID',
      'conditions must be under any or all',
      'write any: [ … ] or all: [ … ]',
    );
    return undefined;
  }
  return compileAnyAll(value, path, reporter);
}

function compileAnyAll(value: JsonObject, path: Path, reporter: Reporter): CompiledConditions | undefined {
  const unknown = Object.keys(value).filter((name) => name !== 'any' && name !== 'all');
  for (const name of unknown) {
    const hint = 'put conditions in a list under any or all';
    reporter.error(
      [...path, name],
      'KYM_CONDITION_INVALID',
      `conditions have any and all, not "${name}"`,
      hint,
    );
  }
  const groups = (['any', 'all'] as const).map((name) => {
    const group = member(value, name) ?? null;
    return group === null ? [] : compileGroup(group, [...path, name], reporter);
  });
  const [any, all] = groups;
  if (unknown.length > 0 || any === undefined || all === undefined) return undefined;
  return conditionsOf((member(value, 'any') ?? null) === null ? undefined : any, all);
}

function compileGroup(value: Json, path: Path, reporter: Reporter): readonly CompiledCondition[] | undefined {
  if (!isArray(value)) {
    reporter.error(path, 'KYM_CONDITION_INVALID', 'conditions must be a list');
    return undefined;
  }
  const compiled = value.map((entry, index) => compileCondition(entry, [...path, index], reporter));
  const conditions = compiled.filter((condition) => condition !== undefined);
  return conditions.length === compiled.length ? conditions : undefined;
}

/** As in Kyverno: `any` first, up to the first true condition (an empty `any` is false); then `all`, up to the first false one. */
function conditionsOf(
  any: readonly CompiledCondition[] | undefined,
  all: readonly CompiledCondition[],
): CompiledConditions {
  const roots = new Set([...(any ?? []), ...all].flatMap((condition) => [...condition.roots]));
  return {
    roots,
    evaluate(scope) {
      const evaluated: ConditionResult[] = [];
      let passed = any === undefined;
      for (const condition of any ?? []) {
        const result = condition.evaluate(scope);
        evaluated.push(result);
        passed = result.passed;
        if (passed) break;
      }
      for (const condition of all) {
        const result = condition.evaluate(scope);
        evaluated.push(result);
        if (result.passed) continue;
        passed = false;
        break;
      }
      return { passed, evaluated };
    },
  };
}

interface CompiledCondition {
  readonly roots: ReadonlySet<string>;
  evaluate(scope: Scope): ConditionResult;
}

/** One `{key, operator, value, message}`. Variables are substituted right before the comparison. */
function compileCondition(entry: Json, path: Path, reporter: Reporter): CompiledCondition | undefined {
  if (!isObject(entry)) {
    reporter.error(path, 'KYM_CONDITION_INVALID', 'a condition must have key, operator and value');
    return undefined;
  }
  const operator = readOperator(entry, path, reporter);
  const missing = (['key', 'value'] as const).filter((name) => member(entry, name) === undefined);
  for (const name of missing) reporter.error(path, 'KYM_CONDITION_INVALID', `the condition has no ${name}`);
  if (operator === undefined || missing.length > 0) return undefined;
  const key = compileTemplate(member(entry, 'key') ?? null, [...path, 'key'], reporter);
  const value = compileTemplate(member(entry, 'value') ?? null, [...path, 'value'], reporter);
  const test = value.constant
    ? prepareOperator(operator, value.render(emptyScope))
    : prepareOperator(operator);
  const message = member(entry, 'message');
  const described = typeof message === 'string' && message !== '' ? { message } : undefined;
  return {
    roots: new Set([...key.roots, ...value.roots]),
    evaluate(scope) {
      const keyNow = key.render(scope);
      const valueNow = value.render(scope);
      const passed = test(keyNow, valueNow);
      return { path, operator, key: keyNow, value: valueNow, passed, ...described };
    },
  };
}

function readOperator(entry: JsonObject, path: Path, reporter: Reporter): string | undefined {
  const operator = member(entry, 'operator');
  if (operator === undefined) {
    reporter.error(path, 'KYM_CONDITION_INVALID', 'the condition has no operator');
    return undefined;
  }
  if (typeof operator === 'string' && isOperator(operator)) return operator;
  const shown = typeof operator === 'string' ? operator : stringifyJson(operator);
  const spelling =
    operatorSpelling(shown) ?? (shown.length > 3 ? didYouMean(shown, operatorNames) : undefined);
  const hint = spelling === undefined ? `Use one of ${operatorNames.join(', ')}.` : `Write ${spelling}.`;
  reporter.error([...path, 'operator'], 'KYM_CONDITION_INVALID', `unknown operator ${shown}`, hint);
  return undefined;
}
