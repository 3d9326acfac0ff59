import { mutatingPolicyEnvironment } from '../../cel/environments.ts';
import type { Node } from '../../cel/syntax/ast.ts';
import type { Environment } from '../../cel/types/environment.ts';
import { stringifyJson } from '../../json/json-text.ts';
import {
  read,
  readBoolean,
  readNumber,
  readObject,
  readObjects,
  readText,
  readTexts,
} from '../../json/read-field.ts';
import type { JsonObject, Path } from '../../json/value.ts';
import type { Reporter } from '../../problem.ts';
import type { PolicyResult } from '../compile/policy.ts';
import type { CompiledRule } from '../compiled.ts';
import type { CompiledCelProgram } from '../compiled-cel.ts';
import { collectProblems, type PolicySource } from '../problem-collector.ts';
import { mutatingPolicySchema } from '../schema/cel.ts';
import { checkObject } from '../schema/check.ts';
import { autogenVariants, unknownControllers } from './autogen.ts';
import { compileConstraints } from './constraints.ts';
import { typedExpression } from './expressions.ts';
import { celPolicy, celRule, existingRule, mainRule } from './head.ts';
import { createMutatingProgram } from './mutating-program.ts';
import { checkNames } from './names.ts';
import { compileParts, expressionCompiler, expressionsOf, findNode, rewrittenSpec } from './parts.ts';
import type { PlacedExpression, ProgramParts } from './program.ts';
import type { ScopeOptions } from './scope.ts';
import { compileTargetParts, compileTargets, hasTargets } from './targets.ts';
import { type ConditionedSpec, webhookConditions } from './webhook-conditions.ts';

export interface CelOptions {
  /** Kyverno's exact behaviour where ours is deliberately different. */
  readonly strict: boolean;
}

/** Compiles one MutatingPolicy or NamespacedMutatingPolicy. */
export function compileMutatingPolicy(
  document: JsonObject,
  source: PolicySource,
  { strict }: CelOptions,
): PolicyResult {
  const kind =
    readText(document, 'kind') === 'NamespacedMutatingPolicy' ? 'NamespacedMutatingPolicy' : 'MutatingPolicy';
  const metadata = readObject(document, 'metadata') ?? {};
  const name = readText(metadata, 'name') ?? '';
  const namespace = kind === 'NamespacedMutatingPolicy' ? (readText(metadata, 'namespace') ?? '') : undefined;
  const collector = collectProblems(source, namespace === undefined ? name : `${namespace}/${name}`);
  const reporter = collector.at([]);
  const refused = (): PolicyResult => ({ problems: collector.problems });
  if (!checkObject(document, mutatingPolicySchema, [], reporter, readText(document, 'apiVersion') ?? ''))
    return refused();
  const spec = readObject(document, 'spec') ?? {};
  checkMetadata(name, namespace, reporter);
  checkSpec(spec, reporter);
  const environment = environmentOf(namespace);
  const options = {
    environment,
    conditionsReadVariables: true,
    serverSideApply: readBoolean(evaluationOf(spec), 'useServerSideApply') ?? false,
    fidelity: strict ? 'kyverno' : 'own',
    mergesWithoutSchema: mergesWithoutSchema(metadata, strict, reporter),
  } as const;
  const constraints = compileConstraints(
    readObject(spec, 'matchConstraints') ?? {},
    ['spec', 'matchConstraints'],
    reporter,
    { indexed: true },
  );
  const parts = compileParts(spec, reporter, options);
  if (parts !== undefined) warnOfDeletions(parts, spec, reporter);
  const annotations =
    parts === undefined ? [] : compileAnnotations(spec, parts.environment, reporter, options);
  const targetParts =
    parts === undefined
      ? { conditions: [], expression: undefined }
      : compileTargetParts(spec, parts.environment, reporter);
  const { conditions, expression } = targetParts;
  const others = [...annotations, ...conditions, ...(expression === undefined ? [] : [expression])];
  if (parts !== undefined)
    checkExpressions([...expressionsOf(parts, spec), ...others], spec, namespace !== undefined, reporter);
  if (parts === undefined || constraints === undefined || collector.hasErrors()) return refused();

  const existing = existingSettings(spec);
  const common = { existingOnly: existing.only, skipBackgroundRequests: existing.skipBackgroundRequests };
  const scope: ScopeOptions = { flavour: 'MutatingPolicy', namespace };
  const program = createMutatingProgram({ parts, annotations, scope }, constraints);
  const targets = existing.enabled
    ? compileTargets(spec, parts, targetParts, namespace, reporter)
    : undefined;
  const base = { blocks: constraints.blocks, document: spec, ...common };
  const withTargets: CompiledCelProgram = { ...program, targets };
  const rules: CompiledRule[] = [
    celRule({ ...base, name: mainRule, program: existing.only ? withTargets : program }),
  ];
  const specs: ConditionedSpec[] = [{ spec }];
  for (const variant of existing.only ? [] : autogenVariants(spec)) {
    const authors = derivedReporter(reporter, variant.name);
    const translation = { ...options, template: variant.template };
    const own = compileParts(spec, authors, translation);
    const limits = compileConstraints(variant.constraints, ['spec', 'matchConstraints'], authors, {
      indexed: true,
    });
    if (own === undefined || limits === undefined) continue;
    const derived = {
      ...rewrittenSpec(spec, variant.template, options),
      matchConstraints: variant.constraints,
    };
    rules.push(
      celRule({
        name: variant.name,
        autogenOf: mainRule,
        blocks: limits.blocks,
        program: createMutatingProgram(
          {
            parts: own,
            annotations: compileAnnotations(spec, own.environment, authors, translation),
            scope,
          },
          limits,
        ),
        document: derived,
        ...common,
      }),
    );
    specs.push({ name: variant.name, spec: derived });
  }
  if (existing.enabled && !existing.only)
    rules.push(celRule({ ...base, name: existingRule, program: withTargets, existingOnly: true }));
  if (collector.hasErrors()) return refused();
  const webhook = readObject(spec, 'webhookConfiguration') ?? {};
  const policy = celPolicy(document, source, kind, {
    rules,
    namespace,
    timeoutSeconds: readNumber(webhook, 'timeoutSeconds'),
    matchConditions: webhookConditions(specs),
  });
  return { policy, problems: collector.problems };
}

