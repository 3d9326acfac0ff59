import { describe, expect, it, test } from 'vitest';
import type { Json, Path } from '../json/value.ts';
import { compileLabelSelector, type Labels } from './label-selector.ts';

function compile(selector: Json, wildcards = true) {
  const problems: string[] = [];
  const note = (path: Path, _code: string, message: string): void => {
    problems.push(`/${path.join('/')}: ${message}`);
  };
  const compiled = compileLabelSelector(
    selector,
    ['spec', 'selector'],
    { error: note, warn: note },
    { wildcards },
  );
  return { compiled, problems };
}

function expression(operator: string, values?: readonly string[], key = 'env'): Json {
  return { matchExpressions: [{ key, operator, ...(values === undefined ? {} : { values }) }] };
}

describe('compileLabelSelector', () => {
  test.each<[Json, Labels, boolean]>([
    [{}, {}, true],
    [{ matchLabels: { app: 'a' } }, { app: 'a', b: 'c' }, true],
    [{ matchLabels: { app: 'a' } }, { app: 'b' }, false],
    [{ matchLabels: { app: 'a', b: 'c' } }, { app: 'a' }, false],
    [{ matchLabels: { app: 'a*' } }, { app: 'abc' }, true],
    [{ matchLabels: { app: 'a?' } }, { app: 'a' }, false],
    [{ matchLabels: { 'app*': 'a' } }, { 'app.kubernetes.io/name': 'a' }, true],
    [{ matchLabels: { 'app*': 'a' } }, { app1: 'b', app2: 'a' }, true],
    [{ matchLabels: { '*': '*' } }, {}, false],
    [{ matchLabels: { '*': '*' } }, { a: '' }, true],
    [{ matchLabels: { constructor: 'x' } }, {}, false],
    [expression('In', ['prod', 'test']), { env: 'prod' }, true],
    [expression('In', ['prod']), { env: 'dev' }, false],
    [expression('In', ['prod']), {}, false],
    [expression('In', ['p*']), { env: 'prod' }, false],
    [expression('NotIn', ['prod']), { env: 'dev' }, true],
    [expression('NotIn', ['prod']), { env: 'prod' }, false],
    [expression('NotIn', ['prod']), {}, true],
    [expression('Exists'), { env: '' }, true],
    [expression('Exists'), {}, false],
    [expression('DoesNotExist'), {}, true],
    [expression('DoesNotExist'), { env: 'x' }, false],
    [expression('DoesNotExist', undefined, 'toString'), {}, true],
  ])('%j on %j is %s', (selector, labels, expected) => {
    const { compiled, problems } = compile(selector);
    expect(problems).toEqual([]);
    expect(compiled?.matches(labels)).toBe(expected);
    expect(compiled?.document).toBe(selector);
  });

  it('takes wildcards literally where they are not allowed', () => {
    expect(compile({ matchLabels: { app: 'a*' } }, false).compiled?.matches({ app: 'ab' })).toBe(false);
  });

  test.each<[Json, string]>([
    ['app=a', '/spec/selector: a label selector must be an object'],
    [{ app: 'a' }, '/spec/selector/app: unknown field "app"'],
    [{ matchLabels: ['a'] }, '/spec/selector/matchLabels: matchLabels is an object'],
    [{ matchLabels: { a: 1 } }, '/spec/selector/matchLabels/a: a label value is a string'],
    [{ matchExpressions: {} }, '/spec/selector/matchExpressions: matchExpressions is a list'],
    [
      { matchExpressions: ['a'] },
      '/spec/selector/matchExpressions/0: an entry of matchExpressions is an object',
    ],
    [expression('In'), '/spec/selector/matchExpressions/0/values: In needs values'],
    [expression('Exists', ['a']), '/spec/selector/matchExpressions/0/values: Exists takes no values'],
    [
      expression('Near', ['a']),
      '/spec/selector/matchExpressions/0/operator: the operator is In, NotIn, Exists or DoesNotExist',
    ],
    [
      { matchExpressions: [{ operator: 'Exists' }] },
      '/spec/selector/matchExpressions/0/key: key is a label key',
    ],
    [
      { matchExpressions: [{ key: 'a', operator: 'In', values: [1] }] },
      '/spec/selector/matchExpressions/0/values: values is a list of strings',
    ],
  ])('reports %j', (selector, problem) => {
    const { compiled, problems } = compile(selector);
    expect(problems).toEqual([problem]);
    expect(compiled).toBeUndefined();
  });
});
