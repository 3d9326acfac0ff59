import type { Json, Path } from '../json/value.ts';
import type { Reporter } from '../problem.ts';
import type { Scope } from './scope.ts';
import { findVariables } from './template/tokens.ts';
import { compileExpressionText, compileVariable } from './template/variable.ts';

/** An expression whose text may hold `{{ }}` variables of its own. */
export interface CompiledDynamicExpression {
  readonly text: string;
  /** Root names it and its variables read; `@` when they may read any. */
  readonly roots: ReadonlySet<string>;
  /** Throws when one of its variables cannot be resolved, which no default makes up for. */
  resolveVariables(scope: Scope): void;
  evaluate(scope: Scope): Json;
  /** Applied to a value; its variables are read from the scope. */
  search(data: Json, scope: Scope): Json;
}

/** Problems of the variables are reported with the expression that holds them. */
const unheard: Reporter = { error: () => {}, warn: () => {} };

/**
 * Compiles the text of an expression; its variables follow the rules of variables nested in variables. A problem is
 * reported, and what is returned then fails when it is evaluated.
 */
export function compileDynamicExpression(
  text: string,
  path: Path,
  reporter: Reporter,
): CompiledDynamicExpression {
  const place = { path, reporter, options: {} };
  const expression = text.trim();
  const nested = findVariables(expression).map((token) =>
    compileVariable(token, { ...place, reporter: unheard }),
  );
  return {
    text,
    ...compileExpressionText(expression, place),
    resolveVariables(scope) {
      for (const variable of nested) variable.evaluate(scope);
    },
  };
}
