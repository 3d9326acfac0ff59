import type { CelScope } from '../../cel/compile/closure.ts';
import { compileCel } from '../../cel/expression.ts';
import type { Node } from '../../cel/syntax/ast.ts';
import type { Environment } from '../../cel/types/environment.ts';
import { toJson } from '../../cel/value/json.ts';
import type { Value } from '../../cel/value/value.ts';
import { EvaluationError } from '../../expression/scope.ts';
import { readObject, readObjects, readText } from '../../json/read-field.ts';
import { isArray, isObject, type Json, type JsonObject, type Path } from '../../json/value.ts';
import type { Reporter } from '../../problem.ts';
import type { CelEffect, CelHost, CompiledCelTargets } from '../compiled-cel.ts';
import { compileConstraints } from './constraints.ts';
import { exemption } from './exemption.ts';
import { typedExpression } from './expressions.ts';
import { compileNamed, findNode } from './parts.ts';
import type { PlacedExpression, ProgramParts } from './program.ts';
import { failureOf, Run } from './program.ts';
import { type CurrentObject, createScope } from './scope.ts';

/** What selects the existing objects that a policy changes, and under which conditions. */
export interface TargetParts {
  readonly conditions: readonly PlacedExpression[];
  readonly expression: PlacedExpression | undefined;
}

type BindScope = (
  current: CurrentObject,
  host: CelHost,
  values: Readonly<Record<string, Value>> | undefined,
) => CelScope;

const constraintsPath: Path = ['spec', 'targetMatchConstraints'];

/** Compiles `targetMatchConditions` and the expression of `targetMatchConstraints`. */
export function compileTargetParts(
  spec: JsonObject,
  environment: Environment,
  reporter: Reporter,
): TargetParts {
  const conditions = compileNamed(spec, 'targetMatchConditions', 'bool', reporter, (source) =>
    compileCel(source, environment),
  );
  const source = readText(readObject(spec, 'targetMatchConstraints') ?? {}, 'expression') ?? '';
  if (source === '') return { conditions, expression: undefined };
  const path: Path = [...constraintsPath, 'expression'];
  const expression = typedExpression(compileCel(source, environment), 'map(string, any)', path, reporter);
  const placed = { label: 'targetMatchConstraints', name: 'expression', path };
  return { conditions, expression: expression === undefined ? undefined : { ...placed, expression } };
}

/** Whether a policy names objects other than those that it matches. */
export function hasTargets(spec: JsonObject): boolean {
  const targets = readObject(spec, 'targetMatchConstraints') ?? {};
  return readObjects(targets, 'resourceRules').length > 0 || (readText(targets, 'expression') ?? '') !== '';
}

/** Without target constraints, the objects that the policy matches are its targets. Undefined after a problem. */
export function compileTargets(
  spec: JsonObject,
  parts: ProgramParts,
  { conditions, expression }: TargetParts,
  namespace: string | undefined,
  reporter: Reporter,
): CompiledCelTargets | undefined {
  const field = hasTargets(spec) ? 'targetMatchConstraints' : 'matchConstraints';
  const constraints = compileConstraints(readObject(spec, field) ?? {}, ['spec', field], reporter);
  if (constraints === undefined) return undefined;
  const own = { flavour: 'MutatingPolicy', namespace } as const;
  const bound: BindScope = (current, host, values) =>
    parts.variables.bind(createScope(current, host, own, values));
  const expressions = [
    ...[...parts.variables.expressions.values()],
    ...[...parts.conditions, ...parts.mutations, ...conditions].map((each) => each.expression),
    ...(expression === undefined ? [] : [expression.expression]),
  ];
  const reads = (isWanted: (node: Node) => boolean): boolean =>
    expressions.some(({ node }) => findNode(node, isWanted) !== undefined);
  return {
    kinds: constraints.blocks.flatMap(({ kinds = [] }) => kinds),
    selects: (object, host) => constraints.mismatch(object, host) === undefined,
    find:
      expression === undefined
        ? undefined
        : (trigger, host) => {
            const exempted = exemption(trigger, host);
            const values = 'values' in exempted ? exempted.values : undefined;
            const found = evaluateTargets(expression, bound({ object: trigger }, host, values), host);
            return isObject(found) ? objectsIn(found) : [];
          },
    run: (object, host) => runOnTarget(parts, conditions, object, host, bound),
    readsUser: reads((node) => node.kind === 'select' && node.field === 'userInfo'),
    readsOldObject: reads(
      (node) =>
        (node.kind === 'ident' && node.name === 'oldObject') ||
        (node.kind === 'select' && node.field === 'oldObject'),
    ),
  };
}

function evaluateTargets(expression: PlacedExpression, scope: CelScope, host: CelHost): Json {
  try {
    return toJson(new Run(host).evaluate(expression, scope));
  } catch (error) {
    // Throws what is not an error of the policy.
    const { code, path, detail } = failureOf(error, expression);
    throw new EvaluationError(code, detail, { location: path });
  }
}

/** An object, or the items of a list, which do not state their kind. */
function objectsIn(found: JsonObject): readonly JsonObject[] {
  const items = found['items'];
  if (items === undefined || !isArray(items)) return [found];
  const kind = (readText(found, 'kind') ?? '').replace(/List$/, '');
  const apiVersion = readText(found, 'apiVersion') ?? '';
  return items.filter(isObject).map((item) => ({ apiVersion, kind, ...item }));
}

/** `object` is the target; `request` is that of the trigger. */
function runOnTarget(
  parts: ProgramParts,
  conditions: readonly PlacedExpression[],
  object: JsonObject,
  host: CelHost,
  bound: BindScope,
): CelEffect {
  const run = new Run(host);
  const { traces } = run;
  const current: CurrentObject = { object };
  const exempted = exemption(object, host);
  if ('failure' in exempted) return { status: 'failed', failure: exempted.failure, traces };
  if (exempted.skip !== undefined) return { status: 'skipped', reason: exempted.skip, traces };
  const scope = bound(current, host, exempted.values);
  const unmet = run.unmet(conditions, scope);
  if (unmet !== undefined) {
    return 'code' in unmet
      ? { status: 'failed', failure: unmet, traces }
      : { status: 'skipped', reason: unmet, traces };
  }
  for (const step of parts.mutations) {
    try {
      current.object = run.mutate(current.object ?? object, step, scope, parts);
    } catch (error) {
      return run.failed(error, step);
    }
  }
  return run.mutated(current.object ?? object);
}
