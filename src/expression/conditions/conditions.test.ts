import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../json/value.ts';
import { collectProblems, scopeOf } from '../expression.testing.ts';
import { EvaluationError } from '../scope.ts';
import { compileConditions } from './conditions.ts';

const yes = { key: 'a', operator: 'Equals', value: 'a' };
const no = { key: 'a', operator: 'Equals', value: 'b' };
const broken = { key: '{{ zz }}', operator: 'Equals', value: 'b' };

function compile(conditions: Json, options?: { legacyList?: boolean }) {
  const { problems, reporter } = collectProblems();
  return { compiled: compileConditions(conditions, ['preconditions'], reporter, options), problems };
}

function evaluate(conditions: Json, bindings: JsonObject = {}) {
  const { compiled, problems } = compile(conditions);
  expect(problems).toEqual([]);
  if (compiled === undefined) throw new Error('not compiled');
  return compiled.evaluate(scopeOf(bindings));
}

describe('structure', () => {
  it.each<[string, Json, boolean]>([
    ['nothing', {}, true],
    ['an empty any', { any: [] }, false],
    ['any null', { any: null }, true],
    ['an empty all', { all: [] }, true],
    ['one of any', { any: [no, yes] }, true],
    ['none of any', { any: [no, no] }, false],
    ['all of all', { all: [yes, yes] }, true],
    ['one of all not', { all: [yes, no] }, false],
    ['any and all', { any: [no, yes], all: [yes] }, true],
    ['any but not all', { any: [yes], all: [no] }, false],
    ['all but not any', { any: [no], all: [yes] }, false],
    ['an empty any with all', { any: [], all: [yes] }, false],
    ['the old list, all true', [yes, yes], true],
    ['the old list, one false', [yes, no], false],
    ['the old list, empty', [], true],
  ])('%s', (_name, conditions, passed) => {
    expect(evaluate(conditions).passed).toBe(passed);
  });

  it.each<[string, Json, readonly string[]]>([
    ['any stops at the first true one', { any: [no, yes, broken] }, ['/any/0', '/any/1']],
    ['all stops at the first false one', { all: [yes, no, broken] }, ['/all/0', '/all/1']],
    ['the old list stops at the first false one', [yes, no, broken], ['/0', '/1']],
    ['all is looked at even when any failed', { all: [yes, no], any: [no] }, ['/any/0', '/all/0', '/all/1']],
  ])('%s', (_name, conditions, paths) => {
    const { evaluated } = evaluate(conditions);
    expect(evaluated.map(({ path }) => `/${path.slice(1).join('/')}`)).toEqual(paths);
  });

  it('a variable that cannot be resolved aborts, when it is reached', () => {
    expect(() => evaluate({ any: [broken, yes] })).toThrow(EvaluationError);
    expect(() => evaluate({ any: [broken, yes] })).toThrow(
      'failed to resolve zz at path /preconditions/any/0/key: Unknown key "zz" in path',
    );
    expect(() => evaluate({ any: [no], all: [broken] })).toThrow(EvaluationError);
    expect(evaluate({ any: [yes, broken] }).passed).toBe(true);
  });
});

describe('a result', () => {
  it('has both operands as they were compared, and the message', () => {
    const conditions = [
      {
        key: '{{ request.operation }}',
        operator: 'AnyIn',
        value: ['{{ one }}', 'UPDATE'],
        message: 'only changes',
      },
      { key: 5, operator: 'GreaterThan', value: '{{ five }}', message: '' },
    ];
    const { passed, evaluated } = evaluate(conditions, {
      request: { operation: 'CREATE' },
      one: 'CREATE',
      five: 5,
    });
    expect(passed).toBe(false);
    expect(evaluated).toEqual([
      {
        path: ['preconditions', 0],
        operator: 'AnyIn',
        key: 'CREATE',
        value: ['CREATE', 'UPDATE'],
        passed: true,
        message: 'only changes',
      },
      { path: ['preconditions', 1], operator: 'GreaterThan', key: 5, value: 5, passed: false },
    ]);
  });

  it('lists the roots that are read', () => {
    const { compiled } = compile({
      any: [{ key: '{{ a.b }}', operator: 'Equals', value: '{{ c }}' }],
      all: [{ key: "{{ d || 'x' }}", operator: 'Equals', value: 'x' }],
    });
    expect([...(compiled?.roots ?? [])].sort()).toEqual(['a', 'c', 'd']);
  });

  it('treats null as a value', () => {
    expect(evaluate([{ key: 'a', operator: 'NotEquals', value: null }]).passed).toBe(true);
  });
});

describe('problems', () => {
  it.each<[string, Json, readonly string[]]>([
    [
      'no key',
      [{ operator: 'Equals', value: 1 }],
      ['/preconditions/0 KYM_CONDITION_INVALID: the condition has no key'],
    ],
    [
      'no value',
      [{ key: 1, operator: 'Equals' }],
      ['/preconditions/0 KYM_CONDITION_INVALID: the condition has no value'],
    ],
    [
      'no operator',
      { all: [{ key: 1, value: 1 }] },
      ['/preconditions/all/0 KYM_CONDITION_INVALID: the condition has no operator'],
    ],
    [
      'not a condition',
      ['x'],
      ['/preconditions/0 KYM_CONDITION_INVALID: a condition must have key, operator and value'],
    ],
    ['not a list', { any: yes }, ['/preconditions/any KYM_CONDITION_INVALID: conditions must be a list']],
    [
      'another group',
      { some: [] },
      [
        '/preconditions/some KYM_CONDITION_INVALID: conditions have any and all, not "some" | put conditions in a list under any or all',
      ],
    ],
    [
      'a scalar',
      'x',
      [
        '/preconditions KYM_CONDITION_INVALID: conditions must be under any or all | write any: [ … ] or all: [ … ]',
      ],
    ],
    [
      'all of them',
      { any: [{}], all: [{ key: 1 }] },
      [
        '/preconditions/any/0 KYM_CONDITION_INVALID: the condition has no operator',
        '/preconditions/any/0 KYM_CONDITION_INVALID: the condition has no key',
        '/preconditions/any/0 KYM_CONDITION_INVALID: the condition has no value',
        '/preconditions/all/0 KYM_CONDITION_INVALID: the condition has no operator',
        '/preconditions/all/0 KYM_CONDITION_INVALID: the condition has no value',
      ],
    ],
  ])('%s', (_name, conditions, expected) => {
    const { compiled, problems } = compile(conditions);
    expect(problems).toEqual(expected);
    expect(compiled).toBeUndefined();
  });

  it('names the operators when one is unknown', () => {
    const { compiled, problems } = compile([{ key: 1, operator: 'Is', value: 1 }]);
    expect(compiled).toBeUndefined();
    expect(problems).toEqual([
      expect.stringMatching(
        /^\/preconditions\/0\/operator KYM_CONDITION_INVALID: unknown operator Is \| Use one of Equals,/,
      ),
    ]);
  });

  it('finds expressions that do not parse', () => {
    expect(compile([{ key: '{{ a. }}', operator: 'Equals', value: '{{ }}' }]).problems).toHaveLength(2);
  });

  it('refuses the old list where it is not allowed', () => {
    expect(compile([yes], { legacyList: false }).compiled).toBeUndefined();
    expect(compile([yes], { legacyList: true }).compiled).toBeDefined();
  });
});
