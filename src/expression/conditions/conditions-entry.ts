import { isObject, type Json, type JsonObject, member, type Path } from '../../json/value.ts';
import type { Reporter } from '../../problem.ts';
import { emptyScope, type Scope } from '../scope.ts';
import { compileTemplate } from '../template/template.ts';
import type { ConditionResult } from './conditions.ts';
import { isOperator, operatorNames, prepareOperator } from './operators.ts';

export interface CompiledCondition {
  readonly roots: ReadonlySet<string>;
  evaluate(scope: Scope): ConditionResult;
}

/** One `{key, operator, value, message}`; both operands are filled in right before they are compared. */
export function compileCondition(entry: Json, path: Path, reporter: Reporter): CompiledCondition | undefined {
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
  const shown = typeof operator === 'string' ? operator : JSON.stringify(operator);
  const hint = `use one of ${operatorNames.join(', ')}`;
  reporter.error([...path, 'operator'], 'KYM_CONDITION_INVALID', `unknown operator ${shown}`, hint);
  return undefined;
}
