import { describe, expect, test } from 'vitest';
import { Budget, BudgetError, withBudget } from '../json/budget.ts';
import type { CelScope } from './compile/closure.ts';
import { mutatingPolicyEnvironment } from './environments.ts';
import { compileCel, compileTree } from './expression.ts';
import type { CelProblem } from './syntax/problem.ts';
import { CelError } from './value/error.ts';
import type { Value } from './value/value.ts';

const environment = mutatingPolicyEnvironment();

function scope(object: Value): CelScope {
  return {
    lookup: (name) => (name === 'object' ? object : undefined),
    effects: { now: () => new Date(0), random: () => 0 },
  };
}

function evaluate(source: string, object: Value = {}): Value {
  const { expression, problems } = compileCel(source, environment);
  expect(problems).toEqual([]);
  return expression?.evaluate(scope(object)) ?? null;
}

function problemOf(source: string): CelProblem | undefined {
  return compileCel(source, environment).problems[0];
}

describe('problems before evaluation', () => {
  test.each([
    ['', 1, 1, "Syntax error: mismatched input '<EOF>'"],
    ['1 +', 1, 4, "Syntax error: mismatched input '<EOF>'"],
    ['[1,\n 2', 2, 3, "Syntax error: mismatched input '<EOF>' expecting ']'"],
    ['"é" + $', 1, 7, "Syntax error: token recognition error at: '$'"],
    ['a = 1', 1, 3, "Syntax error: token recognition error at: '='"],
    ['"abc', 1, 1, 'Syntax error: the string is not terminated'],
    ['"\\q"', 1, 1, "Syntax error: invalid escape sequence '\\q' in a string literal"],
    ['9223372036854775808', 1, 1, 'invalid int literal'],
    ['package', 1, 1, 'reserved identifier: package'],
    ['has(1)', 1, 5, 'invalid argument to has() macro'],
    ['[1].all(x.y, true)', 1, 10, 'argument must be a simple name'],
    ['[1].all(x, x, true)', 1, 12, 'duplicate variable name: x'],
    ['nope(1)', 1, 5, "undeclared reference to 'nope' (in container '')"],
    ['Nope{}', 1, 5, "undeclared reference to 'Nope' (in container '')"],
    ['1 +\n  "a"', 1, 3, "found no matching overload for '_+_' applied to '(int, string)'"],
    ['[1].exists(x, x)', 1, 15, "expected type 'bool' but found 'int'"],
    ['math.greatest()', 1, 1, 'math.greatest() requires at least one argument'],
    ['timestamp("yesterday")', 1, 11, 'invalid timestamp argument'],
  ])('%s', (source, line, column, message) => {
    expect(problemOf(source)).toMatchObject({ line, column, message });
  });

  test.each([
    ['objekt.spec', "Did you mean 'object'?"],
    ['request.nam', "Did you mean 'name'?"],
    ['"a".size() == 1.0', 'Wrap one side in dyn(…) to compare values of different types.'],
    ['1 + 1.5', 'Convert one side: double(…) or int(…).'],
    ['"a" + 1', 'Convert the other side: string(…).'],
    ['startsWith("a", "b")', 'Call it as a method: value.startsWith(…).'],
    ['"a".sha256()', 'Call it as a function: sha256(…).'],
    ['"a".charAt()', 'charAt takes 1 arguments.'],
    ['[1, "a"]', 'Give all entries one type, or wrap each in dyn(…).'],
    ['', 'The expression is empty: write one, or remove the field.'],
    [
      '{{ request.object.metadata.name }} == "x"',
      'CEL has no {{ }}: write the name alone, such as object.metadata.name.',
    ],
    ['true and false', 'Write `&&` for a logical and.'],
    ['true OR false', 'Write `||` for a logical or.'],
    ['not has(object.a)', 'Write `!` for a logical not.'],
    ['object.a.all(x => true)', 'A macro takes a name and an expression: list.all(x, x > 0).'],
    ['object.a.all(has(x.y))', 'Name the variable first: list.all(x, x > 0).'],
    ['object.labels has "a"', 'Test a key or an item with `in`: "key" in map.'],
    ['["a"].contains("a")', 'Test an item of a list or a key of a map with `in`: "a" in list.'],
    ['true;', 'An expression is one value: remove the `;`.'],
    ['true,', 'Remove the comma; conditions are joined with `&&`.'],
    ['Object{"metadata": 1}', 'Field names of Object{…} have no quotes; keys of a map {…} have.'],
    ['metadata:\n  labels: {}', 'The field takes CEL, not YAML: write Object{metadata: Object.metadata{…}}.'],
    [
      'object.labels.my-label',
      'Write a key that is no plain name in brackets: object.metadata.labels["my-app/name"].',
    ],
    [
      'object.labels.io/part',
      'Write a key that is no plain name in brackets: object.metadata.labels["my-app/name"].',
    ],
    ['object.a == nil', 'Write null; test a field with has(object.field).'],
    ['True', 'Write true.'],
    ['object.a.length() > 1', 'Use size(…).'],
    ['len(object.a)', 'Use size(…).'],
    ['self.a', "Did you mean 'object'?"],
    [
      'images.a',
      'Mutating policies have no images: read object.spec.containers, and parse an image with image(…).',
    ],
    ['params.a', 'Only a MutatingAdmissionPolicy with paramKind has params.'],
    ['object{metadata: 1}', 'The type of an ApplyConfiguration is Object{…}, with a capital letter.'],
    ['[JSONPatch{op: add}]', 'An operation is a string: op: "add".'],
    ['[JSONPatch{operation: "add"}]', "Did you mean 'op'?"],
    ['duration("1d")', 'Write a duration such as "1h30m" or "45s"; days have no unit.'],
  ])('%s has a hint', (source, hint) => {
    expect(problemOf(source)?.hint).toBe(hint);
  });

  test('all type errors are reported', () => {
    expect(compileCel('nope1 && nope2', environment).problems).toHaveLength(2);
  });

  test.each([
    ['nested brackets', `${'('.repeat(10_000)}1${')'.repeat(10_000)}`],
    ['nested lists', `${'['.repeat(10_000)}${']'.repeat(10_000)}`],
    ['a long chain', Array(10_000).fill('1').join(' + ')],
    ['a long path', `object${'.a'.repeat(10_000)}`],
    ['many negations', `${'-'.repeat(20_001)}object`],
    ['nested conditions', `${'true ? 1 : '.repeat(5000)}2`],
    ['a megabyte', `"${'a'.repeat(1_000_000)}"`],
    ['nested chains', `${'(1 + '.repeat(240)}1${' + 1)'.repeat(240)}`],
  ])('%s: a problem or a result, no crash', (_name, source) => {
    const { expression, problems } = compileCel(source, environment);
    if (expression === undefined) expect(problems[0]?.line).toBe(1);
  });
});

