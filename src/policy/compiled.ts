import type { CompiledConditions } from '../expression/conditions/conditions.ts';
import type { CompiledExpression } from '../expression/expression.ts';
import type { CompiledLabelSelector } from '../expression/label-selector.ts';
import type { CompiledTemplate } from '../expression/template/template.ts';
import type { TextMatcher } from '../expression/wildcard.ts';
import type { JsonObject, Path } from '../json/value.ts';
import type { CompiledPatch } from '../patch/compiled-patch.ts';
import type { CompiledReplacement } from '../patch/replacement/replacement.ts';
import type { CompiledCelException, CompiledCelProgram } from './compiled-cel.ts';

export type PolicyKind =
  | 'ClusterPolicy'
  | 'Policy'
  | 'MutatingPolicy'
  | 'NamespacedMutatingPolicy'
  | 'MutatingAdmissionPolicy';

/** Immutable output of loading one policy document. Requests do not parse policy text. */
export interface CompiledPolicy {
  /** `name`, or `namespace/name` for a namespaced Policy. */
  readonly key: string;
  readonly kind: PolicyKind;
  readonly apiVersion: string;
  readonly name: string;
  /** Set for a namespaced Policy, which applies only to objects of this namespace. */
  readonly namespace?: string | undefined;
  /** In evaluation order: the author's rules, then the generated ones. Mutate rules only. */
  readonly rules: readonly CompiledRule[];
  /** Generate rules, in document order. */
  readonly generateRules: readonly CompiledGenerateRule[];
  /** Rules of other types, which are ignored. */
  readonly otherRules: readonly { readonly name: string; readonly type: string }[];
  readonly applyRules: 'All' | 'One';
  readonly failurePolicy: 'Fail' | 'Ignore';
  readonly emitWarning: boolean;
  readonly timeoutSeconds?: number | undefined;
  /**
   * CEL conditions that the API server evaluates. Those of a ClusterPolicy are not evaluated elsewhere; those of a
   * MutatingPolicy are evaluated by its rules too.
   */
  readonly matchConditions: readonly { readonly name: string; readonly expression: string }[];
  readonly annotations: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly source: { readonly file: string; readonly line: number };
  /** The document as written. */
  readonly document: JsonObject;
}

/** Fields that all rule types have. */
export interface CompiledRuleHead {
  readonly name: string;
  /** The author's rule this one was generated from, for pod controllers. */
  readonly autogenOf?: string | undefined;
  /** Path of the author's rule in the policy document. */
  readonly path: Path;
  readonly match: CompiledFilter;
  readonly exclude?: CompiledFilter | undefined;
  readonly context: readonly CompiledContextEntry[];
  readonly preconditions?: CompiledConditions | undefined;
  readonly skipBackgroundRequests: boolean;
  /** The rule as it runs, after autogen: published in status and shown by explain. */
  readonly document: JsonObject;
}

export interface CompiledRule extends CompiledRuleHead {
  readonly mutation: CompiledMutation;
  /**
   * Variables of the context and the preconditions. Outside loops Kyverno substitutes the whole rule before it patches,
   * so an unresolved one fails the rule even if the patch does not read it.
   */
  readonly surroundings?: CompiledTemplate | undefined;
  /** Present (even when empty) on a mutate-existing rule, which admission skips. */
  readonly targets?: readonly CompiledTarget[] | undefined;
  readonly mutateExistingOnPolicyUpdate: boolean;
  /** False for a rule for existing objects whose patch differs on each evaluation: it is not reconciled. */
  readonly repeatable: boolean;
}

/** A rule that generates objects when a trigger is admitted. */
export interface CompiledGenerateRule extends CompiledRuleHead {
  /** Generated objects follow their source, trigger and rule. */
  readonly synchronize: boolean;
  /** Generated objects stay when the rule is deleted, even with synchronize. */
  readonly orphanDownstreamOnPolicyDelete: boolean;
  /** Whether the rule also runs for triggers that existed before the policy. */
  readonly generateExisting: boolean;
  /** Objects are written with server-side apply, so fields that others own are kept. */
  readonly useServerSideApply: boolean;
  readonly generation: CompiledGeneration;
}

export type CompiledGeneration =
  | { readonly type: 'pattern'; readonly pattern: CompiledGeneratePattern }
  | { readonly type: 'foreach'; readonly entries: readonly CompiledGenerateLoop[] };

/** The object to generate; every field may contain variables. */
export interface CompiledGeneratePattern {
  /** Path in the rule: `['generate']`. */
  readonly path: Path;
  readonly apiVersion?: CompiledTemplate | undefined;
  readonly kind?: CompiledTemplate | undefined;
  readonly namespace?: CompiledTemplate | undefined;
  readonly name?: CompiledTemplate | undefined;
  readonly content: CompiledContent;
}

export type CompiledContent =
  | { readonly type: 'data'; readonly data: CompiledTemplate }
  /** `{namespace, name}` of the object to copy, of the same kind as the generated object. */
  | { readonly type: 'clone'; readonly source: CompiledTemplate }
  /** `{namespace, kinds, selector}` of the objects to copy. */
  | { readonly type: 'cloneList'; readonly source: CompiledTemplate }
  | { readonly type: 'none' };

export interface CompiledGenerateLoop {
  /** Path in the rule: `['generate', 'foreach', 0]`. */
  readonly path: Path;
  readonly list: CompiledExpression;
  readonly context: readonly CompiledContextEntry[];
  readonly preconditions?: CompiledConditions | undefined;
  readonly pattern: CompiledGeneratePattern;
}

