import { type CelExpression, type CelResult, compileCel, compileTree } from '../../cel/expression.ts';
import { childrenOf, type Node } from '../../cel/syntax/ast.ts';
import { parse } from '../../cel/syntax/parser.ts';
import { CelSyntaxError, problemAt } from '../../cel/syntax/problem.ts';
import type { Environment } from '../../cel/types/environment.ts';
import { compileVariables } from '../../cel/variables.ts';
import { readObject, readObjects, readText } from '../../json/read-field.ts';
import type { JsonObject, Path } from '../../json/value.ts';
import type { Reporter } from '../../problem.ts';
import { watchErrors } from '../problem-collector.ts';
import { type ExpectedType, reportProblems, typedExpression } from './expressions.ts';
import type { CompiledStep, Fidelity, PlacedExpression, ProgramParts } from './program.ts';
import {
  type ExpressionRole,
  rewriteForTemplate,
  rewriteSourceForTemplate,
  rewriteTextForTemplate,
} from './rewrite.ts';

export interface PartsOptions {
  readonly environment: Environment;
  /** Whether conditions may read `variables`. The API server evaluates them before. */
  readonly conditionsReadVariables: boolean;
  /** Adds what only mutations may use. */
  readonly forMutations?: ((environment: Environment) => Environment) | undefined;
  readonly serverSideApply: boolean;
  readonly fidelity: Fidelity;
  readonly mergesWithoutSchema: boolean;
  /** The fields that lead to the Pod template, for a rule that was derived from one for Pods. */
  readonly template?: readonly string[] | undefined;
}

/** Compiles expressions as they are written, or for the Pod template. */
export function expressionCompiler({
  template,
  fidelity,
}: Pick<PartsOptions, 'template' | 'fidelity'>): (
  source: string,
  environment: Environment,
  role: ExpressionRole,
) => CelResult {
  return (source, environment, role) => {
    if (template === undefined) return compileCel(source, environment);
    if (fidelity === 'kyverno')
      return compileCel(rewriteTextForTemplate(source, template, role), environment);
    return compileRewritten(source, environment, template, role);
  };
}

/** Compiles the expressions of a policy. Reports every problem of every expression; undefined if there is one. */
export function compileParts(
  spec: JsonObject,
  written: Reporter,
  options: PartsOptions,
): (ProgramParts & { readonly environment: Environment }) | undefined {
  const reporter = watchErrors(written);
  const { fidelity, environment: base } = options;
  const compile = expressionCompiler(options);
  const variableList = readObjects(spec, 'variables').map((variable) => ({
    name: readText(variable, 'name') ?? '',
    expression: readText(variable, 'expression') ?? '',
  }));
  const variableRole = variableRoleOf(spec);
  const variables = compileVariables(variableList, base, (source, scope) =>
    compile(source, scope, variableRole),
  );
  for (const [index, problems] of variables.problems) {
    reportProblems(problems, ['spec', 'variables', index, 'expression'], reporter);
  }
  const { environment } = variables;
  const conditions = compileNamed(spec, 'matchConditions', 'bool', reporter, (source) =>
    compile(source, options.conditionsReadVariables ? environment : base, 'condition'),
  );
  const inMutations = options.forMutations?.(environment) ?? environment;
  const mutations = readObjects(spec, 'mutations').flatMap((mutation, index) =>
    compileMutation(mutation, ['spec', 'mutations', index], reporter, (source, role) =>
      compile(source, inMutations, role),
    ),
  );
  if (reporter.failed) return undefined;
  return {
    conditions,
    variables,
    mutations,
    environment,
    serverSideApply: options.serverSideApply,
    fidelity,
    mergesWithoutSchema: options.mergesWithoutSchema,
  };
}

function variableRoleOf(spec: JsonObject): ExpressionRole {
  const configures = readObjects(spec, 'mutations').some(
    (mutation) => readText(mutation, 'patchType') === 'ApplyConfiguration',
  );
  return configures ? 'objectVariable' : 'variable';
}

