import fc from 'fast-check';
import { search as referenceSearch } from 'jmespath';
import { describe, expect, it } from 'vitest';
import { anyText } from '../../json/text.testing.ts';
import type { Json, JsonObject } from '../../json/value.ts';
import { scopeOf, stillEnvironment } from '../expression.testing.ts';
import { compileExpression } from '../expression.ts';
import { ExpressionSyntaxError } from '../jmespath/syntax-error.ts';
import { EvaluationError } from '../scope.ts';
import { findVariables } from '../template/tokens.ts';

const fragments = [
  ...'ab.*[]{}()@|&!<>=,:\'"`\\ 0-1?é\u2028',
  '||',
  '&&',
  '[?',
  '[]',
  '==',
  '!=',
  '`1`',
  "'x'",
  '"y"',
  'length(',
];
const scribble = fc.array(fc.constantFrom(...fragments), { maxLength: 24 }).map((parts) => parts.join(''));

const anyJson = fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.parse(JSON.stringify(value)) as Json);

describe('any text', () => {
  it.each([
    ['scribbled', scribble],
    ['arbitrary', anyText(40)],
  ])('%s, compiles or is a syntax error within the text', (_name, texts) => {
    fc.assert(
      fc.property(texts, (text) => {
        try {
          compileExpression(text);
        } catch (error) {
          expect(error).toBeInstanceOf(ExpressionSyntaxError);
          const { position } = error as ExpressionSyntaxError;
          expect(position).toBeGreaterThanOrEqual(0);
          expect(position).toBeLessThanOrEqual(text.length);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('has its variables where they are said to be', () => {
    const braces = fc.array(fc.constantFrom('{', '{{', '}', '}}', '\\', 'a', ' ', '-', '"'), {
      maxLength: 30,
    });
    fc.assert(
      fc.property(braces, (parts) => {
        const text = parts.join('');
        let end = 0;
        for (const token of findVariables(text)) {
          expect(token.start).toBeGreaterThanOrEqual(end);
          end = token.end;
          expect(text.slice(token.start, token.start + 2)).toBe('{{');
          expect(text.slice(end - 2, end)).toBe('}}');
          expect(text.charAt(token.start - 1)).not.toBe('\\');
          const { expressionStart, expression } = token;
          expect(text.slice(expressionStart, expressionStart + expression.length)).toBe(expression);
        }
      }),
      { numRuns: 3000 },
    );
  });
});

describe('any data', () => {
  const expressions = [
    'a',
    'a.b.c',
    'a[0].b[-1]',
    "a || b || 'd'",
    'a && b',
    'a[].b[?c == `1`].d',
    '*.*',
    'a[::-1] | [0]',
    '[a, b].{x: @}',
    'a == b',
    'a < b',
    'length(a)',
    "join(',', a)",
    'sort_by(a, &b)',
    'map(&to_string(@), a)',
    'merge(a, b)',
    'a.constructor.prototype',
    '"__proto__".toString',
    '@',
  ].map((text) => compileExpression(text));
  const named = fc
    .record({ a: anyJson, b: anyJson }, { requiredKeys: [] })
    .map((value) => JSON.parse(JSON.stringify(value)) as JsonObject);

  it('is evaluated or gives an evaluation error, the same from a scope as from a value, and stays as it is', () => {
    fc.assert(
      fc.property(fc.constantFrom(...expressions), named, (expression, data) => {
        const before = JSON.stringify(data);
        const results = [
          () => expression.evaluate(scopeOf(data)),
          () => expression.search(data, stillEnvironment),
        ].map((run) => {
          try {
            return run();
          } catch (error) {
            expect(error).toBeInstanceOf(EvaluationError);
            return (error as Error).message;
          }
        });
        expect(results[0]).toEqual(results[1]);
        expect(JSON.stringify(data)).toBe(before);
      }),
      { numRuns: 3000 },
    );
  });
});

describe('any well-formed expression', () => {
  const key = fc.constantFrom('a', 'b', 'c', '"a"');
  const { expression } = fc.letrec<{ expression: string }>((tie) => {
    const inner = tie('expression');
    return {
      expression: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        key,
        fc.constantFrom('@', '`1`', "'x'", '`[1, [2]]`', '`{"a": 1}`'),
        fc.tuple(inner, key).map(([left, right]) => `(${left}).${right}`),
        fc
          .tuple(inner, fc.constantFrom('[0]', '[-1]', '[]', '[*]', '.*', '[1:]', '[::-1]'))
          .map(([left, right]) => `(${left})${right}`),
        fc
          .tuple(inner, fc.constantFrom('[]', '[*]', '[:2]'), inner)
          .map(([left, star, right]) => `(${left})${star}.[${right}]`),
        fc.tuple(inner, inner).map(([left, condition]) => `(${left})[?${condition}]`),
        fc
          .tuple(inner, fc.constantFrom('||', '&&', '|', '==', '!='), inner)
          .map(([left, operator, right]) => `(${left}) ${operator} (${right})`),
        fc.tuple(inner, inner).map(([first, second]) => `{x: ${first}, y: [${second}]}`),
        inner.map((negated) => `!(${negated})`),
      ),
    };
  });
  const data = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom<Json>(null, true, false, 0, 1, 2, '', 'x'),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('value'), { maxKeys: 3, noNullPrototype: true }),
    ),
  })).value;

  it('agrees with another implementation, in which a missing key is null', () => {
    fc.assert(
      fc.property(expression, data, (text, value) => {
        let ours: Json;
        try {
          ours = compileExpression(text).search(value, stillEnvironment);
        } catch (error) {
          expect(error).toMatchObject({ code: 'KYM_VARIABLE_UNRESOLVED' });
          ours = null;
        }
        expect(ours).toEqual(referenceSearch(value, text) ?? null);
      }),
      { numRuns: 5000 },
    );
  });
});