describe('evaluation', () => {
  test.each([
    ['object.items.all(x, x > 0) || true', true],
    ['object.items.exists(i, v, i == 1 && v == "b")', true],
    ['object.a.b.orValue("x")', 'deep'],
    ['object.?missing.b.c.orValue("none")', 'none'],
    ['object[?"a"].b', 'optional'],
    ['9007199254740993 - 1 == 9007199254740992', true],
    ['object.big * 1.0 > 1.0', true],
    ['{"a": 1, ?"b": optional.none()}.size()', 1],
    ['"%s has %d".format([object.a.b, 2])', 'deep has 2'],
    ['[3, 1, 2].sortBy(x, -x)', [3, 2, 1]],
    ['cel.bind(x, object.a, x.b + x.b)', 'deepdeep'],
    ['"\\U0001F600x".charAt(1)', 'x'],
    ['type(ip("10.0.0.1")) == net.IP', true],
    ['object.items.flatten()', ['a', 'b']],
  ])('%s', (source, expected) => {
    const object = { items: ['a', 'b'], a: { b: 'deep' }, big: 2.5 };
    const result = evaluate(source, object);
    if (expected === 'optional') expect(result).toMatchObject({ value: 'deep' });
    else expect(result).toEqual(expected);
  });

  test('names that objects inherit are data', () => {
    expect(evaluate('has(object.constructor)')).toBe(false);
    expect(evaluate('has(object.toString)')).toBe(false);
    expect(evaluate('object.constructor', { constructor: 'x' } as unknown as Value)).toBe('x');
    expect(Object.keys(evaluate('{"__proto__": 1}') as object)).toEqual(['__proto__']);
    expect(evaluate('"__proto__" in object')).toBe(false);
    expect(() => evaluate('object.valueOf')).toThrow('no such key: valueOf');
  });

  test.each([
    ['object.a + 1', 'no such overload: (string, int)'],
    ['object.a.startsWith(1 == 1 ? dyn(1) : dyn(2))', 'no such overload: (string, int)'],
    ['object.a && true', 'no such overload: (string)'],
    ['object.list["a"]', "unsupported index type 'string' in list"],
    ['object.list[5]', 'index out of bounds: 5'],
    ['object.list.sortBy(x, x)', 'list elements must have the same type'],
    ['[object.a].sum()', 'no such overload: (list)'],
  ])('%s fails', (source, message) => {
    expect(() => evaluate(source, { a: 'x', list: [1, 'a'] })).toThrow(message);
  });

  test.each<[string, Value, Value]>([
    ['object.?a.?b.orValue(1)', { a: { b: null } }, null],
    ['object.?a.?b.orValue(1)', { a: {} }, 1],
    ['object.?a.b.c.hasValue()', { a: { b: { c: false } } }, true],
    ['object.a.?b.c.hasValue()', { a: { b: {} } }, false],
    ['object.?a.?b.orValue(object.a.b + 1) == 2', { a: { b: 2 } }, true],
    ['object.?constructor.hasValue() || has(object.toString)', {}, false],
    ['object.__proto__.a', JSON.parse('{"__proto__": {"a": 1}}') as Value, 1],
    ['optional.of(object).a.b.hasValue()', { a: { b: 1 } }, true],
    ['{?"a": object.?b, ?"c": optional.of(dyn("d"))} == {"c": "d"}', {}, true],
    ['[?object.?a, ?optional.of(dyn(2)), dyn(3)]', {}, [2, 3]],
    ['Object{a: 1, ?b: object.?b}.?b.hasValue() || has(Object{a: null}.a)', {}, true],
    ['Object{a: 1, ?b: object.?b} == Object{a: 1}', {}, true],
  ])('%s of %j is %j', (source, object, expected) => {
    expect(evaluate(source, object)).toEqual(expected);
  });

  test.each([
    ['1 + object.a.b.c', { a: { b: {} } }, 14],
    ['1 + object.a.b.c', { a: [] }, 12],
    ['[1].map(x, object.a.?b.c).size()', { a: [] }, 19],
    ['1 == 1 && (object.a && true)', { a: 1 }, 20],
    ['"a" in object.a', { a: 1 }, 4],
  ])('%s of %j fails at its position', (source, object, offset) => {
    const { expression } = compileCel(source, environment);
    try {
      expression?.evaluate(scope(object));
      expect.unreachable();
    } catch (error) {
      expect((error as CelError).offset).toBe(offset);
    }
  });

  test('an error names its position', () => {
    const { expression } = compileCel('1 + int(object.a)', environment);
    try {
      expression?.evaluate(scope({ a: 'x' }));
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(CelError);
      expect((error as CelError).offset).toBe(7);
    }
  });

  test.each([
    ['object.items.all(x, object.items.all(y, true)) || true', 'steps'],
    ['object.items.map(x, object.items.map(y, object.items)) == []', 'steps'],
    ['lists.range(1000).size() > 0 || true', 'steps'],
    ['"%s".format([object.items.map(x, "0123456789").join("0123456789")]).size() > 0', 'bytes'],
  ])('%s exhausts the budget, which nothing absorbs', (source, unit) => {
    const items = Array.from({ length: 20 }, (_, index) => index);
    const limits = { steps: unit === 'steps' ? 200 : 10_000, bytes: unit === 'bytes' ? 200 : 10_000 };
    const { expression } = compileCel(source, environment);
    const run = () => withBudget(new Budget(limits), () => expression?.evaluate(scope({ items })));
    expect(run).toThrow(BudgetError);
  });

  test.each([
    'json.unmarshal(s) == json.unmarshal(s)',
    'json.marshal(json.unmarshal(s))',
    'yaml.parse(s) == 1',
  ])('deeply nested data is an error: %s', (body) => {
    const text = `"${'['.repeat(40_000)}${']'.repeat(40_000)}"`;
    const { expression } = compileCel(`cel.bind(s, ${text}, ${body})`, environment);
    try {
      expression?.evaluate(scope({}));
    } catch (error) {
      expect(error).toBeInstanceOf(CelError);
    }
  });

  test('strings and lists have a largest size', () => {
    const doubled = 'cel.bind(a, "0123456789", %)'.replace(
      '%',
      Array.from({ length: 30 }).reduce<string>((body) => `cel.bind(a, a + a, ${body})`, 'a.size()'),
    );
    expect(() => evaluate(doubled)).toThrow('longer than');
    expect(() => evaluate('lists.range(2000000)')).toThrow('lists.range()');
  });

  test('the variables that an expression reads are known', () => {
    const { expression } = compileCel('object.a == oldObject.a && request.name != ""', environment);
    expect([...(expression?.reads ?? [])]).toEqual(['object', 'oldObject', 'request']);
  });

  test('a trace has the value of each part', () => {
    const source = 'has(object.a) && (object.a.size() + 1) > 3 || object.nope == 1';
    const steps = compileCel(source, environment).expression?.trace(scope({ a: [1] })) ?? [];
    expect(steps.map(({ source, value, error }) => [source, error?.message ?? value])).toEqual([
      ['object', { a: [1] }],
      ['has(object.a)', true],
      ['object', { a: [1] }],
      ['object.a', [1]],
      ['object.a.size()', 1],
      ['1', 1],
      ['(object.a.size() + 1)', 2],
      ['3', 3],
      ['(object.a.size() + 1) > 3', false],
      ['has(object.a) && (object.a.size() + 1) > 3', false],
      ['object', { a: [1] }],
      ['object.nope', 'no such key: nope'],
      ['object.nope == 1', 'no such key: nope'],
      [source, 'no such key: nope'],
    ]);
  });

  test('a tree that was rewritten can be compiled', () => {
    const parsed = compileCel('object.spec', environment).expression?.node;
    if (parsed?.kind !== 'select') return expect.unreachable();
    const { expression } = compileTree({ ...parsed, field: 'metadata' }, 'object.spec', environment);
    expect(expression?.evaluate(scope({ metadata: 1 }))).toBe(1);
  });
});
