import { read, readObject, readObjects } from '../../json/read-field.ts';
import { isArray, isObject, type JsonArray, type JsonObject, type Path } from '../../json/value.ts';

/** One `preconditions` field of a rule: of the rule itself, of a target or of a loop. */
export interface ConditionPlace {
  readonly path: Path;
  readonly holder: JsonObject;
}

/** Every object of a rule that may hold preconditions, the rule itself first. */
export function conditionPlaces(rule: JsonObject): readonly ConditionPlace[] {
  const mutate = readObject(rule, 'mutate') ?? {};
  const targets = readObjects(mutate, 'targets').map((holder, index) => ({
    path: ['mutate', 'targets', index],
    holder,
  }));
  return [{ path: [], holder: rule }, ...targets, ...loopPlaces(mutate, ['mutate'])];
}

function loopPlaces(holder: JsonObject, path: Path): readonly ConditionPlace[] {
  return readObjects(holder, 'foreach').flatMap((loop, index) => {
    const at: Path = [...path, 'foreach', index];
    return [{ path: at, holder: loop }, ...loopPlaces(loop, at)];
  });
}

export interface ConditionGroup {
  readonly mode: 'any' | 'all';
  readonly path: Path;
  readonly conditions: JsonArray;
}

/** The lists of conditions in a `preconditions` field; the old plain list means `all`. */
export function conditionGroups({ path, holder }: ConditionPlace): readonly ConditionGroup[] {
  const value = read(holder, 'preconditions');
  const at: Path = [...path, 'preconditions'];
  if (isArray(value)) return [{ mode: 'all', path: at, conditions: value }];
  if (!isObject(value)) return [];
  return (['any', 'all'] as const).flatMap((mode) => {
    const conditions = read(value, mode);
    return isArray(conditions) ? [{ mode, path: [...at, mode], conditions }] : [];
  });
}
