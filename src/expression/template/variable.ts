import { formatPointer } from '../../json/pointer.ts';
import type { Json, Path } from '../../json/value.ts';
import type { Reporter } from '../../problem.ts';
import type { CompiledBoundExpression } from '../expression.ts';
import { ExpressionSyntaxError, syntaxHint } from '../jmespath/syntax-error.ts';
import { EvaluationError, type Scope } from '../scope.ts';
import { compileNesting, type NestedVariable } from './nesting.ts';
import { findVariables, type VariableToken } from './tokens.ts';

export interface TemplateOptions {
  /** What `{{@}}` stands for at a path, as an expression; the path is the one given and the steps below it. */
  readonly self?: ((path: Path) => string) | undefined;
}

/** Where a text stands, and where its problems go. */
export interface TemplatePlace {
  readonly path: Path;
  readonly reporter: Reporter;
  readonly options: TemplateOptions;
}

export type CompiledVariable = Pick<CompiledBoundExpression, 'roots' | 'evaluate' | 'search'>;

/** An error that already names the variable and its place. */
class VariableError extends EvaluationError {}

const MAX_LEVELS = 8;

/** The expression of one `{{ }}`; a problem in it is reported, and what is returned then fails when it is evaluated. */
export function compileVariable(token: VariableToken, place: TemplatePlace): CompiledVariable {
  const { expression } = token;
  if (expression === '') {
    place.reporter.error(
      place.path,
      'KYM_EXPRESSION_SYNTAX',
      'the variable {{ }} is empty',
      'write an expression between the braces, or \\{{ for braces as text',
    );
    return unusable(expression);
  }
  if (token.levels > MAX_LEVELS) {
    const message = `variables are nested more than ${MAX_LEVELS} levels deep`;
    place.reporter.error(place.path, 'KYM_EXPRESSION_SYNTAX', message);
    return unusable(expression);
  }
  const self = expression === '@' ? place.options.self?.(place.path) : undefined;
  return compileExpressionText(self ?? expression, place);
}

/** An expression whose text may hold variables; failures name it and its place. */
export function compileExpressionText(text: string, place: TemplatePlace): CompiledVariable {
  const nested = findVariables(text).map(
    (token): NestedVariable => ({ token, ...compileVariable(token, place) }),
  );
  try {
    return naming(compileNesting(text, nested), text, place.path);
  } catch (error) {
    if (!(error instanceof ExpressionSyntaxError)) throw error;
    const message = `the expression ${quote(text)} does not parse: ${error.message} (at character ${error.position + 1})`;
    place.reporter.error(place.path, 'KYM_EXPRESSION_SYNTAX', message, syntaxHint(text));
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
  if (!(error instanceof EvaluationError) || error instanceof VariableError) return error;
  const message = `failed to resolve ${text} at path ${formatPointer(path)}: ${error.message}`;
  // A context entry that the variable reads failed where the entry stands.
  return new VariableError(error.code, message, { cause: error, place: error.place ?? path });
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
