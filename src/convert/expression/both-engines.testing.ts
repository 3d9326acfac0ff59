import { admissionPolicyEnvironment, mutatingPolicyEnvironment } from '../../cel/environments.ts';
import { type CelExpression, compileCel } from '../../cel/expression.ts';
import { CelError } from '../../cel/value/error.ts';
import { toJson } from '../../cel/value/json.ts';
import type { Value } from '../../cel/value/value.ts';
import { compileConditions } from '../../expression/conditions/conditions.ts';
import { EvaluationError, type Scope as ExpressionScope } from '../../expression/scope.ts';
import { compileTemplate } from '../../expression/template/template.ts';
import type { Json, JsonObject } from '../../json/value.ts';
import { builtInSchema } from '../../patch/structured/built-in.ts';
import { createScope, Variables } from '../scope.ts';
import { type CelText, type ConversionTarget, NotConvertible, type Scope } from '../types.ts';
import { translateConditions } from './conditions.ts';
import { translateTemplate } from './template.ts';

/** What an expression gave; undefined after a failure. */
export interface Outcome {
  readonly value: Json | undefined;
}

const silent = {
  error(_path: unknown, _code: unknown, message: string): void {
    throw new Error(message);
  },
  warn: () => undefined,
};
const environment = { now: () => new Date(0), random: () => 0 };

export function request(object: JsonObject): JsonObject {
  return {
    operation: 'CREATE',
    name: 'web',
    namespace: 'shop',
    kind: { group: '', version: 'v1', kind: 'Pod' },
    userInfo: { username: 'system:serviceaccount:shop:ci', groups: ['a', 'b'] },
    object,
  };
}

function expressionScope(object: JsonObject): ExpressionScope {
  const bound = request(object);
  return {
    environment,
    lookup: (name) => (name === 'request' ? bound : name === 'serviceAccountName' ? 'ci' : undefined),
    snapshot: () => ({ request: bound }),
  };
}

function attempt(action: () => Json): Outcome {
  try {
    return { value: action() };
  } catch (error) {
    if (error instanceof EvaluationError || error instanceof CelError) return { value: undefined };
    throw error;
  }
}

export function oldTemplate(template: Json): (object: JsonObject) => Outcome {
  const compiled = compileTemplate(template, [], silent);
  return (object) => attempt(() => compiled.render(expressionScope(object)));
}

export function oldConditions(conditions: Json): (object: JsonObject) => Outcome {
  const compiled = compileConditions(conditions, [], silent);
  return (object) => attempt(() => compiled?.evaluate(expressionScope(object)).passed ?? null);
}

export function podScope(target: ConversionTarget): Scope {
  return createScope(target, new Variables(), 'object', builtInSchema('v1', 'Pod'));
}

/** Compiles the text as Kubernetes or Kyverno does; throws an Error if the type checker refuses it. */
function compile(text: CelText, target: ConversionTarget): CelExpression {
  const types = target === 'map' ? admissionPolicyEnvironment() : mutatingPolicyEnvironment();
  const { expression, problems } = compileCel(text.source, types);
  if (expression === undefined) throw new Error(`${text.source}\n${problems[0]?.message}`);
  return expression;
}

/** The static type that the checker of Kubernetes or Kyverno finds. */
export function staticType(text: CelText, target: ConversionTarget): string {
  return compile(text, target).type.kind;
}

export function evaluateCel(text: CelText, target: ConversionTarget): (object: JsonObject) => Outcome {
  const expression = compile(text, target);
  return (object) =>
    attempt(() =>
      toJson(
        expression.evaluate({
          effects: environment,
          lookup: (name) =>
            (name === 'object' ? object : name === 'request' ? request(object) : undefined) as Value,
        }),
      ),
    );
}

/** Undefined if the expression is refused. */
export function newTemplate(template: Json, target: ConversionTarget): CelText | undefined {
  return unlessRefused(() => translateTemplate(template, 'test', podScope(target)));
}

export function newConditions(conditions: Json, target: ConversionTarget): CelText | undefined {
  return unlessRefused(() => translateConditions(conditions, 'test', podScope(target)));
}

function unlessRefused(translate: () => CelText): CelText | undefined {
  try {
    return translate();
  } catch (error) {
    if (error instanceof NotConvertible) return undefined;
    throw error;
  }
}
