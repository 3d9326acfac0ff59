import { read, readObject, readObjects, readText } from '../../json/read-field.ts';
import type { JsonObject } from '../../json/value.ts';
import { bool } from '../expression/cel-text.ts';
import { type CelText, NotConvertible, type Scope } from '../types.ts';
import { foreachSteps } from './foreach.ts';
import { translateJsonPatch } from './json-patch.ts';
import { printSteps } from './operations.ts';
import { translateOverlay } from './strategic.ts';
import type { KindSchema } from './target.ts';

/** One entry of `spec.mutations`. */
export interface Mutation {
  readonly type: 'ApplyConfiguration' | 'JSONPatch';
  readonly expression: string;
  /** The mutation has an effect only where this holds. */
  readonly guard: CelText;
  /** Field path in the old policy. */
  readonly origin: string;
}

/** Translates `mutate` of a rule. `schemas` are those of all kinds that the rule matches; `next` is called before each mutation. */
export function translateMutations(
  mutate: JsonObject,
  path: string,
  scope: Scope,
  schemas: readonly KindSchema[],
  next: () => void,
): readonly Mutation[] {
  const isApplied = schemas.every((schema) => schema.isApplied);
  const checksTypes = schemas.some((schema) => schema.checksTypes);
  const perKind = (translate: (schema: KindSchema) => readonly Mutation[]): readonly Mutation[] =>
    sameForAll(
      schemas.map((schema) => translate({ ...schema, isApplied, checksTypes })),
      path,
    );
  next();
  const overlay = readObject(mutate, 'patchStrategicMerge');
  if (overlay !== undefined) return perKind((schema) => overlayMutations(overlay, path, scope, schema));
  const patch = readText(mutate, 'patchesJson6902');
  if (patch !== undefined) return perKind((schema) => patchMutations(patch, path, scope, schema));
  const loops = readObjects(mutate, 'foreach');
  if (loops.length > 0) {
    return loops.flatMap((loop, index) => {
      const origin = `${path}.foreach[${index}]`;
      if (index > 0) next();
      return perKind((schema) =>
        stepMutations(printSteps(foreachSteps(loop, origin, scope, schema)), origin),
      );
    });
  }
  const field = ['replacements', 'patches', 'overlay'].find((name) => read(mutate, name) !== undefined);
  throw new NotConvertible(
    path,
    field === undefined ? 'the rule has no patch' : `${field} cannot be converted`,
  );
}

function overlayMutations(
  overlay: JsonObject,
  path: string,
  scope: Scope,
  schema: KindSchema,
): readonly Mutation[] {
  const origin = `${path}.patchStrategicMerge`;
  const { guard, configuration, steps } = translateOverlay(overlay, origin, scope, schema);
  if (configuration !== undefined)
    return [{ type: 'ApplyConfiguration', expression: configuration, guard, origin }];
  return stepMutations(printSteps(steps), origin, guard);
}

function patchMutations(patch: string, path: string, scope: Scope, schema: KindSchema): readonly Mutation[] {
  const origin = `${path}.patchesJson6902`;
  return translateJsonPatch(patch, origin, scope, schema.declared).flatMap((steps) =>
    stepMutations(printSteps(steps), origin),
  );
}

function stepMutations(expression: string, origin: string, guard: CelText = bool(true)): readonly Mutation[] {
  return expression === '[]' ? [] : [{ type: 'JSONPatch', expression, guard, origin }];
}

function sameForAll(results: readonly (readonly Mutation[])[], path: string): readonly Mutation[] {
  const [first = []] = results;
  if (results.every((other) => keyOf(other) === keyOf(first))) return first;
  throw new NotConvertible(
    path,
    'the kinds of the rule are merged in different ways; write one rule for each of them',
  );
}

function keyOf(mutations: readonly Mutation[]): string {
  return mutations.map(({ type, expression, guard }) => `${type} ${guard.source} ${expression}`).join('\n');
}