/** The value `merge` allows ApplyConfigurations for kinds without a schema. */
const withoutSchemaAnnotation = 'kymera.io/without-schema';

function mergesWithoutSchema(metadata: JsonObject, strict: boolean, reporter: Reporter): boolean {
  const value = read(readObject(metadata, 'annotations') ?? {}, withoutSchemaAnnotation);
  if (value !== undefined && value !== 'merge') {
    reporter.warn(
      ['metadata', 'annotations', withoutSchemaAnnotation],
      'KYM_FIELD_VALUE',
      `the annotation ${withoutSchemaAnnotation} has the value ${stringifyJson(value)}, which has no effect`,
      'The only value is "merge": it allows ApplyConfigurations for kinds without a schema. Without the annotation they are errors.',
    );
  }
  return !strict && value === 'merge';
}

const environments = new Map<string | undefined, Environment>();
const mostEnvironments = 100;

/** Building an environment takes longer than compiling a policy. */
export function environmentOf(namespace: string | undefined): Environment {
  const known = environments.get(namespace);
  if (known !== undefined) return known;
  if (environments.size >= mostEnvironments) environments.clear();
  const environment = mutatingPolicyEnvironment({ namespace });
  environments.set(namespace, environment);
  return environment;
}

function evaluationOf(spec: JsonObject): JsonObject {
  return readObject(spec, 'evaluation') ?? {};
}

function isEnabled(spec: JsonObject, field: string, preset: boolean): boolean {
  return readBoolean(readObject(evaluationOf(spec), field) ?? {}, 'enabled') ?? preset;
}

function existingSettings(spec: JsonObject): {
  /** The policy does not change the objects of requests. */
  only: boolean;
  enabled: boolean;
  skipBackgroundRequests: boolean;
} {
  const isJson = readText(evaluationOf(spec), 'mode') === 'JSON';
  const isForRequests = isEnabled(spec, 'admission', true) && !isJson && !hasTargets(spec);
  return {
    enabled: isEnabled(spec, 'mutateExisting', false) && !isJson,
    only: !isForRequests,
    skipBackgroundRequests: readBoolean(evaluationOf(spec), 'skipBackgroundRequests') ?? true,
  };
}

function checkMetadata(name: string, namespace: string | undefined, reporter: Reporter): void {
  if (name === '') reporter.error(['metadata'], 'KYM_FIELD_MISSING', 'the field metadata.name is missing');
  if (namespace !== '') return;
  reporter.error(
    ['metadata'],
    'KYM_FIELD_MISSING',
    'a NamespacedMutatingPolicy needs metadata.namespace',
    'Add the namespace, or use a MutatingPolicy.',
  );
}

function checkSpec(spec: JsonObject, reporter: Reporter): void {
  const constraints = readObject(spec, 'matchConstraints') ?? {};
  if (readObjects(constraints, 'resourceRules').length === 0) {
    reporter.error(
      ['spec', 'matchConstraints'],
      'KYM_MATCH_EMPTY',
      'a matchConstraints with at least one resource rule is required',
      'Add resourceRules with apiGroups, apiVersions, operations and resources.',
    );
  }
  if (!isEnabled(spec, 'admission', true) && !isEnabled(spec, 'mutateExisting', false)) {
    reporter.error(
      ['spec', 'evaluation'],
      'KYM_FIELD_CONFLICT',
      'disabling both admission and mutateExisting evaluation modes is not allowed',
      'Enable one of them.',
    );
  }
  if (hasTargets(spec) && !isEnabled(spec, 'mutateExisting', false)) {
    reporter.warn(
      ['spec', 'targetMatchConstraints'],
      'KYM_NEVER_APPLIES',
      'a policy with targetMatchConstraints does nothing unless mutateExisting is enabled',
      'Set spec.evaluation.mutateExisting.enabled to true.',
    );
  }
  checkNames(spec, reporter, 'warn');
  const others = unknownControllers(spec);
  if (others.length > 0) {
    reporter.warn(
      ['spec', 'autogen', 'podControllers', 'controllers'],
      'KYM_AUTOGEN_NARROWED',
      `mutations are not translated for ${others.join(', ')}`,
      'Write a policy for these resources.',
    );
  }
}

