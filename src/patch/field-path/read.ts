import { spendSteps } from '../../json/budget.ts';
import { isArray, isObject, type Json, member } from '../../json/value.ts';
import { textOf } from '../strategic/key.ts';
import { FieldPathError, type FieldStep, type MatchStep } from './field-path.ts';

/** The value at a path, undefined when it does not exist. Throws FieldPathError for a wildcard. */
export function readField(root: Json, steps: readonly FieldStep[]): Json | undefined {
  let current: Json | undefined = root;
  for (const step of steps) current = readStep(current, step);
  return current;
}

function readStep(value: Json | undefined, step: FieldStep): Json | undefined {
  switch (step.type) {
    case 'field':
      return isObject(value) ? member(value, step.name) : undefined;
    case 'index':
      return isArray(value) ? value[step.index] : undefined;
    case 'last':
      return isArray(value) ? value.at(-1) : undefined;
    case 'match':
      return isArray(value) ? value.find((item) => itemMatches(item, step)) : undefined;
    case 'every':
      throw new FieldPathError("the wildcard '*' matches many values, but a source is one value");
  }
}

export function itemMatches(item: Json, step: MatchStep): boolean {
  spendSteps(2);
  if (step.key === '') return step.matches(textOf(item) ?? '');
  if (!isObject(item)) return false;
  const value = member(item, step.key);
  if (value === undefined) return false;
  return step.matches(value === null ? 'null' : (textOf(value) ?? ''));
}
