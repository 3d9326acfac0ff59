import type { Json, Path } from '../json/value.ts';
import type { Reporter } from '../problem.ts';
import type { Scope } from './scope.ts';
import { findVariables } from './template/tokens.ts';
import { compileExpressionText, compileVariable } from './template/variable.ts';

/** An expression whose source may contain nested `{{ }}` variables. */
export interface CompiledDynamicExpression {
  readonly text: string;
  /** Root names that it and its variables read; `@` for any. */
  readonly roots: ReadonlySet<string>;
  /** Throws when one of its variables cannot be resolved. No default applies to those. */
  resolveVariables(scope: Scope): void;
  evaluate(scope: Scope): Json;
  /** Evaluates against a value. Nested variables are read from the scope. */
  search(data: Json, scope: Scope): Json;
}

/** Problems of nested variables are reported with the enclosing expression. */
const ignoreProblems: Reporter = { error: () => {}, warn: () => {} };

/**
 * Compiles an expression. Its variables follow the rules of variables nested in variables. A problem is
 * reported, and evaluating the result then fails.
 */
export function compileDynamicExpression(
  text: string,
  path: Path,
  reporter: Reporter,
): CompiledDynamicExpression {
  const location = { path, reporter, options: {} };
  const expression = text.trim();
  const nested = findVariables(expression).map((token) =>
    compileVariable(token, { ...location, reporter: ignoreProblems }),
  );
  return {
    text,
    ...compileExpressionText(expression, location),
    resolveVariables(scope) {
      for (const variable of nested) variable.evaluate(scope);
    },
  };
}
