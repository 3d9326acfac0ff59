import type { CelScope } from './compile/closure.ts';
import { type CelExpression, type CelResult, compileCel } from './expression.ts';
import type { CelProblem } from './syntax/problem.ts';
import { type Environment, extendEnvironment } from './types/environment.ts';
import { structType, type Type } from './types/type.ts';
import { CelError } from './value/error.ts';
import { LazyObject, type Value } from './value/value.ts';

export interface CelVariable {
  readonly name: string;
  readonly expression: string;
}

export interface CompiledVariables {
  /** Declares `variables` with the type of each variable. */
  readonly environment: Environment;
  /** By name. */
  readonly expressions: ReadonlyMap<string, CelExpression>;
  /** By the index of the variable. */
  readonly problems: ReadonlyMap<number, readonly CelProblem[]>;
  /**
   * The scope with `variables`, for one evaluation of a policy: each is evaluated when it is first read, and then
   * keeps its value or its error. The scope itself if there are none.
   */
  bind(scope: CelScope): CelScope;
}

const typeName = 'kyverno.variables';

/** Compiles the variables of a policy. Each may read those before it; a variable with a problem is not declared. */
export function compileVariables(
  variables: readonly CelVariable[],
  base: Environment,
  compile: (source: string, environment: Environment) => CelResult = compileCel,
): CompiledVariables {
  const types = new Map<string, Type>();
  const expressions = new Map<string, CelExpression>();
  const problems = new Map<number, readonly CelProblem[]>();
  const environment = extendEnvironment(base, {
    structs: [
      {
        name: typeName,
        fieldType: (name) => types.get(name),
        get fieldNames() {
          return [...types.keys()];
        },
      },
    ],
    variables: [{ name: 'variables', type: structType(typeName) }],
  });
  for (const [index, { name, expression: source }] of variables.entries()) {
    const result = compile(source, environment);
    if (result.expression === undefined) {
      problems.set(index, result.problems);
    } else {
      expressions.set(name, result.expression);
      types.set(name, result.expression.type);
    }
  }
  return { environment, problems, expressions, bind: (scope) => bindVariables(expressions, scope) };
}

/** The value of `variables` where there are none. */
export const noVariables = new LazyObject(typeName, () => undefined);

function bindVariables(expressions: ReadonlyMap<string, CelExpression>, scope: CelScope): CelScope {
  if (expressions.size === 0) return scope;
  let known: Map<string, Value | CelError> | undefined;
  const read = (name: string): Value | undefined => {
    const expression = expressions.get(name);
    if (expression === undefined) return undefined;
    known ??= new Map();
    let outcome = known.get(name);
    if (outcome === undefined) {
      outcome = attempt(expression, bound);
      known.set(name, outcome);
    }
    // Without the position, which is one in the variable's own expression.
    if (outcome instanceof CelError) throw new CelError(outcome.message);
    return outcome;
  };
  const bound = withVariables(new LazyObject(typeName, read), scope);
  return bound;
}

function withVariables(values: LazyObject, scope: CelScope): CelScope {
  return {
    lookup: (name) => (name === 'variables' ? values : scope.lookup(name)),
    effects: scope.effects,
  };
}

/** A request for data that is not loaded yet passes through, so that the variable is evaluated again. */
function attempt(expression: CelExpression, scope: CelScope): Value | CelError {
  try {
    return expression.evaluate(scope);
  } catch (error) {
    if (error instanceof CelError) return error;
    throw error;
  }
}
