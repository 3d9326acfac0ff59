import { spendSize, spendSteps, spendText } from '../../json/budget.ts';
import { stringifyJson, tryParseJson } from '../../json/json-text.ts';
import type { Json } from '../../json/value.ts';
import { formatGoJson } from '../go/format.ts';
import type { BoundJson, BoundText } from '../jmespath/ast.ts';
import { EvaluationError, type Scope } from '../scope.ts';
import type { ClosureContext } from './closure.ts';

/** A value as it is inserted into a string: strings literally, everything else as JSON. */
export function textOf(value: Json): string {
  return typeof value === 'string' ? value : formatGoJson(value);
}

/** A quoted string with nested variables. Their values are inserted literally and never parsed. */
export function bindText(text: BoundText, { variables }: ClosureContext): (scope: Scope) => string {
  const parts = text.parts.map((part) => (typeof part === 'string' ? part : variableAt(variables, part)));
  return (scope) => {
    let result = '';
    for (const part of parts) result += typeof part === 'string' ? part : textOf(part(scope));
    spendText(result.length);
    return result;
  };
}

/**
 * A literal in backticks with nested variables. Inside a JSON string a value is inserted as text, elsewhere as JSON.
 * Either way it cannot terminate the enclosing string, value or literal.
 */
export function bindJson(json: BoundJson, { variables }: ClosureContext): (scope: Scope) => Json {
  const [only] = json.parts;
  if (json.parts.length === 1 && typeof only === 'object') {
    const variable = variableAt(variables, only.variable);
    return (scope) => asJson(variable(scope));
  }
  const parts = json.parts.map((part) => {
    if (typeof part === 'string') return part;
    const variable = variableAt(variables, part.variable);
    return part.inString
      ? (scope: Scope) => stringifyJson(textOf(variable(scope))).slice(1, -1)
      : (scope: Scope) => {
          const value = asJson(variable(scope));
          spendSize(value);
          return stringifyJson(value);
        };
  });
  return (scope) => {
    let text = '';
    for (const part of parts) text += typeof part === 'string' ? part : part(scope);
    spendText(text.length);
    return parseLiteral(text);
  };
}

/** A string that is valid JSON is parsed: `'5'` becomes 5. */
function asJson(value: Json): Json {
  if (typeof value !== 'string') return value;
  spendSteps(value.length);
  return tryParseJson(value) ?? value;
}

function parseLiteral(text: string): Json {
  const value = tryParseJson(text);
  if (value !== undefined) return value;
  throw new EvaluationError(
    'KYM_EXPRESSION_FAILED',
    'a literal in backticks is not valid JSON after substituting its variables',
  );
}

function variableAt(variables: ClosureContext['variables'], index: number): (scope: Scope) => Json {
  return variables[index] ?? (() => null);
}
