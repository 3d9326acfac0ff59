import type { ErrorCode } from '../errors.ts';
import type { ConditionResult } from '../expression/conditions/conditions.ts';
import type { PatchOperation } from '../json/patch/operation.ts';
import type { JsonObject, Path } from '../json/value.ts';
import type { AnchorMiss } from '../patch/compiled-patch.ts';
import type { CompiledPolicy, CompiledRule } from '../policy/compiled.ts';
import type { RuleTrace } from './rule-trace.ts';

/** What became of one rule that was looked at, and why. Every other view is derived from this. */
export type Outcome = {
  readonly policy: CompiledPolicy;
  readonly rule: CompiledRule;
  /** Of a rule that ran, when an explanation was asked for. */
  readonly trace?: RuleTrace | undefined;
} & (
  | {
      readonly status: 'applied';
      readonly patch: readonly PatchOperation[];
      readonly message: string;
      readonly misses: readonly AnchorMiss[];
      readonly elements?: readonly ElementOutcome[] | undefined;
    }
  | {
      readonly status: 'unchanged';
      readonly message: string;
      readonly misses: readonly AnchorMiss[];
      readonly elements?: readonly ElementOutcome[] | undefined;
    }
  | { readonly status: 'skipped'; readonly message: string; readonly reason: SkipReason }
  | { readonly status: 'failed'; readonly message: string; readonly failure: Failure }
);

export type SkipReason =
  | { readonly type: 'match'; readonly clauses: readonly ClauseMiss[] }
  | { readonly type: 'exclude'; readonly clause: Path }
  | { readonly type: 'namespace'; readonly expected: string; readonly actual: string }
  | { readonly type: 'preconditions'; readonly conditions: readonly ConditionResult[] }
  | { readonly type: 'anchor'; readonly misses: readonly AnchorMiss[] }
  | { readonly type: 'exception'; readonly exceptions: readonly string[] }
  | { readonly type: 'applyRules'; readonly after: string }
  | { readonly type: 'mutateExisting' };

/** The attribute of a match block that did not fit. */
export interface ClauseMiss {
  /** Where in the rule: `['match', 'any', 0, 'resources', 'names']`. */
  readonly path: Path;
  readonly attribute: string;
  readonly expected: string;
  readonly actual: string;
}

/** What became of one foreach element. */
export interface ElementOutcome {
  /** Index in each loop, outermost first: `[1, 0]`. */
  readonly index: readonly number[];
  readonly entry: Path;
  readonly status: 'applied' | 'unchanged' | 'skipped';
  readonly reason?:
    | Extract<SkipReason, { type: 'preconditions' | 'anchor' }>
    | { readonly type: 'null' }
    | undefined;
}

export interface Failure {
  readonly code: ErrorCode;
  readonly stage: 'match' | 'context' | 'preconditions' | 'target' | 'list' | 'patch' | 'identity';
  /** Where in the rule document. */
  readonly rulePath: Path;
  /** Where in the object, when the failure has such a place. */
  readonly objectPath?: Path | undefined;
  readonly detail: string;
}

export interface Result {
  /** The object after all policies; the request's own (===) when nothing changed. */
  readonly object: JsonObject | null;
  /** Against the request's object. */
  readonly patch: readonly PatchOperation[];
  /** The same as JSON. */
  readonly patchText: string;
  readonly outcomes: readonly Outcome[];
  /** Milliseconds that each outcome took, waiting for data included; empty without a clock. */
  readonly durations: readonly number[];
  /** Policies with a failed rule: none of their changes are in `object`. */
  readonly failedPolicies: readonly CompiledPolicy[];
}
