import { resolveReferences } from '../../expression/template/reference.ts';
import type { TemplateOptions } from '../../expression/template/template.ts';
import { read, readText } from '../../json/read-field.ts';
import { isObject, type JsonObject, type Path } from '../../json/value.ts';
import type { CompiledPatch } from '../../patch/compiled-patch.ts';
import { compileJsonPatch } from '../../patch/json-patch/json-patch.ts';
import { compileStrategicMerge } from '../../patch/strategic/compile.ts';
import type { Reporter } from '../../problem.ts';
import { withoutAnchor } from '../check/patch-writes.ts';
import { checkVariables, type VariableScope } from '../check/variable-scope.ts';

/** The object that `{{@}}` in the patches of a rule refers to. */
export type PatchedObject = 'request.object' | 'target';

/** Compiles the patch of `owner` (a mutate block or a loop). */
export function compilePatchOf(
  owner: JsonObject,
  path: Path,
  reporter: Reporter,
  scope: VariableScope,
  object: PatchedObject,
): CompiledPatch | undefined {
  const overlay = read(owner, 'patchStrategicMerge');
  const field = overlay === undefined ? 'patchesJson6902' : 'patchStrategicMerge';
  const at = [...path, field];
  // Kyverno rejects computed paths outside loops.
  const options = { ...selfReference(at, object), allowVariablesInPath: scope.loops > 0 };
  const source = overlay ?? readText(owner, 'patchesJson6902') ?? '';
  const patch =
    overlay === undefined
      ? compileJsonPatch(source, at, reporter, options)
      : compileStrategicMerge(overlay, at, reporter, options);
  if (patch !== undefined) checkVariables(patch.roots, scope, at, reporter, source);
  return patch;
}

/** In a loop, absolute `$(/…)` references start at the loop's own two patch fields. */
export function withLoopReferences(entry: JsonObject, path: Path, reporter: Reporter): JsonObject {
  const fields = ['patchStrategicMerge', 'patchesJson6902'] as const;
  const patches = Object.fromEntries(
    fields.flatMap((field) => (read(entry, field) === undefined ? [] : [[field, entry[field] ?? null]])),
  );
  const resolved = resolveReferences(patches, path, reporter);
  return isObject(resolved) ? { ...entry, ...resolved } : entry;
}

/** A key with `{{@}}` has no path of its own: it refers to its parent. */
const namesItself = /\{\{-?\s*@\s*\}\}/;
const identifier = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * Resolves `{{@}}` in a patch at `base` to the same path of the patched object. Anchors around parents are ignored.
 *
 */
export function selfReference(base: Path, object: 'request.object' | 'target'): TemplateOptions {
  return {
    self(path) {
      const steps = path.slice(base.length);
      const end = steps.findIndex((step) => typeof step === 'string' && namesItself.test(step));
      return object + (end < 0 ? steps : steps.slice(0, end)).map(toStep).join('');
    },
  };
}

function toStep(token: string | number): string {
  if (typeof token === 'number') return `[${token}]`;
  const name = withoutAnchor(token);
  return identifier.test(name) ? `.${name}` : `.${JSON.stringify(name)}`;
}