/** On DELETE there is no object, so every mutation fails. A condition that reads the request or its objects may leave it out. */
function warnOfDeletions(parts: ProgramParts, spec: JsonObject, reporter: Reporter): void {
  const { only } = existingSettings(spec);
  const isGuarded = parts.conditions.some(({ expression: { reads } }) =>
    ['request', 'object', 'oldObject', 'variables'].some((name) => reads.has(name)),
  );
  if (only || isGuarded || parts.mutations.length === 0) return;
  const rules = readObjects(readObject(spec, 'matchConstraints') ?? {}, 'resourceRules');
  for (const [index, rule] of rules.entries()) {
    const listed = readTexts(rule, 'operations').find((name) => name === '*' || name === 'DELETE');
    if (listed === undefined) continue;
    const effect = readText(spec, 'failurePolicy') === 'Ignore' ? 'has no effect' : 'denies deletions';
    reporter.warn(
      ['spec', 'matchConstraints', 'resourceRules', index, 'operations'],
      'KYM_NEVER_APPLIES',
      `mutations fail on DELETE, which has no object to change, so the policy ${effect}`,
      `${listed === '*' ? 'List CREATE and UPDATE' : 'Remove DELETE'}, or add the match condition request.operation != "DELETE".`,
    );
  }
}

/** What the type checker does not know. */
function checkExpressions(
  expressions: ReturnType<typeof expressionsOf>,
  spec: JsonObject,
  namespaced: boolean,
  reporter: Reporter,
): void {
  const generates =
    readBoolean(readObject(readObject(spec, 'autogen') ?? {}, 'mutatingAdmissionPolicy') ?? {}, 'enabled') ??
    false;
  for (const { path, expression } of expressions) {
    if (namespaced) refuseForeignData(expression.node, expression.reads, path, reporter);
    if (generates && path[1] === 'matchConditions' && expression.reads.has('variables')) {
      reporter.error(
        path,
        'KYM_FIELD_CONFLICT',
        'variables cannot be referenced in matchConditions when spec.autogen.mutatingAdmissionPolicy.enabled is true',
        'A MutatingAdmissionPolicy evaluates match conditions before variables: inline the expression.',
        findNode(expression.node, (node) => node.kind === 'ident' && node.name === 'variables')?.offset,
      );
    }
    const comparison = findNode(expression.node, comparesOldObjectWithNull);
    if (comparison !== undefined) {
      reporter.warn(
        path,
        'KYM_NEVER_APPLIES',
        'oldObject is never null in a MutatingPolicy: on CREATE it is an empty object',
        'Use has(oldObject.metadata), or request.operation.',
        comparison.offset,
      );
    }
  }
}

function refuseForeignData(node: Node, reads: ReadonlySet<string>, path: Path, reporter: Reporter): void {
  for (const name of ['http', 'globalContext']) {
    if (!reads.has(name)) continue;
    reporter.error(
      path,
      'KYM_NAMESPACE_BOUNDARY',
      `${name}.* is not allowed in namespaced policies`,
      'Use a MutatingPolicy.',
      findNode(node, (part) => part.kind === 'ident' && part.name === name)?.offset,
    );
  }
}

function comparesOldObjectWithNull(node: Node): boolean {
  if (node.kind !== 'call' || (node.name !== '_==_' && node.name !== '_!=_')) return false;
  const isOld = node.args.some((arg) => arg.kind === 'ident' && arg.name === 'oldObject');
  return isOld && node.args.some((arg) => arg.kind === 'literal' && arg.type === 'null_type');
}

function compileAnnotations(
  spec: JsonObject,
  environment: Environment,
  reporter: Reporter,
  options: Parameters<typeof expressionCompiler>[0],
): readonly PlacedExpression[] {
  const compile = expressionCompiler(options);
  return readObjects(spec, 'auditAnnotations').flatMap((entry, index) => {
    const name = readText(entry, 'key') ?? '';
    const path: Path = ['spec', 'auditAnnotations', index, 'valueExpression'];
    const result = compile(readText(entry, 'valueExpression') ?? '', environment, 'variable');
    const expression = typedExpression(result, 'string', path, reporter);
    return expression === undefined ? [] : [{ label: `auditAnnotations ${name}`, name, path, expression }];
  });
}

/** Problems of a derived rule are reported at the expression that it was derived from. */
function derivedReporter(reporter: Reporter, name: string): Reporter {
  return {
    error: (path, code, message, hint, offset) =>
      reporter.error(path, code, `in the derived rule ${name}: ${message}`, hint, offset),
    warn: () => {},
  };
}
