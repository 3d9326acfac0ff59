import type { Json } from '../../json/value.ts';
import type { Environment } from '../scope.ts';

export type ArgumentType =
  | 'any'
  | 'null'
  | 'boolean'
  | 'number'
  | 'string'
  | 'array'
  | 'object'
  | 'expref'
  | 'array[number]'
  | 'array[string]';

/** A compiled `&expr`. A missing key gives null. */
export interface ExpressionReference {
  apply(value: Json): Json;
}

/** An argument of a type that its parameter accepts. */
export type Argument = Json | ExpressionReference;

export interface ExpressionParameter {
  /** The accepted types. */
  readonly types: readonly ArgumentType[];
  /** Only on the last parameter: one or more arguments. */
  readonly variadic?: true | undefined;
}

export interface ExpressionFunction {
  readonly name: string;
  readonly parameters: readonly ExpressionParameter[];
  readonly returns: string;
  readonly description: string;
  readonly example: {
    readonly expression: string;
    readonly result?: Json | undefined;
    readonly data?: Json | undefined;
  };
  /** Not a pure function of its arguments (random, time_now …). */
  readonly volatile?: true | undefined;
  /** Called when an expression that calls the function is compiled: loads what the call will need. */
  prepare?(): void;
  /** May throw Suspend. */
  call(args: readonly Argument[], environment: Environment): Json;
}

export type FunctionTable = ReadonlyMap<string, ExpressionFunction>;