/** Exactly one of `any` and `all` is set. */
export interface CompiledFilter {
  readonly any?: readonly CompiledBlock[] | undefined;
  readonly all?: readonly CompiledBlock[] | undefined;
}

/** One `{resources, subjects, roles, clusterRoles}` block. Absent attributes do not restrict. */
export interface CompiledBlock {
  /** Path in the rule: `['match', 'any', 0]`. */
  readonly path: Path;
  readonly kinds?: readonly KindSelector[] | undefined;
  /** Matched against metadata.name, or generateName when there is no name. */
  readonly names?: readonly TextMatcher[] | undefined;
  readonly namespaces?: readonly TextMatcher[] | undefined;
  readonly annotations?: readonly { readonly key: TextMatcher; readonly value: TextMatcher }[] | undefined;
  readonly selector?: CompiledLabelSelector | undefined;
  readonly namespaceSelector?: CompiledLabelSelector | undefined;
  readonly operations?: ReadonlySet<Operation> | undefined;
  readonly subjects?: readonly Subject[] | undefined;
  readonly roles?: ReadonlySet<string> | undefined;
  readonly clusterRoles?: ReadonlySet<string> | undefined;
}

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

export interface KindSelector {
  readonly text: string;
  readonly group: TextMatcher;
  readonly version: TextMatcher;
  readonly kind: TextMatcher;
  /** Matches '' when the selector names no subresource. */
  readonly subresource: TextMatcher;
  /** Set by CEL policies, which select resources by their plural names; `kind` then matches every kind. */
  readonly resource?: TextMatcher | undefined;
}

export interface Subject {
  readonly kind: 'User' | 'Group' | 'ServiceAccount';
  /** Compared with the username, or with each group. */
  readonly matches: TextMatcher;
  readonly text: string;
}

export type CompiledContextEntry = {
  readonly name: string;
  /** Path in the rule: `['context', 0]`. */
  readonly path: Path;
} & (
  | {
      readonly type: 'variable';
      readonly value?: CompiledTemplate | undefined;
      /** A template itself: its variables are substituted before it is parsed as an expression. */
      readonly jmesPath?: CompiledDynamicExpression | undefined;
      readonly default?: CompiledTemplate | undefined;
    }
  | {
      readonly type: 'configMap';
      readonly objectName: CompiledTemplate;
      readonly namespace?: CompiledTemplate | undefined;
    }
  | {
      readonly type: 'apiCall';
      readonly method: 'GET' | 'POST';
      readonly urlPath?: CompiledTemplate | undefined;
      /** `{url, headers, caBundle}` with templates. */
      readonly service?: CompiledTemplate | undefined;
      /** `[{key, value}]` with templates. */
      readonly data?: CompiledTemplate | undefined;
      readonly jmesPath?: CompiledDynamicExpression | undefined;
      readonly default?: CompiledTemplate | undefined;
    }
  | {
      readonly type: 'imageRegistry';
      readonly reference: CompiledTemplate;
      readonly jmesPath?: CompiledDynamicExpression | undefined;
      readonly credentials?: JsonObject | undefined;
    }
  | {
      readonly type: 'globalReference';
      readonly reference: CompiledTemplate;
      readonly jmesPath?: CompiledDynamicExpression | undefined;
    }
);

/** An expression that may contain `{{ }}` variables. */
export type { CompiledDynamicExpression } from '../expression/dynamic-expression.ts';

import type { CompiledDynamicExpression } from '../expression/dynamic-expression.ts';

export type CompiledMutation =
  | { readonly type: 'patch'; readonly patch: CompiledPatch }
  | { readonly type: 'foreach'; readonly entries: readonly CompiledForeach[] }
  | { readonly type: 'replacements'; readonly replacements: readonly CompiledReplacement[] }
  | { readonly type: 'cel'; readonly program: CompiledCelProgram };

export interface CompiledForeach {
  /** Path in the rule: `['mutate', 'foreach', 0]`. */
  readonly path: Path;
  readonly list: CompiledExpression;
  /** Includes the default: Descending for a strategic merge, Ascending otherwise. */
  readonly order: 'Ascending' | 'Descending';
  /** `as: NAME` also binds NAME and NAMEIndex. */
  readonly as?: string | undefined;
  readonly context: readonly CompiledContextEntry[];
  readonly preconditions?: CompiledConditions | undefined;
  readonly body:
    | { readonly type: 'patch'; readonly patch: CompiledPatch }
    | { readonly type: 'foreach'; readonly entries: readonly CompiledForeach[] };
}

/** A mutate-existing target selector; every field may contain variables. */
export interface CompiledTarget {
  readonly path: Path;
  readonly apiVersion?: CompiledTemplate | undefined;
  readonly kind?: CompiledTemplate | undefined;
  readonly namespace?: CompiledTemplate | undefined;
  readonly name?: CompiledTemplate | undefined;
  readonly uid?: CompiledTemplate | undefined;
  readonly selector?: CompiledTemplate | undefined;
  readonly context: readonly CompiledContextEntry[];
  readonly preconditions?: CompiledConditions | undefined;
}

/** A PolicyException: the rules it disables for the objects it matches. */
export interface CompiledException {
  readonly key: string;
  readonly name: string;
  readonly namespace: string;
  readonly match: CompiledFilter;
  readonly conditions?: CompiledConditions | undefined;
  readonly exceptions: readonly { readonly policyName: string; readonly ruleNames: readonly TextMatcher[] }[];
  /** Set for an exception of policies.kyverno.io, which has neither a match block nor rules. */
  readonly cel?: CompiledCelException | undefined;
  readonly source: { readonly file: string; readonly line: number };
}
