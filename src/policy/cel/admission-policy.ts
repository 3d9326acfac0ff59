import { admissionPolicyEnvironment, withMutationTypes } from '../../cel/environments.ts';
import { neededVersion } from '../../cel/kubernetes-version.ts';
import type { Environment } from '../../cel/types/environment.ts';
import type { Value } from '../../cel/value/value.ts';
import { readObject, readObjects, readText, readTexts } from '../../json/read-field.ts';
import type { JsonObject } from '../../json/value.ts';
import type { Problem, Reporter } from '../../problem.ts';
import type { PolicyResult } from '../compile/policy.ts';
import type { CompiledPolicy, CompiledRule } from '../compiled.ts';
import type {
  CelEffect,
  CelFailure,
  CelHost,
  CelMismatch,
  CelRequest,
  CelSkip,
  CompiledCelProgram,
} from '../compiled-cel.ts';
import { collectProblems, type PolicySource } from '../problem-collector.ts';
import { resourceOf } from '../resource-name.ts';
import { admissionBindingSchema, admissionPolicySchema } from '../schema/cel.ts';
import { checkObject } from '../schema/check.ts';
import { checkBodies, checkObjectName, checkParamKind, checkParamRef } from './api-server-rules.ts';
import { type CompiledConstraints, compileConstraints } from './constraints.ts';
import { celPolicy, celRule, mainRule } from './head.ts';
import { checkNames } from './names.ts';
import { type CompiledParams, compileParams, type ParamKind } from './params.ts';
import { compileParts, expressionsOf } from './parts.ts';
import { failureOf, type ProgramParts, Run } from './program.ts';
import { type CurrentObject, createScope } from './scope.ts';

/** A MutatingAdmissionPolicyBinding. */
export interface CompiledBinding {
  readonly name: string;
  readonly policyName: string;
  readonly constraints: CompiledConstraints;
  readonly document: JsonObject;
  readonly source: PolicySource;
}

export interface BindingResult {
  readonly binding?: CompiledBinding | undefined;
  readonly problems: readonly Problem[];
}

/** A compiled policy, and how to bind it. */
export interface AdmissionPolicyResult extends PolicyResult {
  /** Makes one rule per binding; a policy without bindings keeps its one rule. */
  bind?(bindings: readonly CompiledBinding[]): {
    readonly policy: CompiledPolicy;
    readonly problems: readonly Problem[];
  };
}

let environments: readonly [Environment, Environment] | undefined;

function environmentFor(params: boolean): Environment {
  environments ??= [
    admissionPolicyEnvironment({ mutations: false }),
    admissionPolicyEnvironment({ mutations: false, params: true }),
  ];
  return environments[params ? 1 : 0];
}

/** Compiles one MutatingAdmissionPolicy. */
export function compileAdmissionPolicy(document: JsonObject, source: PolicySource): AdmissionPolicyResult {
  const name = readText(readObject(document, 'metadata') ?? {}, 'name') ?? '';
  const collector = collectProblems(source, name);
  const reporter = collector.at([]);
  const version = readText(document, 'apiVersion') ?? '';
  if (!checkObject(document, admissionPolicySchema, [], reporter, version))
    return { problems: collector.problems };
  const spec = readObject(document, 'spec') ?? {};
  checkObjectName(name, ['metadata', 'name'], reporter);
  checkSpec(spec, reporter);
  const paramKind = paramKindOf(spec);
  const matchConstraints = readObject(spec, 'matchConstraints') ?? {};
  const constraints = compileConstraints(matchConstraints, ['spec', 'matchConstraints'], reporter, {
    indexed: true,
    apiServer: true,
  });
  const parts = compileParts(spec, reporter, {
    environment: environmentFor(paramKind !== undefined),
    conditionsReadVariables: false,
    forMutations: withMutationTypes,
    serverSideApply: false,
    fidelity: 'apiServer',
    mergesWithoutSchema: false,
  });
  if (parts === undefined || constraints === undefined || collector.hasErrors())
    return { problems: collector.problems };
  if (version.endsWith('/v1alpha1')) warnAboutVersions(parts, spec, reporter);
  const create = (binding: CompiledBinding | undefined, params: CompiledParams | undefined): CompiledRule =>
    celRule({
      name: binding?.name ?? mainRule,
      blocks: constraints.blocks,
      program: createProgram({
        parts,
        constraints,
        binding,
        params,
        hasParams: paramKind !== undefined,
        keepsOthers: readText(spec, 'failurePolicy') === 'Ignore',
        reinvocable: readText(spec, 'reinvocationPolicy') === 'IfNeeded',
      }),
      document: spec,
      skipBackgroundRequests: false,
      existingOnly: false,
    });
  const policyWith = (rules: readonly CompiledRule[]): CompiledPolicy =>
    celPolicy(document, source, 'MutatingAdmissionPolicy', { rules, timeoutSeconds: undefined });
  return {
    policy: policyWith([create(undefined, undefined)]),
    problems: collector.problems,
    bind(bindings) {
      const own = bindings.filter(({ policyName }) => policyName === name);
      if (own.length === 0) {
        const unbound = collectProblems(source, name);
        unbound
          .at([])
          .warn(
            ['metadata', 'name'],
            'KYM_BINDING_MISSING',
            'no binding was given for the policy: it is evaluated as if one bound it without parameters',
            'Add its MutatingAdmissionPolicyBinding.',
          );
        return { policy: policyWith([create(undefined, undefined)]), problems: unbound.problems };
      }
      const problems: Problem[] = [];
      const rules = own
        .toSorted((a, b) => (a.name < b.name ? -1 : 1))
        .flatMap((binding) => {
          const found = collectProblems(binding.source, name);
          const params = compileParams(
            readObject(readObject(binding.document, 'spec') ?? {}, 'paramRef'),
            paramKind,
            found.at([]),
          );
          problems.push(...found.problems);
          return found.hasErrors() ? [] : [create(binding, params)];
        });
      return { policy: policyWith(rules), problems };
    },
  };
}