/** A list of `{name, expression}`. */
export function compileNamed(
  spec: JsonObject,
  field: string,
  expected: ExpectedType,
  reporter: Reporter,
  compile: (source: string) => CelResult,
): readonly PlacedExpression[] {
  return readObjects(spec, field).flatMap((entry, index) => {
    const name = readText(entry, 'name') ?? '';
    const path: Path = ['spec', field, index, 'expression'];
    const result = compile(readText(entry, 'expression') ?? '');
    const expression = typedExpression(result, expected, path, reporter);
    return expression === undefined ? [] : [{ label: `${field} ${name}`, name, path, expression }];
  });
}

function compileMutation(
  mutation: JsonObject,
  path: Path,
  reporter: Reporter,
  compile: (source: string, role: ExpressionRole) => CelResult,
): readonly CompiledStep[] {
  const patchType = readText(mutation, 'patchType') === 'JSONPatch' ? 'JSONPatch' : 'ApplyConfiguration';
  const field = patchType === 'JSONPatch' ? 'jsonPatch' : 'applyConfiguration';
  const body = readObject(mutation, field);
  if (body === undefined) {
    reporter.error(
      path,
      'KYM_MUTATE_FORM',
      `a mutation of type ${patchType} needs ${field}`,
      `Add ${field}.expression.`,
    );
    return [];
  }
  const place: Path = [...path, field, 'expression'];
  const result = compile(readText(body, 'expression') ?? '', field);
  const expected = patchType === 'JSONPatch' ? 'list(JSONPatch)' : 'Object';
  const expression = typedExpression(result, expected, place, reporter);
  if (expression === undefined) return [];
  return [{ label: `mutations[${path.at(-1)}]`, name: patchType, path: place, expression, patchType }];
}

function compileRewritten(
  source: string,
  environment: Environment,
  template: readonly string[],
  role: ExpressionRole,
): CelResult {
  try {
    const node = rewriteForTemplate(parse(source, environment.macros, environment), template, role);
    return compileTree(node, source, environment);
  } catch (error) {
    if (!(error instanceof CelSyntaxError)) throw error;
    return { expression: undefined, problems: [problemAt(source, error.offset, error.message, error.hint)] };
  }
}

/** The spec of a derived policy: as written, with the expressions that it runs. */
export function rewrittenSpec(
  spec: JsonObject,
  template: readonly string[],
  { environment, fidelity }: Pick<PartsOptions, 'environment' | 'fidelity'>,
): JsonObject {
  const rewrite = (entry: JsonObject, role: ExpressionRole, field = 'expression'): JsonObject => {
    const source = readText(entry, field) ?? '';
    const expression =
      fidelity === 'kyverno'
        ? rewriteTextForTemplate(source, template, role)
        : rewriteSourceForTemplate(source, environment.macros, template, role);
    return { ...entry, [field]: expression };
  };
  const named = (list: string, role: ExpressionRole, field?: string) =>
    Object.hasOwn(spec, list)
      ? { [list]: readObjects(spec, list).map((entry) => rewrite(entry, role, field)) }
      : {};
  const mutations = readObjects(spec, 'mutations').map((mutation) => {
    const field = readText(mutation, 'patchType') === 'JSONPatch' ? 'jsonPatch' : 'applyConfiguration';
    return { ...mutation, [field]: rewrite(readObject(mutation, field) ?? {}, field) };
  });
  return {
    ...spec,
    ...named('matchConditions', 'condition'),
    ...named('variables', variableRoleOf(spec)),
    ...named('auditAnnotations', 'variable', 'valueExpression'),
    ...(Object.hasOwn(spec, 'mutations') ? { mutations } : {}),
  };
}

/** All expressions of the parts, with their paths. */
export function expressionsOf(
  parts: ProgramParts,
  spec: JsonObject,
): readonly { readonly path: Path; readonly expression: CelExpression }[] {
  const names = readObjects(spec, 'variables').map((variable) => readText(variable, 'name') ?? '');
  const variables = names.flatMap((name, index) => {
    const expression = parts.variables.expressions.get(name);
    return expression === undefined ? [] : [{ path: ['spec', 'variables', index, 'expression'], expression }];
  });
  return [...variables, ...parts.conditions, ...parts.mutations];
}

/** The first node below that fulfils the condition, in source order. */
export function findNode(node: Node, isWanted: (node: Node) => boolean): Node | undefined {
  if (isWanted(node)) return node;
  for (const child of childrenOf(node)) {
    const found = findNode(child, isWanted);
    if (found !== undefined) return found;
  }
  return undefined;
}
