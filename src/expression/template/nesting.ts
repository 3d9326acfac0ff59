import { LRUCache } from 'lru-cache';
import { isNumber, type Json } from '../../json/value.ts';
import { ANY_ROOT } from '../compile/closure.ts';
import { type CompiledBoundExpression, compileBoundExpression } from '../expression.ts';
import type { VariableRange } from '../jmespath/lexer.ts';
import { EvaluationError, type Scope } from '../scope.ts';
import type { VariableToken } from './tokens.ts';

/** A nested variable: its token in the source of the outer expression, and its compiled form. */
export interface NestedVariable {
  readonly token: VariableToken;
  readonly roots: ReadonlySet<string>;
  evaluate(scope: Scope): Json;
}

type Expression = Pick<CompiledBoundExpression, 'roots' | 'evaluate' | 'search'>;

/**
 * Compiles an expression with nested variables. In quotes, variables are bound as values. Outside of
 * quotes they select a key or an index, so the expression is compiled for each choice. An unresolved variable is a
 * failure even if the expression would not read it. Throws ExpressionSyntaxError.
 */
export function compileNesting(text: string, nested: readonly NestedVariable[]): Expression {
  const quoted = standsInQuotes(text, nested);
  const bare = nested.filter((_variable, index) => !quoted[index]);
  const bound = nested.filter((_variable, index) => quoted[index]);
  const values = bound.map((variable) => variable.evaluate);
  const compileWith = (choices: readonly string[]) => {
    const filled = fill(text, nested, quoted, choices);
    return compileBoundExpression(filled.text, { ranges: filled.ranges, values });
  };
  const expression = compileWith(bare.map(({ token }) => sampleFor(text, token)));
  const roots = new Set(nested.flatMap((variable) => [...variable.roots]));
  // The sample stands for any name.
  for (const root of expression.roots) roots.add(root.includes(SAMPLE_NAME) ? ANY_ROOT : root);
  if (nested.length === 0) return { ...expression, roots };
  const choose = bare.length === 0 ? () => expression : chooser(bare, compileWith);
  const resolveBound = (scope: Scope): void => {
    for (const variable of bound) variable.evaluate(scope);
  };
  return {
    roots,
    evaluate(scope) {
      resolveBound(scope);
      return choose(scope).evaluate(scope);
    },
    search(data, scope) {
      resolveBound(scope);
      return choose(scope).search(data, scope);
    },
  };
}

/** Cached choices per expression. Names of containers, labels and so on repeat. */
const MAX_CHOICES = 64;

function chooser(bare: readonly NestedVariable[], compileWith: (choices: readonly string[]) => Expression) {
  let compiled: LRUCache<string, Expression> | undefined;
  return (scope: Scope): Expression => {
    const choices = bare.map((variable) => plainText(variable, scope));
    compiled ??= new LRUCache({ max: MAX_CHOICES });
    const key = choices.join(' ');
    let expression = compiled.get(key);
    if (expression === undefined) {
      expression = compileChoice(bare, choices, compileWith);
      compiled.set(key, expression);
    }
    return expression;
  };
}

function compileChoice(
  bare: readonly NestedVariable[],
  choices: readonly string[],
  compileWith: (choices: readonly string[]) => Expression,
): Expression {
  try {
    return compileWith(choices);
  } catch (cause) {
    const names = bare.map(({ token }) => `{{ ${token.expression} }}`).join(', ');
    throw new EvaluationError(
      'KYM_EXPRESSION_FAILED',
      `the value of ${names} is not valid at this position of the expression`,
      {
        cause,
      },
    );
  }
}

/** Values are data: outside of quotes only a name or a number is accepted, nothing that could change the expression. */
function plainText({ token, evaluate }: NestedVariable, scope: Scope): string {
  const value = evaluate(scope);
  const text = typeof value === 'string' || isNumber(value) ? String(value) : '';
  if (/^(?:[A-Za-z_][A-Za-z0-9_]*|-?[0-9]+)$/.test(text)) return text;
  throw new EvaluationError(
    'KYM_EXPRESSION_FAILED',
    `{{ ${token.expression} }} must be a plain name or a number at this position; put it in quotes to use any string`,
  );
}

const SAMPLE_NAME = 'nested_variable';

/** A placeholder that parses at the position of the variable. */
function sampleFor(text: string, { start, end }: VariableRange): string {
  const before = text.slice(0, start).trimEnd().at(-1) ?? '';
  const after = text.slice(end).trimStart().at(0) ?? '';
  const inBrackets = (before === '[' || before === ':') && (after === ']' || after === ':');
  return inBrackets || /[-0-9]/.test(before) ? '0' : SAMPLE_NAME;
}

/** The source with choices instead of bare variables, and the new ranges of the quoted ones. */
function fill(
  text: string,
  nested: readonly NestedVariable[],
  quoted: readonly boolean[],
  choices: readonly string[],
) {
  const ranges: VariableRange[] = [];
  let result = '';
  let from = 0;
  let choice = 0;
  nested.forEach(({ token }, index) => {
    result += text.slice(from, token.start);
    const start = result.length;
    result += quoted[index] ? text.slice(token.start, token.end) : choices[choice++];
    if (quoted[index]) ranges.push({ start, end: result.length });
    from = token.end;
  });
  return { text: result + text.slice(from), ranges };
}

/** For each variable: whether it is inside quotes of the enclosing expression. */
function standsInQuotes(text: string, nested: readonly NestedVariable[]): readonly boolean[] {
  const result: boolean[] = [];
  let quote = '';
  let at = 0;
  for (const { token } of nested) {
    for (; at < token.start; at++) {
      const character = text.charAt(at);
      if (quote === '') {
        if (character === "'" || character === '"' || character === '`') quote = character;
      } else if (character === quote) quote = '';
      else if (character === '\\' && (quote !== "'" || text.charAt(at + 1) === quote)) at++;
    }
    result.push(quote !== '');
    at = token.end;
  }
  return result;
}
