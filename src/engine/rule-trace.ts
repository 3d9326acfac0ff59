import type { Observer } from '../expression/scope.ts';
import { equal } from '../json/equal.ts';
import type { Json, Path } from '../json/value.ts';
import type { CelTrace } from '../policy/compiled-cel.ts';

/** The decisions made while evaluating one rule, in order. */
export interface RuleTrace {
  /** Each pair once. */
  readonly variables: readonly ResolvedVariable[];
  readonly anchors: readonly TriedAnchor[];
  /** What the expressions of a CEL policy gave. */
  readonly expressions?: readonly CelTrace[] | undefined;
}

export interface ResolvedVariable {
  /** The expression as written, without its braces. */
  readonly text: string;
  readonly value: Json;
}

export interface TriedAnchor {
  /** As written, e.g. `(image)`. */
  readonly anchor: string;
  /** Path in the object. */
  readonly path: Path;
  /** For `+( )`: whether it wrote a value. */
  readonly held: boolean;
}

/** Limits the trace of a loop over thousands of elements. */
const mostVariables = 200;

/** An observer for one rule, and the trace that it fills. */
export function traceRule(): { readonly observer: Observer; readonly trace: RuleTrace } {
  const variables: ResolvedVariable[] = [];
  const anchors: TriedAnchor[] = [];
  const observer: Observer = {
    variable(text, value) {
      if (variables.length >= mostVariables) return;
      if (variables.some((known) => known.text === text && equal(known.value, value))) return;
      variables.push({ text, value });
    },
    anchor(anchor, path, held) {
      anchors.push({ anchor, path, held });
    },
  };
  return { observer, trace: { variables, anchors } };
}
