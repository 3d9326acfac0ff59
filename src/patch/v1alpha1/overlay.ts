import { compileTemplate, usesVariables } from '../../expression/template/template.ts';
import { spendSize } from '../../json/budget.ts';
import { isObject, type Json, type JsonObject, type Path } from '../../json/value.ts';
import type { Reporter } from '../../problem.ts';
import { type CompiledPatch, PatchError, type PatchResult } from '../compiled-patch.ts';
import { planMap } from './overlay-compile.ts';
import { mergeMap, missed, type OverlayMap, type OverlayRun } from './overlay-merge.ts';

/**
 * Compiles `mutate.overlay` of v1alpha1, the desired state. Values are replaced or copied, nothing is deleted, and list
 * items are added unless an equal one exists. `(key): "pattern*"` restricts its siblings:
 * in a list to matching items, elsewhere the whole overlay to matching objects.
 */
export function compileOverlay(overlay: Json, path: Path, reporter: Reporter): CompiledPatch | undefined {
  if (!isObject(overlay)) {
    reporter.error(path, 'KYM_PATCH_INVALID', 'the overlay must be a map');
    return undefined;
  }
  let failed = false;
  const plan = planMap(overlay, path, {
    warn: (...problem) => reporter.warn(...problem),
    error: (...problem) => {
      failed = true;
      reporter.error(...problem);
    },
  });
  if (failed) return undefined;
  if (!usesVariables(overlay)) return { path, roots: new Set(), apply: (object) => applyPlan(plan, object) };
  const template = compileTemplate(overlay, path, reporter);
  return {
    path,
    roots: template.roots,
    apply: (object, scope) => applyPlan(planRendered(template.render(scope)), object),
  };
}

function applyPlan(plan: OverlayMap, object: JsonObject): PatchResult {
  const run: OverlayRun = { path: [], misses: [] };
  const merged = mergeMap(plan, object, run);
  if (merged === missed) return { status: 'skipped', misses: run.misses };
  return {
    status: 'patched',
    object: isObject(merged as Json) ? (merged as JsonObject) : object,
    misses: run.misses,
  };
}

function planRendered(overlay: Json): OverlayMap {
  spendSize(overlay);
  return planMap(isObject(overlay) ? overlay : {}, [], {
    error: (path, code, message) => {
      throw new PatchError(code, path, message);
    },
    warn: () => {},
  });
}
