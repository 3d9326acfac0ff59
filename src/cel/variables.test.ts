import { describe, expect, test } from 'vitest';
import type { CelScope } from './compile/closure.ts';
import { mutatingPolicyEnvironment } from './environments.ts';
import { compileCel } from './expression.ts';
import { formatType } from './types/type.ts';
import type { CelError } from './value/error.ts';
import type { Value } from './value/value.ts';
import { compileVariables } from './variables.ts';

const environment = mutatingPolicyEnvironment();

function scope(lookup: (name: string) => Value | undefined): CelScope {
  return { lookup, effects: { now: () => new Date(0), random: () => 0 } };
}

describe('variables', () => {
  const compiled = compileVariables(
    [
      { name: 'names', expression: 'object.names.map(n, string(n))' },
      { name: 'first', expression: 'variables.names[0]' },
      { name: 'broken', expression: 'object.nope' },
    ],
    environment,
  );

  test('have the types of their expressions', () => {
    expect(compiled.problems.size).toBe(0);
    const type = (source: string) => {
      const { expression } = compileCel(source, compiled.environment);
      return expression && formatType(expression.type);
    };
    expect(type('variables.names')).toBe('list(string)');
    expect(type('variables.first')).toBe('string');
    expect(type('variables.first + 1')).toBeUndefined();
  });

  test('are evaluated once, when they are read', () => {
    let reads = 0;
    const bound = compiled.bind(
      scope(() => {
        reads++;
        return { names: ['a'] };
      }),
    );
    const { expression } = compileCel('variables.first + variables.first', compiled.environment);
    expect(reads).toBe(0);
    expect(expression?.evaluate(bound)).toBe('aa');
    expect(expression?.evaluate(bound)).toBe('aa');
    expect(reads).toBe(1);
  });

  test('give their error to the expression that reads them', () => {
    const bound = compiled.bind(scope(() => ({})));
    const evaluate = (source: string) => compileCel(source, compiled.environment).expression?.evaluate(bound);
    expect(() => evaluate('variables.broken')).toThrow('no such key: nope');
    expect(evaluate('variables.broken == 1 || true')).toBe(true);
    try {
      evaluate('1 == 2 || variables.broken == 1');
      expect.unreachable();
    } catch (error) {
      expect((error as CelError).offset).toBe(19);
    }
  });

  test('cannot be read before they are declared', () => {
    const { problems } = compileVariables(
      [
        { name: 'a', expression: 'variables.count' },
        { name: 'count', expression: '1' },
        { name: 'c', expression: 'variables.counts' },
      ],
      environment,
    );
    expect([...problems.keys()]).toEqual([0, 2]);
    expect(problems.get(0)?.[0]?.message).toBe("undefined field 'count'");
    expect(problems.get(2)?.[0]?.hint).toBe("Did you mean 'count'?");
  });
});
