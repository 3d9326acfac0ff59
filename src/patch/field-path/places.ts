import { spendSteps } from '../../json/budget.ts';
import { isArray, isObject, type Json, member, type Path } from '../../json/value.ts';
import type { FieldStep } from './field-path.ts';
import { itemMatches } from './read.ts';

/** Where the fields that a path matches are. A path that continues inside a string ends at the string. */
export function fieldPlaces(root: Json, steps: readonly FieldStep[]): readonly Path[] {
  const found: Path[] = [];
  const visit = (value: Json | undefined, at: number, path: Path): void => {
    spendSteps(1);
    const step = steps[at];
    if (value === undefined) return;
    if (step === undefined || typeof value === 'string') found.push(path);
    else if (step.type === 'field') {
      if (isObject(value)) visit(member(value, step.name), at + 1, [...path, step.name]);
    } else if (isArray(value)) {
      // `[=value]` is the last step: the item itself.
      const next = step.type === 'match' && step.key === '' ? steps.length : at + 1;
      for (const index of chosenItems(value, step)) visit(value[index], next, [...path, index]);
    }
  };
  visit(root, 0, []);
  return found;
}

function chosenItems(list: readonly Json[], step: Exclude<FieldStep, { type: 'field' }>): readonly number[] {
  const all = [...list.keys()];
  switch (step.type) {
    case 'index':
      return all.slice(step.index, step.index + 1);
    case 'last':
      return all.slice(-1);
    case 'every':
      return all;
    case 'match':
      return all.filter((index) => itemMatches(list[index] as Json, step));
  }
}
