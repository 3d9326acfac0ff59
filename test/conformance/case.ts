import type { Json, JsonObject } from '../../src/json/value.ts';

/** One file under `cases/`: a topic and its cases. See README.md for what each field means. */
export interface CaseFile {
  /** What the file is about, in a few words. */
  readonly topic: string;
  readonly cases: readonly ConformanceCase[];
}

export interface ConformanceCase {
  /** Unique among all files, kebab-case. */
  readonly id: string;
  /** Section of the behaviour the case is about: `6.5`, `19.4` for a trap, `seed` for a documented example. */
  readonly sheet: string;
  readonly title: string;
  /** A policy document, a list of them, or the text of a YAML stream (for what has to be broken YAML). */
  readonly policy: JsonObject | readonly JsonObject[] | string;
  /** The incoming object, or several: each is mutated on its own. */
  readonly resource?: JsonObject | readonly JsonObject[];
  readonly operation?: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';
  readonly oldObject?: JsonObject;
  readonly subresource?: string;
  readonly userInfo?: CaseUser;
  /** Labels of the object's namespace. */
  readonly namespaceLabels?: Readonly<Record<string, string>>;
  /** A `Values` document as `kymera apply --values` reads it (apiVersion and kind may be left out). */
  readonly values?: JsonObject;
  /** PolicyException documents. */
  readonly exceptions?: readonly JsonObject[];
  /** Other objects of the cluster: what configMap entries, API calls and replacement sources find. */
  readonly objects?: readonly JsonObject[];
  /** Fixed clock for time functions, RFC 3339. */
  readonly now?: string;
  /** For background rules: no request, but the regular look at everything, or a policy that is new or changed. */
  readonly occasion?: 'reconcile' | 'policyUpdate';
  /** Why the real program gives something else, where it does. For the reader; nothing is done with it. */
  readonly differs?: string;
  readonly expect: Expectation;
}

export interface CaseUser {
  readonly username?: string;
  readonly groups?: readonly string[];
  readonly roles?: readonly string[];
  readonly clusterRoles?: readonly string[];
}

/** Every field that is there must hold; at least one must be there. */
export interface Expectation {
  /** The whole object afterwards; a list when `resource` is one. Lists are compared in order. */
  readonly object?: JsonObject | readonly JsonObject[];
  readonly unchanged?: true;
  /** The exact JSON Patch; a list of patches when `resource` is a list. */
  readonly patch?: readonly Json[];
  /** The outcomes in order: those named must be there, in this order; others may stand between. */
  readonly outcomes?: readonly ExpectedOutcome[];
  /** Problems of loading: each must be found; with none of `object`, `unchanged`, `outcomes` nothing is run. */
  readonly problems?: readonly ExpectedProblem[];
  /** What background rules change and make after the requests, in order; `{deleted: title}` for what goes. */
  readonly later?: readonly JsonObject[];
  /** A rule failed, and a message of a failed outcome contains this text. */
  readonly failed?: { readonly message: string };
}

export interface ExpectedOutcome {
  readonly policy?: string;
  readonly rule: string;
  readonly status: 'applied' | 'unchanged' | 'skipped' | 'failed';
  /** Contained in the message of the outcome, or in its reason as JSON. */
  readonly reason?: string;
}

export interface ExpectedProblem {
  readonly code: string;
  readonly pointer?: string;
  /** Contained in the message. */
  readonly message?: string;
}
