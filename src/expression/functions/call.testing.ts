import type { Json } from '../../json/value.ts';
import { compileExpression } from '../expression.ts';
import type { Environment } from '../scope.ts';
import { functionTable } from './table.ts';

const still: Environment = { now: () => new Date('2021-01-10T10:14:05Z'), random: () => 0.5 };

/** Calls a function with ready arguments; for tests. */
export function call(name: string, args: readonly Json[], environment: Partial<Environment> = {}): Json {
  const found = functionTable.get(name);
  if (found === undefined) throw new Error(`no function ${name}`);
  return found.call(args, { ...still, ...environment });
}

export function search(expression: string, data: Json): Json {
  return compileExpression(expression).search(data, still);
}
