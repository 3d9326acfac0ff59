import { BudgetError } from '../../json/budget.ts';
import type { Json, JsonArray, JsonObject } from '../../json/value.ts';
import { type Environment, EvaluationError } from '../scope.ts';
import type {
  Argument,
  ArgumentType,
  ExpressionFunction,
  ExpressionReference,
} from './function-signature.ts';

/** One argument list with typed access; the caller has checked the types. */
export class Arguments {
  readonly environment: Environment;
  readonly #name: string;
  readonly #values: readonly Argument[];

  constructor(name: string, values: readonly Argument[], environment: Environment) {
    this.#name = name;
    this.#values = values;
    this.environment = environment;
  }

  any(index: number): Json {
    return (this.#values[index] ?? null) as Json;
  }

  text(index: number): string {
    return this.#values[index] as string;
  }

  /** As in Kyverno, functions calculate with float64. */
  number(index: number): number {
    return Number(this.#values[index]);
  }

  list(index: number): JsonArray {
    return this.#values[index] as JsonArray;
  }

  object(index: number): JsonObject {
    return this.#values[index] as JsonObject;
  }

  expression(index: number): ExpressionReference {
    return this.#values[index] as ExpressionReference;
  }

  all(): readonly Json[] {
    return this.#values as readonly Json[];
  }

  /** Fails with the message format of Kyverno's functions. */
  fail(message: string): never {
    throw new EvaluationError('KYM_EXPRESSION_FAILED', `JMESPath function '${this.#name}': ${message}`);
  }

  /** Turns any Error that the action throws into a failure of this function. */
  attempt<T>(action: () => T): T {
    try {
      return action();
    } catch (error) {
      if (error instanceof EvaluationError || error instanceof BudgetError || error instanceof RangeError)
        throw error;
      return this.fail(error instanceof Error ? error.message : String(error));
    }
  }
}

export interface FunctionDefinition {
  /** `string`, `string|number`, or `object...` for one or more. */
  readonly parameters: readonly string[];
  readonly returns: string;
  readonly description: string;
  readonly example: ExpressionFunction['example'];
  readonly volatile?: true | undefined;
  readonly prepare?: () => void;
  readonly call: (args: Arguments) => Json;
}

/** Turns a family of definitions, keyed by function name, into functions. */
export function defineFunctions(
  definitions: Readonly<Record<string, FunctionDefinition>>,
): readonly ExpressionFunction[] {
  return Object.entries(definitions).map(([name, { parameters, call, ...rest }]) => ({
    ...rest,
    name,
    parameters: parameters.map(parseParameter),
    call: (args, environment) => call(new Arguments(name, args, environment)),
  }));
}

function parseParameter(text: string): ExpressionFunction['parameters'][number] {
  const variadic = text.endsWith('...');
  const types = (variadic ? text.slice(0, -3) : text).split('|') as ArgumentType[];
  return variadic ? { types, variadic } : { types };
}
