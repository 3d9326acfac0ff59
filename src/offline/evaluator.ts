import { kindOf, requestFor } from '../admission/resource-request.ts';
import type { DataSource } from '../engine/context/data-source.ts';
import { mutate } from '../engine/mutate.ts';
import type { Outcome } from '../engine/outcome.ts';
import type { Request, RequestUser } from '../engine/request.ts';
import type { Environment } from '../expression/scope.ts';
import { mergeMembers } from '../json/merge.ts';
import { type JsonObject, member } from '../json/value.ts';
import type { CompiledException, CompiledPolicy, Operation } from '../policy/compiled.ts';
import { createSnapshot } from '../policy/registry/registry.ts';
import { customKinds } from './custom-kinds.ts';
import { nameOf, withDefaultNamespace } from './object-identity.ts';
import type { ValuesLookup } from './request-values.ts';

export interface EvaluatorOptions {
  readonly policies: readonly CompiledPolicy[];
  readonly exceptions: readonly CompiledException[];
  readonly values: ValuesLookup;
  readonly user?: RequestUser | undefined;
  readonly dataSource: DataSource;
  readonly environment: Environment;
  /** Also return outcomes of rules that did not match. */
  readonly explain?: boolean | undefined;
  /** Objects among which are the CustomResourceDefinitions of custom kinds: their plural names and scopes. */
  readonly others?: readonly JsonObject[] | undefined;
  /** Return the object after each policy. */
  readonly steps?: boolean | undefined;
}

export interface Evaluated {
  /** The object of the request: with its namespace, and with fields from values. */
  readonly before: JsonObject;
  /** The same (===) when nothing changed. */
  readonly after: JsonObject;
  readonly outcomes: readonly Outcome[];
  readonly failedPolicies: readonly CompiledPolicy[];
  /** The object after each policy; empty unless `steps` is set. */
  readonly steps: ReadonlyMap<CompiledPolicy, JsonObject>;
}

export interface Evaluator {
  evaluate(object: JsonObject, operation?: Operation): Promise<Evaluated>;
}

/** Runs policies on objects from files, in the order given. Each policy receives the result of the previous one. */
export function createEvaluator(options: EvaluatorOptions): Evaluator {
  const { values, exceptions } = options;
  const customKind = customKinds(options.others ?? []);
  const complete = (object: JsonObject) =>
    customKind(kindOf(object))?.isNamespaced === false ? object : withDefaultNamespace(object);
  const isStepwise = options.steps === true || values.perPolicy;
  const { policies: ordered } = createSnapshot(options.policies, exceptions, { order: 'given' });
  const groups = isStepwise ? ordered.map((policy) => [policy]) : [ordered];
  const stages = groups.map((policies) => ({
    policy: isStepwise ? policies[0] : undefined,
    snapshot: createSnapshot(policies, exceptions, { order: 'given' }),
  }));

  async function evaluate(original: JsonObject, operation?: Operation): Promise<Evaluated> {
    const outcomes: Outcome[] = [];
    const failedPolicies: CompiledPolicy[] = [];
    const steps = new Map<CompiledPolicy, JsonObject>();
    const given = complete(original);
    let before = given;
    let current = given;
    let admitted: JsonObject | undefined;
    for (const [index, { policy, snapshot }] of stages.entries()) {
      const built = buildRequest(current, given, policy, operation);
      if (index === 0 && built.object !== null) before = built.object;
      const isAdmission = policy?.kind === 'MutatingAdmissionPolicy';
      if (isAdmission) admitted ??= current;
      const request = index === 0 ? built : { ...built, original: isAdmission ? admitted : before };
      const result = await mutate(request, snapshot, mutateOptions(options));
      if (result.object !== null) current = result.object;
      outcomes.push(...result.outcomes);
      failedPolicies.push(...result.failedPolicies);
      if (policy !== undefined) steps.set(policy, current);
    }
    return { before, after: current, outcomes, failedPolicies, steps };
  }

  function buildRequest(
    object: JsonObject,
    original: JsonObject,
    policy: CompiledPolicy | undefined,
    operation: Operation | undefined,
  ): Request {
    const given = values.forObject(policy, nameOf(object));
    const chosen = operation ?? given.operation;
    const current = given.object === undefined ? object : mergeMembers(object, given.object);
    const old =
      chosen === 'UPDATE' || chosen === 'DELETE' ? objectBefore(original, given.oldObject) : given.oldObject;
    const part = values.subresourceOf(kindOf(object));
    const request = requestFor(current, {
      variables: operation === undefined ? given.variables : { ...given.variables, operation },
      operation: chosen,
      oldObject: old,
      user: options.user,
      bindings: given.bindings,
      elementBindings: given.elementBindings,
      ...(part === undefined ? {} : { subresource: part.subresource, parentKind: part.parent }),
    });
    const resource = customKind(request.kind)?.plural;
    return resource === undefined ? request : { ...request, resource };
  }

  return { evaluate };
}

/** Values hold the whole object before an update, or only the fields that differ from the new object. */
function objectBefore(object: JsonObject, given: JsonObject = {}): JsonObject {
  const isWhole = member(given, 'apiVersion') !== undefined && member(given, 'kind') !== undefined;
  return isWhole ? withDefaultNamespace(given) : mergeMembers(object, given);
}

function mutateOptions({ dataSource, environment, explain }: EvaluatorOptions) {
  return { dataSource, environment, explain: explain ?? false };
}

/** The status in Kyverno's reports; undefined when the rule did not select the object. */
export function reportStatus(outcome: Outcome): 'pass' | 'skip' | 'error' | undefined {
  switch (outcome.status) {
    case 'applied':
      return 'pass';
    case 'failed':
      return 'error';
    case 'unchanged':
      return outcome.rule.mutation.type === 'cel' ? 'pass' : 'skip';
    case 'skipped': {
      const { reason } = outcome;
      if (reason.type === 'exception') return reason.report ?? 'skip';
      return skipTypes.has(reason.type) ? 'skip' : undefined;
    }
  }
}

const skipTypes: ReadonlySet<string> = new Set(['preconditions', 'anchor', 'matchCondition', 'parameter']);
