import { BudgetError } from '../../json/budget.ts';
import { formatPointer } from '../../json/pointer.ts';
import type { Json, Path } from '../../json/value.ts';
import type { Reporter } from '../../problem.ts';
import type { CompiledBoundExpression } from '../expression.ts';
import { ExpressionSyntaxError, syntaxHint } from '../jmespath/syntax-error.ts';
import { EvaluationError, type Scope } from '../scope.ts';
import { compileNesting, type NestedVariable } from './nesting.ts';
import { findVariables, type VariableToken } from './tokens.ts';

export interface TemplateOptions {
  /** The expression that `{{@}}` stands for at a path. The path includes the template's own path. */
  readonly self?: ((path: Path) => string) | undefined;
}

/** The location of a string, and the reporter for its problems. */
export interface TemplateLocation {
  readonly path: Path;
  readonly reporter: Reporter;
  readonly options: TemplateOptions;
}

export type CompiledVariable = Pick<CompiledBoundExpression, 'roots' | 'evaluate' | 'search'>;

/** An error that already names the variable and its path. */
class VariableError extends EvaluationError {}

const MAX_LEVELS = 8;

/** Compiles one `{{ }}`. A problem is reported, and evaluating the result then fails. */
export function compileVariable(token: VariableToken, location: TemplateLocation): CompiledVariable {
  const { expression } = token;
  if (expression === '') {
    location.reporter.error(
      location.path,
      'KYM_EXPRESSION_SYNTAX',
      'the variable {{ }} is empty',
      'write an expression between the braces, or \\{{ for literal braces',
    );
    return unusable(expression);
  }
  if (token.levels > MAX_LEVELS) {
    const message = `variables are nested more than ${MAX_LEVELS} levels deep`;
    location.reporter.error(location.path, 'KYM_EXPRESSION_SYNTAX', message);
    return unusable(expression);
  }
  const self = expression === '@' ? location.options.self?.(location.path) : undefined;
  return compileExpressionText(self ?? expression, location);
}

/** Compiles an expression that may contain variables. Failures name the expression and its path. */
export function compileExpressionText(text: string, location: TemplateLocation): CompiledVariable {
  const nested = findVariables(text).map(
    (token): NestedVariable => ({ token, ...compileVariable(token, location) }),
  );
  try {
    return naming(compileNesting(text, nested), text, location.path);
  } catch (error) {
    if (!(error instanceof ExpressionSyntaxError)) throw error;
    const message = `the expression ${quote(text)} does not parse: ${error.message} (at character ${error.position + 1})`;
    location.reporter.error(location.path, 'KYM_EXPRESSION_SYNTAX', message, syntaxHint(text));
    return unusable(text);
  }
}

function naming(compiled: CompiledVariable, text: string, path: Path): CompiledVariable {
  return {
    roots: compiled.roots,
    evaluate(scope) {
      try {
        const value = compiled.evaluate(scope);
        scope.environment.observer?.variable(text, value);
        return value;
      } catch (error) {
        throw named(error, text, path);
      }
    },
    search(data, scope) {
      try {
        const value = compiled.search(data, scope);
        scope.environment.observer?.variable(text, value);
        return value;
      } catch (error) {
        throw named(error, text, path);
      }
    },
  };
}

function named(error: unknown, text: string, path: Path): unknown {
  if (error instanceof BudgetError && error.location === undefined) {
    return new BudgetError(`${error.message}: ${quote(text)} at path ${formatPointer(path)}`, path);
  }
  if (!(error instanceof EvaluationError) || error instanceof VariableError) return error;
  const message = `failed to resolve ${text} at path ${formatPointer(path)}: ${error.message}`;
  // When a context entry failed, its own location is more exact.
  return new VariableError(error.code, message, { cause: error, location: error.location ?? path });
}

function unusable(text: string): CompiledVariable {
  const fail = (): Json => {
    throw new EvaluationError('KYM_EXPRESSION_SYNTAX', `the expression ${quote(text)} does not parse`);
  };
  return { roots: new Set(), evaluate: (_scope: Scope) => fail(), search: fail };
}

function quote(text: string): string {
  return text.length <= 200 ? `"${text}"` : `"${text.slice(0, 200)}…"`;
}
