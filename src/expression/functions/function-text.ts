import { stringifyJson } from '../../json/json-text.ts';
import type { ExpressionFunction } from './function-signature.ts';

/** @example functionSignature(truncate) // 'truncate(string, number) string' */
export function functionSignature({ name, parameters, returns }: ExpressionFunction): string {
  const list = parameters.map(({ types, variadic }) => `${types.join('|')}${variadic === true ? '...' : ''}`);
  return `${name}(${list.join(', ')}) ${returns}`;
}

export interface FunctionExample {
  readonly expression: string;
  /** JSON text. */
  readonly result: string;
  readonly data?: string | undefined;
}

/** The example from the function table; tests evaluate it. */
export function functionExample({ example }: ExpressionFunction): FunctionExample {
  const { expression, result, data } = example;
  return {
    expression,
    result: result === undefined ? 'the current time' : stringifyJson(result),
    ...(data === undefined ? {} : { data: stringifyJson(data) }),
  };
}
