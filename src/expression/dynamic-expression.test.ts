import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../json/value.ts';
import { compileDynamicExpression } from './dynamic-expression.ts';
import { collectProblems, scopeOf } from './expression.testing.ts';
import { EvaluationError } from './scope.ts';

function compile(text: string) {
  const { problems, reporter } = collectProblems();
  return { expression: compileDynamicExpression(text, ['context', 0, 'jmesPath'], reporter), problems };
}

describe('an expression with variables in its text', () => {
  const bindings: JsonObject = {
    name: 'a',
    hostile: "' || secret || '",
    secret: 'x',
    i: 1,
    limit: '100',
    list: ['p', 'q'],
  };

  it.each<[string, Json, Json]>([
    ['name', null, 'a'],
    ["'{{ name }}'", null, 'a'],
    ['list[{{ i }}]', null, 'q'],
    ["'{{ hostile }}'", null, "' || secret || '"],
    ['`{{ limit }}`', null, 100],
  ])('%s, evaluated in the scope', (text, _data, expected) => {
    const { expression, problems } = compile(text);
    expect(problems).toEqual([]);
    expect(expression.evaluate(scopeOf(bindings))).toEqual(expected);
  });

  it.each<[string, Json, Json]>([
    ["items[?n != '{{ name }}'].n", { items: [{ n: 'a' }, { n: 'b' }] }, ['b']],
    ["items[?n == '{{ hostile }}'].n", { items: [{ n: 'a' }] }, []],
    ['"{{ name }}".b', { a: { b: 1 } }, 1],
    ['[{{ i }}]', ['x', 'y'], 'y'],
    ['name', { name: 'of the data' }, 'of the data'],
    ['@', 5, 5],
  ])('%s, applied to %j', (text, data, expected) => {
    const { expression, problems } = compile(text);
    expect(problems).toEqual([]);
    expect(expression.search(data, scopeOf(bindings))).toEqual(expected);
  });

  it('lists the roots of both', () => {
    expect([...compile("items[?n != '{{ name.x }}'].n").expression.roots].sort()).toEqual(['items', 'name']);
  });

  it('a whole text from a variable can only be a name', () => {
    const { expression } = compile('{{ limit }} ');
    expect(compile('{{ name }}').expression.evaluate(scopeOf({ name: 'a', a: 5 }))).toBe(5);
    expect(() => expression.evaluate(scopeOf({ limit: 'a.b' }))).toThrow(/must be a plain name or a number/);
  });

  it.each(["name || '{{ gone }}'", "'{{ gone }}' || name", "[?n == '{{ gone }}']", 'name || {{ gone }}'])(
    '%s fails: its variables are resolved first',
    (text) => {
      const { expression } = compile(text);
      const message = 'failed to resolve gone at path /context/0/jmesPath: Unknown key "gone" in path';
      expect(() => expression.resolveVariables(scopeOf(bindings))).toThrow(message);
      expect(() => expression.evaluate(scopeOf(bindings))).toThrow(message);
      expect(() => expression.search([], scopeOf(bindings))).toThrow(message);
    },
  );

  it('resolving variables evaluates nothing else', () => {
    expect(compile("gone.'{{ name }}'").problems).toHaveLength(1);
    expect(
      compile("gone[?n == '{{ name }}']").expression.resolveVariables(scopeOf(bindings)),
    ).toBeUndefined();
  });

  it('fails with its text and place', () => {
    const { expression } = compile('a.{{ name }}');
    const message = 'failed to resolve a.{{ name }} at path /context/0/jmesPath: Unknown key "zz" in path';
    expect(() => expression.evaluate(scopeOf({ a: {}, name: 'zz' }))).toThrow(message);
    expect(() => expression.search({ a: {} }, scopeOf({ name: 'zz' }))).toThrow(message);
  });

  it('reports what does not parse', () => {
    const { expression, problems } = compile('a.b-c');
    expect(problems).toEqual([expect.stringContaining('/context/0/jmesPath KYM_EXPRESSION_SYNTAX')]);
    expect(() => expression.evaluate(scopeOf({}))).toThrow(EvaluationError);
    expect(() => expression.search(null, scopeOf({}))).toThrow(EvaluationError);
  });
});
