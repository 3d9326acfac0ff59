import type { ErrorCode } from '../errors.ts';
import type { ConditionResult } from '../expression/conditions/conditions.ts';
import type { PatchOperation } from '../json/patch/operation.ts';
import type { JsonObject, Path } from '../json/value.ts';
import type { AnchorMiss } from '../patch/compiled-patch.ts';
import type { CompiledPolicy, CompiledRule } from '../policy/compiled.ts';
import type { CelSkip } from '../policy/compiled-cel.ts';
import type { RuleTrace } from './rule-trace.ts';

/** The outcome of one rule that was considered, and why. All other views are derived from it. */
export type Outcome = {
  readonly policy: CompiledPolicy;
  readonly rule: CompiledRule;
  /** Set for a rule that ran, only when explaining. */
  readonly trace?: RuleTrace | undefined;
} & (
  | {
      readonly status: 'applied';
      /** The object before and after the rule. If another rule of its policy failed, the change is not in the result. */
      readonly before: JsonObject;
      readonly after: JsonObject;
      readonly patch: readonly PatchOperation[];
      readonly message: string;
      readonly misses: readonly AnchorMiss[];
      readonly elements?: readonly ElementOutcome[] | undefined;
      /** Audit annotations of a CEL policy. */
      readonly annotations?: Readonly<Record<string, string>> | undefined;
      /** Of a CEL policy, about what its author hardly meant. */
      readonly warnings?: readonly string[] | undefined;
    }
  | {
      readonly status: 'unchanged';
      readonly message: string;
      readonly misses: readonly AnchorMiss[];
      readonly elements?: readonly ElementOutcome[] | undefined;
      /** Audit annotations of a CEL policy. */
      readonly annotations?: Readonly<Record<string, string>> | undefined;
      /** Of a CEL policy, about what its author hardly meant. */
      readonly warnings?: readonly string[] | undefined;
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
  | CelSkip
  | { readonly type: 'applyRules'; readonly after: string }
  | { readonly type: 'mutateExisting' };

/** The attribute of a match block that did not match. */
export interface ClauseMiss {
  /** Path in the rule: `['match', 'any', 0, 'resources', 'names']`. */
  readonly path: Path;
  readonly attribute: string;
  readonly expected: string;
  readonly actual: string;
}

/** The outcome of one foreach element. */
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
  readonly stage:
    | 'evaluation'
    | 'match'
    | 'context'
    | 'preconditions'
    | 'target'
    | 'list'
    | 'patch'
    | 'identity';
  /** Path in the rule document. */
  readonly rulePath: Path;
  /** Path in the object, if the failure has one. */
  readonly objectPath?: Path | undefined;
  /** May quote values of objects and of context data. */
  readonly detail: string;
  /** The cause without such values, where it is known. */
  readonly reason?: string | undefined;
}

export interface Result {
  /** The object after all policies; identical (===) to the request's object when nothing changed. */
  readonly object: JsonObject | null;
  /** Relative to the request's object. */
  readonly patch: readonly PatchOperation[];
  /** The patch as JSON. */
  readonly patchText: string;
  readonly outcomes: readonly Outcome[];
  /** Duration of each outcome in milliseconds, including waiting for data; empty without a clock. */
  readonly durations: readonly number[];
  /** Policies with a failed rule. None of their changes are in `object`. */
  readonly failedPolicies: readonly CompiledPolicy[];
}
