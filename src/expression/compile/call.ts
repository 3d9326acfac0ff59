import { spendList, spendSteps, spendText } from '../../json/budget.ts';
import { isArray, isNumber, isObject, type Json, typeOf } from '../../json/value.ts';
import { didYouMean } from '../did-you-mean.ts';
import type {
  Argument,
  ArgumentType,
  ExpressionFunction,
  ExpressionParameter,
} from '../functions/function-signature.ts';
import type { Node } from '../jmespath/ast.ts';
import { ExpressionSyntaxError } from '../jmespath/syntax-error.ts';
import { EvaluationError, type Scope } from '../scope.ts';
import { CallError, type Closure, type ClosureContext } from './closure.ts';
import { weightOf } from './weight.ts';

type CallNode = Extract<Node, { type: 'call' }>;
type CompileNode = (node: Node, at: 'root' | 'current') => Closure;

/** `name(arg, …)`. The number of arguments is checked at load, their types at every call. */
export function compileCall(
  node: CallNode,
  at: 'root' | 'current',
  compile: CompileNode,
  { functions }: ClosureContext,
): Closure {
  const definition = functions.get(node.name);
  if (definition === undefined) {
    const similar = didYouMean(node.name, [...functions.keys()]);
    const advice = similar === undefined ? '' : `: did you mean ${similar}()?`;
    throw new ExpressionSyntaxError(`unknown function ${node.name}()${advice}`, node.position);
  }
  checkArity(definition, node);
  definition.prepare?.();
  const args = node.args.map((arg, index) =>
    compileArgument(definition, index, arg, node.position, at, compile),
  );
  return (current, scope) => {
    const values: Argument[] = [];
    for (const arg of args) {
      const value = arg(current, scope);
      chargeArgument(value);
      values.push(value);
    }
    try {
      const result = definition.call(values, scope.environment);
      chargeResult(result);
      return result;
    } catch (error) {
      throw error instanceof EvaluationError
        ? new CallError(error.code, error.message, { cause: error })
        : error;
    }
  };
}

/** Functions are linear in their arguments and results, except those that charge more themselves. */
function chargeArgument(value: Argument): void {
  if (typeof value === 'string') spendSteps(value.length >> 4);
  else if (Array.isArray(value)) spendSteps(value.length);
}

function chargeResult(value: Json): void {
  if (typeof value === 'string') spendText(value.length);
  else if (isArray(value)) spendList(value.length);
  else if (isObject(value)) spendList(Object.keys(value).length);
}

function checkArity({ name, parameters }: ExpressionFunction, { args, position }: CallNode): void {
  const variadic = parameters.at(-1)?.variadic === true;
  if (args.length === parameters.length || (variadic && args.length > parameters.length)) return;
  const wanted = `${variadic ? 'at least ' : ''}${parameters.length}`;
  throw new ExpressionSyntaxError(`${name}() takes ${wanted} argument(s), not ${args.length}`, position);
}

function compileArgument(
  { name, parameters }: ExpressionFunction,
  index: number,
  node: Node,
  position: number,
  at: 'root' | 'current',
  compile: CompileNode,
): (current: Json, scope: Scope) => Argument {
  const { types } = parameters[Math.min(index, parameters.length - 1)] as ExpressionParameter;
  if (node.type === 'reference') {
    if (types.includes('expref')) {
      return compileReference(compile(node.child, 'current'), weightOf(node.child));
    }
    throw new ExpressionSyntaxError(
      `argument ${index + 1} of ${name}() cannot be an expression reference (&)`,
      position,
    );
  }
  if (types.every((type) => type === 'expref')) {
    throw new ExpressionSyntaxError(
      `argument ${index + 1} of ${name}() must be an expression reference: &expression`,
      position,
    );
  }
  const closure = compile(node, at);
  if (types.includes('any')) return (current, scope) => closure(current, scope) ?? null;
  return (current, scope) => {
    const value = closure(current, scope) ?? null;
    for (const type of types) if (hasType(value, type)) return value;
    // Names the type and not the value: readers of messages may not be allowed to see the object.
    throw new CallError(
      'KYM_EXPRESSION_FAILED',
      `Invalid type for: ${typeOf(value)}, expected: [${types.join(', ')}] (argument ${index + 1} of ${name}())`,
    );
  };
}

function compileReference(closure: Closure, weight: number): (current: Json, scope: Scope) => Argument {
  return (_current, scope) => ({
    apply(value: Json) {
      spendSteps(weight);
      return closure(value, scope) ?? null;
    },
  });
}

function hasType(value: Json, type: ArgumentType): boolean {
  switch (type) {
    case 'any':
      return true;
    case 'null':
      return value === null;
    case 'array':
      return isArray(value);
    case 'object':
      return isObject(value);
    case 'array[number]':
      return isArray(value) && value.every(isNumber);
    case 'array[string]':
      return isArray(value) && value.every((item) => typeof item === 'string');
    case 'number':
      return isNumber(value);
    case 'expref':
      return false;
    default:
      return typeof value === type;
  }
}
