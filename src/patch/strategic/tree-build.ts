import { emptyScope } from '../../expression/scope.ts';
import type { CompiledTemplate } from '../../expression/template/template.ts';
import type { Json, Path } from '../../json/value.ts';
import type { Reporter } from '../../problem.ts';
import type { Anchor } from './anchor-syntax.ts';
import type { Filled } from './tree.ts';

/** How an overlay is read. Data and kustomize patches have no anchors, and data has no directives either. */
export interface OverlaySyntax {
  readonly anchors: boolean;
  readonly directives: boolean;
  /** Absent when variables are not supported. */
  readonly template?:
    | ((value: Json, path: Path, reporter: Reporter) => CompiledTemplate | undefined)
    | undefined;
}

/** Collected while an overlay is compiled. */
export interface OverlayBuild {
  readonly syntax: OverlaySyntax;
  readonly reporter: Reporter;
  readonly templates: readonly CompiledTemplate[];
  readonly failed: boolean;
  fill(value: Json, path: Path): Filled;
  unsupported(anchor: Anchor, path: Path): void;
  misspelled(key: string, intended: string, path: Path): void;
  discards(directive: string, path: Path): void;
  tooDeep(path: Path): boolean;
}

/** Deeper than any real object. Protects the stack. */
const deepest = 500;

export function startBuild(root: Path, syntax: OverlaySyntax, reporter: Reporter): OverlayBuild {
  const templates: CompiledTemplate[] = [];
  let failed = false;
  const recording: Reporter = {
    error: (...problem) => {
      failed = true;
      reporter.error(...problem);
    },
    warn: (...problem) => reporter.warn(...problem),
  };
  return {
    syntax,
    reporter: recording,
    templates,
    get failed() {
      return failed;
    },
    fill(value, path) {
      if (syntax.template === undefined || !mayHoldVariables(value)) return { value };
      const template = syntax.template(value, path, recording);
      if (template === undefined) return { value };
      if (template.constant) return { value: template.render(emptyScope) };
      return { slot: templates.push(template) - 1 };
    },
    unsupported(anchor, path) {
      recording.error(
        path,
        'KYM_ANCHOR_UNSUPPORTED',
        `${anchor.text} is an anchor of validate rules and has no effect in a mutation`,
        'Use (key), <(key) or +(key) in a mutation, and preconditions for other checks.',
      );
    },
    misspelled(key, intended, path) {
      recording.error(
        path,
        'KYM_ANCHOR_SYNTAX',
        `${key} is not an anchor: its parentheses are incomplete or in the wrong place`,
        `Did you mean ${intended}?`,
      );
    },
    discards(directive, path) {
      recording.error(
        path,
        'KYM_PATCH_DIRECTIVE',
        `anchors below '$patch: ${directive}' have no effect: the existing value is discarded`,
      );
    },
    tooDeep(path) {
      if (path.length - root.length <= deepest) return false;
      recording.error(
        path.slice(0, root.length + 8),
        'KYM_PATCH_TOO_DEEP',
        `the patch is nested more than ${deepest} levels deep`,
      );
      return true;
    },
  };
}

function mayHoldVariables(value: Json): boolean {
  if (typeof value === 'string') return value.includes('{{');
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([key, inner]) => key.includes('{{') || mayHoldVariables(inner));
}