export function compileBinding(document: JsonObject, source: PolicySource): BindingResult {
  const name = readText(readObject(document, 'metadata') ?? {}, 'name') ?? '';
  const collector = collectProblems(source, name);
  const reporter = collector.at([]);
  const version = readText(document, 'apiVersion') ?? '';
  if (!checkObject(document, admissionBindingSchema, [], reporter, version))
    return { problems: collector.problems };
  const spec = readObject(document, 'spec') ?? {};
  checkObjectName(name, ['metadata', 'name'], reporter);
  checkObjectName(readText(spec, 'policyName'), ['spec', 'policyName'], reporter);
  checkParamRef(spec, version, reporter);
  const resources = readObject(spec, 'matchResources') ?? {};
  const constraints = compileConstraints(resources, ['spec', 'matchResources'], reporter, {
    apiServer: true,
  });
  if (constraints === undefined || collector.hasErrors()) return { problems: collector.problems };
  const policyName = readText(spec, 'policyName') ?? '';
  return { binding: { name, policyName, constraints, document, source }, problems: collector.problems };
}

/** Servers of the later versions of the kind, from Kubernetes 1.34, have all functions. */
function warnAboutVersions(parts: ProgramParts, spec: JsonObject, reporter: Reporter): void {
  for (const { path, expression } of expressionsOf(parts, spec)) {
    const needed = neededVersion(expression.node);
    if (needed === undefined || needed.minor <= firstMinor) continue;
    reporter.warn(
      path,
      'KYM_CEL_INVALID',
      `${needed.feature} needs Kubernetes 1.${needed.minor}, but 1.${firstMinor} has the kind as v1alpha1 and refuses the expression`,
      'Use another function if the policy is for older API servers.',
      needed.offset,
    );
  }
}

/** The first version of Kubernetes with MutatingAdmissionPolicies, as v1alpha1. */
const firstMinor = 32;

function paramKindOf(spec: JsonObject): ParamKind | undefined {
  const kind = readObject(spec, 'paramKind');
  if (kind === undefined) return undefined;
  return { apiVersion: readText(kind, 'apiVersion') ?? '', kind: readText(kind, 'kind') ?? '' };
}

/** Kinds for which the API server evaluates no policies, by group. */
const excludedKinds: Readonly<Record<string, ReadonlySet<string>>> = {
  'admissionregistration.k8s.io': new Set([
    'MutatingAdmissionPolicy',
    'MutatingAdmissionPolicyBinding',
    'ValidatingAdmissionPolicy',
    'ValidatingAdmissionPolicyBinding',
  ]),
  'authentication.k8s.io': new Set(['SelfSubjectReview', 'TokenReview']),
  'authorization.k8s.io': new Set([
    'LocalSubjectAccessReview',
    'SelfSubjectAccessReview',
    'SelfSubjectRulesReview',
    'SubjectAccessReview',
  ]),
};

function excludedIn(group: string): ReadonlySet<string> | undefined {
  return Object.hasOwn(excludedKinds, group) ? excludedKinds[group] : undefined;
}

function exclusion({ kind: { group, kind } }: CelRequest): CelMismatch | undefined {
  if (excludedIn(group)?.has(kind) !== true) return undefined;
  const path = ['spec', 'matchConstraints'];
  return {
    path,
    attribute: 'kind',
    expected: 'a kind that the API server evaluates policies for',
    actual: kind,
  };
}

