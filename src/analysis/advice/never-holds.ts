import { evaluateOperator, isOperator } from '../../expression/conditions/operators.ts';
import { usesVariables } from '../../expression/template/template.ts';
import { hasWildcard } from '../../expression/wildcard.ts';
import { equal } from '../../json/equal.ts';
import { stringifyJson } from '../../json/json-text.ts';
import { read, readText } from '../../json/read-field.ts';
import { isObject, type Json, type JsonObject, type Path } from '../../json/value.ts';
import {
  type ConditionGroup,
  conditionGroups,
  conditionPlaces,
} from '../../policy/check/condition-places.ts';
import type { Reporter } from '../../problem.ts';

/** Reports preconditions that are always false: constants that differ, and values that exclude each other. */
export function adviseOnConditionsThatNeverHold(rule: JsonObject, reporter: Reporter): void {
  for (const place of conditionPlaces(rule)) {
    for (const group of conditionGroups(place)) {
      if (group.mode === 'all') {
        adviseOnEach(group, reporter);
        adviseOnContradictions(group, reporter);
      } else if (group.conditions.length > 0 && group.conditions.every(isConstantlyFalse)) {
        const message = 'these conditions compare constants and are never true';
        reporter.warn(
          group.path,
          'KYM_NEVER_APPLIES',
          message,
          'Use a variable, such as {{ request.name }}.',
        );
      }
    }
  }
}

function adviseOnEach({ path, conditions }: ConditionGroup, reporter: Reporter): void {
  conditions.forEach((condition, index) => {
    if (!isConstantlyFalse(condition) || !isObject(condition)) return;
    const { key, operator, value } = condition;
    const text = `${stringifyJson(key)} ${String(operator)} ${stringifyJson(value)}`;
    const message = `this condition is always false: ${text}`;
    reporter.warn([...path, index], 'KYM_NEVER_APPLIES', message, 'Write a variable as {{ … }}.');
  });
}

function isConstantlyFalse(condition: Json): boolean {
  if (!isObject(condition)) return false;
  const key = read(condition, 'key');
  const value = read(condition, 'value');
  const operator = readText(condition, 'operator') ?? '';
  if (key === undefined || value === undefined || !isOperator(operator)) return false;
  return !mayVary(key) && !mayVary(value) && !evaluateOperator(operator, key, value);
}

function mayVary(value: Json): boolean {
  return usesVariables(value) || stringifyJson(value).includes('$(');
}

/** One key that must equal two different strings. */
function adviseOnContradictions({ path, conditions }: ConditionGroup, reporter: Reporter): void {
  const wanted = new Map<string, { readonly value: Json; readonly index: number }>();
  conditions.forEach((condition, index) => {
    const required = isObject(condition) ? requiredText(condition) : undefined;
    if (required === undefined) return;
    const earlier = wanted.get(required.key);
    if (earlier === undefined) wanted.set(required.key, { value: required.value, index });
    else if (!equal(earlier.value, required.value)) {
      const message = `${required.key} cannot equal both ${stringifyJson(earlier.value)} and ${stringifyJson(required.value)}`;
      const at: Path = [...path, index];
      reporter.warn(at, 'KYM_NEVER_APPLIES', message, 'Put both under any, or use AnyIn with a list.');
    }
  });
}

/** Strings that are compared literally: no wildcards, numbers or durations. */
function requiredText(condition: JsonObject): { key: string; value: string } | undefined {
  const key = readText(condition, 'key');
  const value = readText(condition, 'value');
  if (!/^equals?$/i.test(readText(condition, 'operator') ?? '')) return undefined;
  if (key === undefined || value === undefined || mayVary(value) || !mayVary(key)) return undefined;
  return hasWildcard(value) || /^[-+.\d]/.test(value) ? undefined : { key, value };
}
