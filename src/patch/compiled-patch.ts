import type { ErrorCode } from '../errors.ts';
import { EvaluationError, type EvaluationErrorOptions, type Scope } from '../expression/scope.ts';
import type { Draft } from '../json/draft.ts';
import type { Json, JsonObject, Path } from '../json/value.ts';

/** A patch, compiled when its policy was loaded. */
export interface CompiledPatch {
  /** Path in the rule. */
  readonly path: Path;
  /** Root names its variables read: `request`, `element`, context entries … */
  readonly roots: ReadonlySet<string>;
  /**
   * Throws PatchError when the patch cannot be applied. Modifies nothing but the parts of its input that the draft owns.
   * What it returns is then the input itself, also when something changed.
   */
  apply(object: JsonObject, scope: Scope, draft?: Draft): PatchResult;
}

export type PatchResult =
  /** `object` is the input itself (===) when nothing changed, or when a draft owns it. */
  | { readonly status: 'patched'; readonly object: JsonObject; readonly misses: readonly AnchorMiss[] }
  /** An anchor outside any list, or a global anchor, did not hold: the whole overlay is skipped. */
  | { readonly status: 'skipped'; readonly misses: readonly AnchorMiss[] };

/** An anchor that did not hold, so that the whole overlay or one list item was skipped. */
export interface AnchorMiss {
  /** As written, e.g. `(image)` or `<(image)`. */
  readonly anchor: string;
  /** Path in the object. */
  readonly path: Path;
  readonly expected: Json;
  /** Undefined when the object has no such field. */
  readonly actual: Json | undefined;
  /** What `actual` cannot express. */
  readonly note?: string | undefined;
}

/** A patch that cannot be applied to this object. */
export class PatchError extends EvaluationError {
  /** Path in the object. */
  readonly path: Path;
  constructor(code: ErrorCode, path: Path, message: string, options?: EvaluationErrorOptions) {
    super(code, message, options);
    this.path = path;
  }
}
