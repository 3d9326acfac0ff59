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
      ? (scope: Scope) => JSON.stringify(textOf(variable(scope))).slice(1, -1)
      : (scope: Scope) => JSON.stringify(asJson(variable(scope)));
  });
  return (scope) => {
    let text = '';
    for (const part of parts) text += typeof part === 'string' ? part : part(scope);
    return parseJson(text);
  };
}

/** A string that is valid JSON is parsed: `'5'` becomes 5. */
function asJson(value: Json): Json {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value) as Json;
  } catch {
    return value;
  }
}

function parseJson(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw new EvaluationError(
      'KYM_EXPRESSION_FAILED',
      'a literal in backticks is not valid JSON after substituting its variables',
    );
  }
}

function variableAt(variables: ClosureContext['variables'], index: number): (scope: Scope) => Json {
  return variables[index] ?? (() => null);
}
