import type { ErrorCode } from '../errors.ts';
import type { Environment } from '../expression/scope.ts';
import type { Json, JsonObject, Path } from '../json/value.ts';
import type { KindSelector, Operation } from './compiled.ts';
import type { Clause } from './registry/literal-clauses.ts';

/*
 * What the engine knows of CEL policies. The language itself is loaded only with the first such policy, so nothing
 * here imports it.
 */

/** One set of match constraints, conditions, variables and mutations, compiled. */
export interface CompiledCelProgram {
  /** Expressions read objects, services, entries or images from outside the request. */
  readonly readsData: boolean;
  /** A MutatingAdmissionPolicy, which may change the name, and may run once more after the other policies. */
  readonly admission?: { readonly reinvocable: boolean } | undefined;
  /**
   * The attribute that does not match: selectors, names, scope and excluded resources. Kinds and operations are in the
   * `match` of the rule, for the index.
   */
  mismatch(object: JsonObject, host: CelHost): CelMismatch | undefined;
  /** What an object must have so that `mismatch` finds nothing, for the index. */
  readonly clauses: readonly Clause[];
  /** Exceptions, conditions, mutations. The object is null on DELETE. Throws only Suspend and BudgetError. */
  run(object: JsonObject | null, host: CelHost): CelEffect;
  /** Set in a rule for existing objects, which `run` does not run. */
  readonly targets?: CompiledCelTargets | undefined;
  /** Exceptions and conditions alone, for an object that triggers a rule for existing objects. */
  check?(object: JsonObject, host: CelHost): CelVerdict;
}

/** Why a trigger does not pass, if it does not. */
export type CelVerdict =
  | { readonly status: 'passed' }
  | { readonly status: 'skipped'; readonly reason: CelSkip }
  | { readonly status: 'failed'; readonly failure: CelFailure };

/** The existing objects that a policy changes. */
export interface CompiledCelTargets {
  /** The resources of the targets, unless an expression finds them. */
  readonly kinds: readonly KindSelector[];
  /** Whether an object of these resources is a target. The request of the host describes the object. */
  selects(object: JsonObject, host: CelHost): boolean;
  /** Finds the targets of a trigger with the expression. Throws Suspend, and errors of evaluation. */
  readonly find?: ((trigger: JsonObject, host: CelHost) => readonly JsonObject[]) | undefined;
  /** Exceptions, conditions and mutations of one target. */
  run(object: JsonObject, host: CelHost): CelEffect;
  /** Whether an expression reads the user of the request. */
  readonly readsUser: boolean;
  readonly readsOldObject: boolean;
}

export interface CelMismatch {
  readonly path: Path;
  readonly attribute: string;
  readonly expected: string;
  readonly actual: string;
}

/** The request as the engine has it. */
export interface CelRequest {
  readonly operation?: Operation | undefined;
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly resource?: string | undefined;
  readonly subresource: string;
  readonly name: string;
  readonly namespace: string;
  readonly object: JsonObject | null;
  readonly oldObject: JsonObject | null;
  /** The object as it came in, if it is not `object`. */
  readonly original?: JsonObject | undefined;
  /** The members of an AdmissionRequest, as far as they are known. */
  readonly variables: JsonObject;
}

export type CelQuery =
  | {
      readonly type: 'apiCall';
      readonly method: 'GET' | 'POST';
      readonly urlPath?: string | undefined;
      readonly service?: Json | undefined;
      readonly body?: Json | undefined;
      readonly policyNamespace?: string | undefined;
    }
  | { readonly type: 'imageRegistry'; readonly reference: string }
  | { readonly type: 'globalReference'; readonly name: string; readonly policyNamespace?: string | undefined }
  | { readonly type: 'namespaceLabels'; readonly namespace: string }
  | {
      readonly type: 'object';
      readonly group: string;
      readonly version: string;
      readonly kind: string;
      readonly name: string;
    }
  | { readonly type: 'schema'; readonly apiVersion: string; readonly kind: string };

export type CelAnswer =
  | { readonly found: true; readonly value: Json }
  | { readonly found: false; readonly error: string; readonly absent?: boolean | undefined };

/** What one evaluation may use. */
export interface CelHost {
  readonly request: CelRequest;
  readonly environment: Environment;
  readonly exceptions: readonly CompiledCelException[];
  /** Whether to record the value of each part of an expression. */
  readonly explain: boolean;
  /** Throws Suspend while the answer is pending. */
  read(query: CelQuery): CelAnswer;
}

/** The `policies.kyverno.io` part of an exception. */
export interface CompiledCelException {
  readonly key: string;
  readonly policies: readonly { readonly kind: string; readonly name: string }[];
  /** Milliseconds since 1970. */
  readonly expiresAt?: number | undefined;
  readonly report: 'skip' | 'pass';
  /** The exception with the highest priority decides how the result is reported. */
  readonly priority: number;
  readonly images: readonly string[];
  readonly allowedValues: readonly string[];
  /** Whether it exempts an object: that of the request as earlier policies left it, or a target. Throws if a condition fails. */
  matches(object: JsonObject | null, host: CelHost): boolean;
}

/** What an expression and its parts gave, for explanations. */
export interface CelTrace {
  /** `matchConditions`, `variables`, `mutations` … with the name of the entry. */
  readonly label: string;
  /** Path in the policy. */
  readonly path: Path;
  /** Innermost first; the last one is the whole expression. */
  readonly steps: readonly CelTraceStep[];
}

export interface CelTraceStep {
  readonly source: string;
  readonly value?: Json | undefined;
  /** Set instead of the value. */
  readonly error?: string | undefined;
}

export type CelSkip =
  | {
      readonly type: 'matchCondition';
      readonly name: string;
      readonly path: Path;
      readonly expression: string;
    }
  | {
      readonly type: 'exception';
      readonly exceptions: readonly string[];
      /** How a `policies.kyverno.io` exception reports the result. */
      readonly report?: 'skip' | 'pass' | undefined;
    }
  /** A binding of a MutatingAdmissionPolicy found no parameter, which it allows. */
  | { readonly type: 'parameter'; readonly detail: string };

export interface CelFailure {
  readonly code: ErrorCode;
  /** Path in the policy. */
  readonly path: Path;
  readonly objectPath?: Path | undefined;
  readonly detail: string;
  /** The cause without values of objects, where it is known. */
  readonly reason?: string | undefined;
}

export type CelEffect = { readonly traces: readonly CelTrace[] } & (
  | {
      readonly status: 'mutated';
      /** The same (===) when nothing changed. */
      readonly object: JsonObject | null;
      /** Audit annotations. */
      readonly annotations: Readonly<Record<string, string>>;
      /** What the author hardly meant. */
      readonly warnings?: readonly string[] | undefined;
    }
  | { readonly status: 'skipped'; readonly reason: CelSkip }
  | {
      readonly status: 'failed';
      readonly failure: CelFailure;
      /** What is kept all the same: a MutatingAdmissionPolicy that ignores failures keeps its other mutations. */
      readonly object?: JsonObject | undefined;
    }
);
