import { compileExpression } from '../expression/expression.ts';
import type { Environment } from '../expression/scope.ts';
import { isArray, isObject, type Json, type JsonObject, member } from '../json/value.ts';

/**
 * The value of an entry of `globalContextEntries` in a test: `data` or `resources`, narrowed by `fieldPath`; with `projections`, a map
 * of the projections. Throws ExpressionSyntaxError and EvaluationError.
 */
export function mockedGlobalContext(entry: JsonObject, environment: Environment): Json {
  const root = member(entry, 'resources') ?? member(entry, 'data') ?? null;
  const fieldPath = member(entry, 'fieldPath');
  const narrowed =
    typeof fieldPath === 'string' && fieldPath !== '' ? searchIn(root, fieldPath, environment) : root;
  const projections = member(entry, 'projections');
  if (!isArray(projections ?? null)) return narrowed;
  return Object.fromEntries(
    (projections as readonly Json[])
      .filter(isObject)
      .map((projection) => [
        String(projection['name'] ?? ''),
        searchIn(narrowed, String(projection['path'] ?? '@'), environment),
      ]),
  );
}

export function searchIn(value: Json, expression: string, environment: Environment): Json {
  return compileExpression(expression).search(value, environment);
}
