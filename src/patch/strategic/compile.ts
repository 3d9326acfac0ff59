import type { Observer } from '../../expression/scope.ts';
import { compileTemplate, type TemplateOptions } from '../../expression/template/template.ts';
import type { Draft } from '../../json/draft.ts';
import { isObject, type Json, type JsonObject, type Path, type PathToken } from '../../json/value.ts';
import type { Reporter } from '../../problem.ts';
import type { AnchorMiss, CompiledPatch } from '../compiled-patch.ts';
import { mergeSchemaFor, type SchemaNode } from '../merge-schema.ts';
import { parseAnchor } from './anchor-syntax.ts';
import { declaredOverlays } from './declared.ts';
import { mergeNode } from './merge-node.ts';
import { isRefusal, type MergeRun } from './run.ts';
import type { MapNode } from './tree.ts';
import { startBuild } from './tree-build.ts';
import { compileMap } from './tree-compile.ts';

/**
 * Compiles a strategic merge overlay with anchors. Lists are merged by the keys of the object's kind. Existing
 * items keep their position and new ones are prepended.
 *
 * @example
 * compileStrategicMerge({ spec: { containers: [{ '(image)': '*:latest', imagePullPolicy: 'Always' }] } }, path, reporter)
 */
export function compileStrategicMerge(
  overlay: Json,
  path: Path,
  reporter: Reporter,
  options: TemplateOptions = {},
): CompiledPatch | undefined {
  if (!isObject(overlay)) {
    const hint =
      typeof overlay === 'string' ? 'The patch is YAML and not text: remove the | after the key.' : undefined;
    reporter.error(path, 'KYM_PATCH_INVALID', 'a strategic merge patch must be a map', hint);
    return undefined;
  }
  const templateOptions = withPlainPaths(options);
  const build = startBuild(
    path,
    {
      anchors: true,
      directives: true,
      template: (value, at, reporting) => compileTemplate(value, at, reporting, templateOptions),
    },
    reporter,
  );
  const root = compileMap(overlay, path, build);
  if (root.directive !== 'merge') {
    build.reporter.error(
      [...path, '$patch'],
      'KYM_PATCH_INVALID',
      `'$patch: ${root.directive}' at the top would ${root.directive} the whole object`,
    );
  }
  return build.failed ? undefined : compiledPatch(path, root, build.templates);
}

const noMisses: readonly AnchorMiss[] = [];
const noSlots: readonly Json[] = [];

function compiledPatch(
  path: Path,
  root: MapNode,
  templates: readonly { readonly roots: ReadonlySet<string>; render: CompiledRender }[],
): CompiledPatch {
  const prepare = rememberKind(declaredOverlays(root));
  const isAnchored = root.inside.conditions || root.inside.adds;
  return {
    path,
    roots: new Set(templates.flatMap((template) => [...template.roots])),
    apply(object, scope, draft) {
      const slots = templates.length === 0 ? noSlots : templates.map((template) => template.render(scope));
      const run = startRun(slots, scope.environment.observer, isAnchored ? undefined : draft);
      const { overlay, schema } = prepare(object);
      const merged = mergeNode(overlay, object, object, schema, run);
      const misses = run.misses ?? noMisses;
      if (isRefusal(merged) || !isObject(merged)) return { status: 'skipped', misses };
      return { status: 'patched', object: merged, misses };
    },
  };
}

type CompiledRender = ReturnType<typeof compileTemplate>['render'];

/** Shared, since a merge calls nothing that merges. */
const path: PathToken[] = [];

function startRun(
  slots: readonly Json[],
  observer: Observer | undefined,
  draft: Draft | undefined,
): MergeRun {
  // Left by a merge that failed.
  if (path.length > 0) path.length = 0;
  return { slots, patterns: undefined, path, misses: undefined, observer, draft };
}

interface Prepared {
  readonly apiVersion: Json | undefined;
  readonly kind: Json | undefined;
  readonly overlay: MapNode;
  readonly schema: SchemaNode | undefined;
}

/** A patch mostly sees objects of the same kind, one after the other. */
function rememberKind(overlayFor: (object: JsonObject) => MapNode): (object: JsonObject) => Prepared {
  let last: Prepared | undefined;
  return (object) => {
    const { apiVersion, kind } = object;
    if (last === undefined || last.apiVersion !== apiVersion || last.kind !== kind) {
      last = { apiVersion, kind, overlay: overlayFor(object), schema: schemaOf(object) };
    }
    return last;
  };
}

function schemaOf(object: JsonObject): SchemaNode | undefined {
  const { apiVersion, kind } = object;
  return typeof apiVersion === 'string' && typeof kind === 'string'
    ? mergeSchemaFor(apiVersion, kind)
    : undefined;
}

/** `{{@}}` below an anchored key is the field of the object, whose path has no parentheses. */
function withPlainPaths(options: TemplateOptions): TemplateOptions {
  const { self } = options;
  if (self === undefined) return options;
  const plain = (token: string | number): string | number =>
    typeof token === 'string' ? (parseAnchor(token)?.key ?? token) : token;
  return { ...options, self: (path) => self(path.map(plain)) };
}
