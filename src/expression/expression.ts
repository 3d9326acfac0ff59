import { spendSteps } from '../json/budget.ts';
import type { Json } from '../json/value.ts';
import type { Closure, ClosureContext, MissingKey } from './compile/closure.ts';
import { compileNode } from './compile/compiler.ts';
import { weightOf } from './compile/weight.ts';
import type { FunctionTable } from './functions/function-signature.ts';
import { functionTable } from './functions/table.ts';
import { describeMissingPart } from './image.ts';
import type { VariableRange } from './jmespath/lexer.ts';
import { parseExpression } from './jmespath/parser.ts';
import { type Environment, EvaluationError, type Scope } from './scope.ts';

/** A compiled JMESPath expression. */
export interface CompiledExpression {
  readonly text: string;
  /** Root names that it reads; `@` for any. */
  readonly roots: ReadonlySet<string>;
  /**
   * Throws EvaluationError: KYM_VARIABLE_UNRESOLVED when the result is a missing key,
   * KYM_EXPRESSION_FAILED when a function rejects its arguments.
   */
  evaluate(scope: Scope): Json;
  /** Evaluates against a value. */
  search(data: Json, environment: Environment): Json;
}

/** Variables in quotes inside the source of an expression, and their values. */
export interface NestedVariables {
  readonly ranges: readonly VariableRange[];
  readonly values: readonly ((scope: Scope) => Json)[];
}

export interface CompiledBoundExpression extends Omit<CompiledExpression, 'search'> {
  /** Evaluates against a value. Nested variables are read from the scope. */
  search(data: Json, scope: Scope): Json;
}

/**
 * Compiles an expression; throws ExpressionSyntaxError.
 * @example compileExpression('request.object.metadata.name').evaluate(scope)
 */
export function compileExpression(
  text: string,
  functions: FunctionTable = functionTable,
): CompiledExpression {
  const bound = compileBoundExpression(text, noVariables, functions);
  return { ...bound, search: (data, environment) => bound.search(data, dataScope(environment)) };
}

export function compileBoundExpression(
  text: string,
  nested: NestedVariables,
  functions: FunctionTable = functionTable,
): CompiledBoundExpression {
  const tree = parseExpression(text, nested.ranges);
  const context: ClosureContext = {
    functions,
    variables: nested.values,
    roots: new Set(),
    missing: { key: '' },
  };
  const weight = weightOf(tree);
  const atRoot = compileNode(tree, 'root', context);
  let atCurrent: Closure | undefined;
  return {
    text,
    roots: context.roots,
    evaluate(scope) {
      spendSteps(weight);
      return outcome(atRoot, null, scope, context.missing);
    },
    search(data, scope) {
      spendSteps(weight);
      atCurrent ??= compileNode(tree, 'current', context);
      return outcome(atCurrent, data, scope, context.missing);
    },
  };
}

const noVariables: NestedVariables = { ranges: [], values: [] };

function outcome(closure: Closure, current: Json, scope: Scope, missing: MissingKey): Json {
  let result: Json | undefined;
  try {
    result = closure(current, scope);
  } catch (error) {
    // Comparing or printing data that is nested thousands of levels deep exhausts the stack.
    if (!(error instanceof RangeError)) throw error;
    const message = `the data is too large or nested too deeply: ${error.message}`;
    throw new EvaluationError('KYM_EXPRESSION_FAILED', message, { cause: error });
  }
  if (result !== undefined) return result;
  const reason =
    missing.image === undefined ? undefined : describeMissingPart(missing.image, missing.key, scope);
  const detail = reason === undefined ? '' : `: ${reason}`;
  throw new EvaluationError('KYM_VARIABLE_UNRESOLVED', `Unknown key "${missing.key}" in path${detail}`);
}

function dataScope(environment: Environment): Scope {
  return { environment, lookup: () => undefined, snapshot: () => ({}) };
}
