import { type CompiledConditions, compileConditions } from '../../expression/conditions/conditions.ts';
import { stringifyJson } from '../../json/json-text.ts';
import { read, readText } from '../../json/read-field.ts';
import { isArray, isObject, type Json, type JsonObject, type Path } from '../../json/value.ts';
import type { Reporter } from '../../problem.ts';
import { checkVariables, type VariableScope } from '../check/variable-scope.ts';
import { checkObject } from '../schema/check.ts';
import { operations } from '../schema/match.ts';
import { condition, conditions } from '../schema/rule.ts';

export interface ConditionForms {
  /** The old form: a plain list, all of which must be true. */
  readonly legacyList: boolean;
  /** The old operators In and NotIn; supported unless false. */
  readonly legacyOperators?: boolean | undefined;
}

/** Compiles preconditions or the conditions of an exception, with the checks that Kyverno makes at install. */
export function compileCheckedConditions(
  value: Json | undefined,
  path: Path,
  reporter: Reporter,
  scope: VariableScope,
  options: ConditionForms,
): CompiledConditions | undefined {
  if (value === undefined || value === null) return undefined;
  if (!checkShape(value, path, reporter, options.legacyList)) return undefined;
  for (const [entry, at] of conditionEntries(value, path)) {
    checkOperands(entry, at, reporter);
    if (options.legacyOperators === false) checkOperator(entry, at, reporter);
    checkOperationValue(entry, at, reporter);
  }
  const compiled = compileConditions(value, path, reporter, options);
  if (compiled !== undefined) checkVariables(compiled.roots, scope, path, reporter, value);
  return compiled;
}

function checkShape(value: Json, path: Path, reporter: Reporter, legacyList: boolean): boolean {
  if (isObject(value)) return checkObject(value, conditions, path, reporter, '');
  if (isArray(value) && legacyList) {
    return value
      .map((entry, index) => isObject(entry) && checkObject(entry, condition, [...path, index], reporter, ''))
      .every(Boolean);
  }
  reporter.error(path, 'KYM_FIELD_TYPE', 'conditions must be under any or all');
  return false;
}

function conditionEntries(value: Json, path: Path): [JsonObject, Path][] {
  if (isArray(value)) {
    return value.flatMap((entry, index) => (isObject(entry) ? [[entry, [...path, index]]] : []));
  }
  if (!isObject(value)) return [];
  return ['any', 'all'].flatMap((group) => conditionEntries(read(value, group) ?? [], [...path, group]));
}

/** Null is not a valid operand. To compare with a missing value, use a default such as `{{ a || '' }}`. */
function checkOperands(entry: JsonObject, path: Path, reporter: Reporter): void {
  for (const field of ['key', 'value']) {
    if (Object.hasOwn(entry, field) && entry[field] === null) {
      reporter.error(path, 'KYM_CONDITION_INVALID', `the condition has no ${field}`);
    }
  }
}

const replacements: Readonly<Record<string, string>> = {
  In: 'AnyIn or AllIn',
  NotIn: 'AnyNotIn or AllNotIn',
};

function checkOperator(entry: JsonObject, path: Path, reporter: Reporter): void {
  const operator = readText(entry, 'operator') ?? '';
  const replacement = Object.hasOwn(replacements, operator) ? replacements[operator] : undefined;
  if (replacement === undefined) return;
  const message = `this API version no longer supports the operator ${operator}`;
  reporter.error([...path, 'operator'], 'KYM_CONDITION_INVALID', message, `Use ${replacement}.`);
}

const requestOperation = /^\{\{\s*request\.operation\s*\}\}$/;
const wholeVariable = /^\{\{.*\}\}$/s;

/** Reports a comparison of the operation with a value that is not an operation. */
function checkOperationValue(entry: JsonObject, path: Path, reporter: Reporter): void {
  const key = read(entry, 'key');
  const value = read(entry, 'value');
  if (typeof key !== 'string' || !requestOperation.test(key) || value === undefined) return;
  if (typeof value === 'string' && wholeVariable.test(value)) return;
  for (const candidate of isArray(value) ? value : [value]) {
    if ((operations as readonly Json[]).includes(candidate)) continue;
    const message = `${stringifyJson(candidate)} is not an operation`;
    reporter.error([...path, 'value'], 'KYM_CONDITION_INVALID', message, `Use ${operations.join(', ')}.`);
  }
}