function checkSpec(spec: JsonObject, reporter: Reporter): void {
  const constraints = readObject(spec, 'matchConstraints') ?? {};
  const rules = readObjects(constraints, 'resourceRules');
  if (rules.length === 0) {
    reporter.error(
      ['spec', 'matchConstraints'],
      'KYM_MATCH_EMPTY',
      'matchConstraints needs at least one resource rule',
      'Add resourceRules.',
    );
  }
  if (readText(spec, 'reinvocationPolicy') === undefined) {
    reporter.error(
      ['spec'],
      'KYM_FIELD_MISSING',
      'the field reinvocationPolicy is missing',
      'Add reinvocationPolicy: Never, or IfNeeded.',
    );
  }
  if (readObjects(spec, 'mutations').length === 0) {
    reporter.error(
      ['spec'],
      'KYM_FIELD_MISSING',
      'the field mutations is missing or empty',
      'Add a mutation.',
    );
  }
  rules.forEach((rule, index) => {
    const excluded = readTexts(rule, 'apiGroups').flatMap((group) =>
      [...(excludedIn(group) ?? [])].map(resourceOf),
    );
    readTexts(rule, 'resources').forEach((resource, at) => {
      if (!excluded.includes(resource)) return;
      const path = ['spec', 'matchConstraints', 'resourceRules', index, 'resources', at];
      reporter.warn(
        path,
        'KYM_NEVER_APPLIES',
        `the API server evaluates no MutatingAdmissionPolicy for ${resource}`,
        'Remove it.',
      );
    });
  });
  checkParamKind(spec, reporter);
  checkBodies(spec, reporter);
  checkNames(spec, reporter);
}

interface Program {
  readonly parts: ProgramParts;
  readonly constraints: CompiledConstraints;
  readonly binding: CompiledBinding | undefined;
  readonly params: CompiledParams | undefined;
  readonly hasParams: boolean;
  /** With `failurePolicy: Ignore` the other mutations of a policy with an error stay. */
  readonly keepsOthers: boolean;
  readonly reinvocable: boolean;
}

function createProgram(program: Program): CompiledCelProgram {
  const { parts, constraints, binding, params } = program;
  const readsNamespace = [
    ...parts.variables.expressions.values(),
    ...[...parts.conditions, ...parts.mutations].map(({ expression }) => expression),
  ].some(({ reads }) => reads.has('namespaceObject'));
  return {
    readsData: params !== undefined || readsNamespace,
    admission: { reinvocable: program.reinvocable },
    mismatch: (object, host) =>
      exclusion(host.request) ??
      constraints.mismatch(object, host) ??
      binding?.constraints.mismatch(object, host),
    clauses: [...constraints.clauses, ...(binding?.constraints.clauses ?? [])],
    run: (object, host) => runAdmissionPolicy(program, object, host),
  };
}

/** Each parameter is one invocation. Errors do not stop later mutations, unlike in a MutatingPolicy. */
function runAdmissionPolicy(program: Program, object: JsonObject | null, host: CelHost): CelEffect {
  const run = new Run(host);
  const { traces } = run;
  const found = program.params?.find(host) ?? { values: [null] };
  const kept = (current: JsonObject | null) => (program.keepsOthers ? (current ?? undefined) : undefined);
  if ('failure' in found) return { status: 'failed', failure: found.failure, traces, object: kept(object) };
  if ('skip' in found) return { status: 'skipped', reason: found.skip, traces };
  const current: CurrentObject = { object };
  const failures: CelFailure[] = [];
  let skip: CelSkip | undefined;
  let ran = false;
  for (const params of found.values) {
    const result = invoke(program, run, current, host, params, failures);
    if (result === undefined) ran = true;
    else skip ??= result;
  }
  const [failure] = failures;
  if (failure !== undefined) {
    const { binding } = program;
    const detail = binding === undefined ? failure.detail : `binding ${binding.name}: ${failure.detail}`;
    return {
      status: 'failed',
      failure: { ...failure, detail },
      traces,
      object: kept(current.object),
    };
  }
  if (!ran && skip !== undefined) return { status: 'skipped', reason: skip, traces };
  return run.mutated(current.object);
}

/** Returns the condition that is not met, if any. */
function invoke(
  { parts, hasParams }: Program,
  run: Run,
  current: CurrentObject,
  host: CelHost,
  params: Value,
  failures: CelFailure[],
): CelSkip | undefined {
  const values: Readonly<Record<string, Value>> = hasParams ? { params } : {};
  const flavour = 'MutatingAdmissionPolicy';
  // The API server evaluates match conditions without the Namespace.
  const unmet = run.unmet(
    parts.conditions,
    createScope(current, host, { flavour, namespaceObject: null }, values),
  );
  if (unmet !== undefined) {
    if (!('code' in unmet)) return unmet;
    failures.push(unmet);
    return undefined;
  }
  const scope = createScope(current, host, { flavour }, values);
  for (const step of parts.mutations) {
    if (current.object === null) break;
    try {
      // Each mutation evaluates the variables anew.
      current.object = run.mutate(current.object, step, parts.variables.bind(scope), parts);
    } catch (error) {
      failures.push(failureOf(error, step));
    }
  }
  return undefined;
}
