import type { Scope } from '../../expression/scope.ts';
import { matchesWildcard } from '../../expression/wildcard.ts';
import type { Json, JsonObject, Path } from '../../json/value.ts';
import type { Reporter } from '../../problem.ts';
import { PatchError } from '../compiled-patch.ts';
import { compilePlan, type ReplacementPlan } from './plan.ts';
import { describeSelector, effectiveId, idFields, idOf, type SourceSelector } from './selector.ts';
import type { ReplacementMode } from './value.ts';

export type { SourceSelector } from './selector.ts';

/** Finds objects other than the target. */
export interface SourceLookup {
  /** Throws Suspend when the objects must be fetched first. */
  find(selector: SourceSelector): readonly JsonObject[];
}

/** A replacement, compiled when its policy was loaded. */
export interface CompiledReplacement {
  readonly roots: ReadonlySet<string>;
  /** Returns the object itself (===) when nothing changes. Throws PatchError. */
  apply(object: JsonObject, scope: Scope, sources: SourceLookup): JsonObject;
}

/**
 * One entry of `replacements`: copies a value from a source into fields of the object, where a target selects it.
 *
 * @example
 * compileReplacement(
 *   { source: { kind: 'Pod' }, targets: [{ select: { kind: 'Pod' }, fieldPaths: ['metadata.labels.app'] }] },
 *   path, reporter, 'policy',
 * )
 */
export function compileReplacement(
  entry: Json,
  path: Path,
  reporter: Reporter,
  mode: ReplacementMode,
): CompiledReplacement | undefined {
  const plan = compilePlan(entry, path, reporter, mode);
  if (plan === undefined) return undefined;
  const identify = mode === 'policy' ? effectiveId : idOf;
  return {
    roots: plan.roots,
    apply(object, scope, sources) {
      let value: { readonly found: Json } | undefined;
      let result = object;
      for (const target of plan.targets) {
        if (!target.selects({ ids: [identify(result)], object: result }, scope)) continue;
        value ??= { found: sourceValue(plan.source, object, scope, sources) };
        result = target.write(result, value.found, scope);
      }
      return result;
    },
  };
}

function sourceValue(
  source: ReplacementPlan['source'],
  object: JsonObject,
  scope: Scope,
  sources: SourceLookup,
): Json {
  if ('literal' in source) return source.literal(scope);
  if (source.fits(effectiveId(object), scope)) return source.read(object, scope);
  const selector = source.selector(scope);
  const [found, ...others] = sources.find(selector);
  if (found === undefined) throw selectionError(selector, 'no object is selected');
  if (others.length > 0) throw selectionError(selector, `${others.length + 1} objects are selected`);
  return source.read(found, scope);
}

function selectionError(selector: SourceSelector, what: string): PatchError {
  return new PatchError('KYM_REPLACEMENT_FAILED', [], `${what} by the source ${describeSelector(selector)}`);
}

/** Whether a source selector matches an object. */
export function fitsSelector(object: JsonObject, selector: SourceSelector): boolean {
  const id = effectiveId(object);
  return idFields.every((field) => {
    const pattern = selector[field];
    return pattern === undefined || matchesWildcard(pattern, id[field]);
  });
}
