import type { Json, Path } from '../json/value.ts';
import type { Reporter } from '../problem.ts';
import type { Scope } from './scope.ts';
import { compileExpressionText } from './template-variable.ts';

/** An expression whose text may hold `{{ }}` variables of its own. */
export interface CompiledDynamicExpression {
  readonly text: string;
  /** Root names it and its variables read; `@` when they may read any. */
  readonly roots: ReadonlySet<string>;
  evaluate(scope: Scope): Json;
  /** Applied to a value; its variables are read from the scope. */
  search(data: Json, scope: Scope): Json;
}

/**
 * Compiles the text of an expression; its variables follow the rules of variables nested in variables. A problem is
 * reported, and what is returned then fails when it is evaluated.
 */
export function compileDynamicExpression(
  text: string,
  path: Path,
  reporter: Reporter,
): CompiledDynamicExpression {
  return { text, ...compileExpressionText(text.trim(), { path, reporter, options: {} }) };
}
