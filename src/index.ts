import { type ResourceRequestOptions, requestFor } from './admission/resource-request.ts';
import { type MutateOptions, mutate as mutateRequest } from './engine/mutate.ts';
import type { Outcome, Result } from './engine/outcome.ts';
import type { JsonObject } from './json/value.ts';
import { celCompilers } from './policy/cel/language.ts';
import type { CompiledException, CompiledPolicy } from './policy/compiled.ts';
import { loadDocuments } from './policy/load.ts';
import { createSnapshot, type PolicySnapshot } from './policy/registry/registry.ts';
import type { Problem } from './problem.ts';
import { systemEnvironment } from './system-environment.ts';

export { type Blame, type BlamedChange, blame, type Writer } from './analysis/blame/blame.ts';
export { type BlamedLine, blameLines } from './analysis/blame/lines.ts';
export type { DataAnswer, DataQuery, DataSource } from './engine/context/data-source.ts';
export type { Outcome, Result, SkipReason } from './engine/outcome.ts';
export { parseJson, stringifyJson } from './json/json-text.ts';
export type { PatchOperation } from './json/patch/operation.ts';
export type { Json, JsonObject } from './json/value.ts';
export type { CompiledException, CompiledPolicy, CompiledRule } from './policy/compiled.ts';
export type { Problem } from './problem.ts';

/** The source of policies, and the file name for problems. */
export interface PolicyText {
  readonly file: string;
  readonly text: string;
}

/** Compiled policies, in input order. */
export interface PolicySet {
  readonly policies: readonly CompiledPolicy[];
  readonly exceptions: readonly CompiledException[];
  /** Errors and warnings about the documents. A policy with an error is not in `policies`. */
  readonly problems: readonly Problem[];
  readonly snapshot: PolicySnapshot;
}

export type MutationOptions = ResourceRequestOptions & MutateOptions;

/**
 * Reads and compiles policies and exceptions. Never throws for the content of a document: see `problems`.
 *
 * @example
 * const set = loadPolicies({ file: 'labels.yaml', text: await readFile('labels.yaml', 'utf8') });
 * for (const problem of set.problems) console.error(problem.message);
 */
export function loadPolicies(...texts: readonly PolicyText[]): PolicySet {
  const { policies, exceptions, problems } = loadDocuments(texts, { cel: celCompilers });
  return {
    policies,
    exceptions,
    problems,
    snapshot: createSnapshot(policies, exceptions, { order: 'given' }),
  };
}

/**
 * Applies policies to an object. Returns the mutated object, the patch, and one outcome per rule. Integers beyond
 * ±(2^53 − 1) are bigints in objects and patches: read and write JSON with `parseJson` and `stringifyJson`.
 *
 * @example
 * const { object, patch } = await mutate(pod, set, { operation: 'CREATE' });
 */
export function mutate(object: JsonObject, set: PolicySet, options: MutationOptions = {}): Promise<Result> {
  return mutateRequest(requestFor(object, options), set.snapshot, {
    environment: systemEnvironment,
    ...options,
  });
}

/**
 * Returns the outcome of every rule, including rules that did not match.
 *
 * @example
 * for (const { rule, status, message } of await explain(pod, set)) console.log(rule.name, status, message);
 */
export async function explain(
  object: JsonObject,
  set: PolicySet,
  options: MutationOptions = {},
): Promise<readonly Outcome[]> {
  const { outcomes } = await mutate(object, set, { ...options, explain: true });
  return outcomes;
}
