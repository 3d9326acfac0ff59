import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../json/value.ts';
import { scopeOf, stillEnvironment } from './expression.testing.ts';
import { compileExpression } from './expression.ts';
import type { ExpressionFunction, FunctionTable } from './functions/function-signature.ts';
import { ExpressionSyntaxError, syntaxHint } from './jmespath/syntax-error.ts';
import { EvaluationError, type Scope, Suspend } from './scope.ts';

const define = (
  entry: Pick<ExpressionFunction, 'name' | 'parameters' | 'call'>,
): [string, ExpressionFunction] => [
  entry.name,
  { returns: 'any', description: '', example: { expression: '' }, ...entry },
];

const functions: FunctionTable = new Map([
  define({
    name: 'length',
    parameters: [{ types: ['string', 'array', 'object'] }],
    call: ([value]) => (value as Json[]).length,
  }),
  define({
    name: 'map',
    parameters: [{ types: ['expref'] }, { types: ['array'] }],
    call: ([by, list]) => (list as Json[]).map((item) => (by as { apply(value: Json): Json }).apply(item)),
  }),
  define({
    name: 'echo',
    parameters: [{ types: ['any'], variadic: true }],
    call: (args) => [...(args as Json[])],
  }),
  define({
    name: 'first',
    parameters: [{ types: ['array[number]', 'array[string]'] }],
    call: ([list]) => (list as Json[])[0] ?? null,
  }),
  define({ name: 'year', parameters: [], call: (_args, environment) => environment.now().getUTCFullYear() }),
  define({
    name: 'refuse',
    parameters: [{ types: ['any'] }],
    call: () => {
      throw new EvaluationError('KYM_EXPRESSION_FAILED', 'refused');
    },
  }),
]);

const data: JsonObject = {
  a: { m: {}, n: 1 },
  l: [{ x: 1 }, { y: 2 }],
  s: 'str',
  nothing: null,
  five: 5,
  'q-r': { 'dotted.key/with-slash': 'hit' },
};

function outcome(expression: string, bindings: JsonObject = data): Json | string {
  const compiled = compileExpression(expression, functions);
  const run = (evaluate: () => Json) => {
    try {
      return evaluate();
    } catch (error) {
      if (error instanceof EvaluationError) return `${error.code}: ${error.message}`;
      throw error;
    }
  };
  const fromScope = run(() => compiled.evaluate(scopeOf(bindings)));
  expect(run(() => compiled.search(bindings, stillEnvironment))).toEqual(fromScope);
  return fromScope;
}

const unknown = (key: string) => `KYM_VARIABLE_UNRESOLVED: Unknown key "${key}" in path`;

describe('a missing key', () => {
  it.each<[string, string]>([
    ['zz', 'zz'],
    ['a.zz', 'zz'],
    ['a.zz.y', 'zz'],
    ['zz.y', 'zz'],
    ['l[0].q', 'q'],
    ['(a.zz).y', 'zz'],
    ['zz.{k: a}', 'zz'],
    ['zz.[a]', 'zz'],
    ['zz.{k: a}.k', 'zz'],
    ['(a && zz).y', 'zz'],
    ['zz.length(@)', 'zz'],
    ['zz.a[*]', 'zz'],
    ['zz.a[0:1]', 'zz'],
    ['a.zz[0]', 'zz'],
    ['@.zz', 'zz'],
    ['a && zz', 'zz'],
    ['a.constructor', 'constructor'],
    ['__proto__', '__proto__'],
    ['a.toString', 'toString'],
  ])('is the outcome of %s', (expression, key) => {
    expect(outcome(expression)).toBe(unknown(key));
  });

  it.each<[string, Json]>([
    ["a.zz || 'd'", 'd'],
    ["a.b.c.d || ''", ''],
    ['zz || yy', null],
    ['zz && a', null],
    ['a && zz && a', null],
    ['(a && zz) || s', 'str'],
    ['!zz', true],
    ['!(a && zz)', true],
    ['zz == null', true],
    ['zz == `null`', true],
    ['zz != s', true],
    ['zz < `1`', null],
    ['[a.n, zz]', [1, null]],
    ['{k: zz}', { k: null }],
    ['zz[]', null],
    ['a.zz[]', null],
    ['a.zz[*]', null],
    ['a.zz[].m', null],
    ["a.zz[?m=='1']", null],
    ['zz.a[]', null],
    ['zz.a[?x]', null],
    ['zz.*', null],
    ['a.m.*', []],
    ['l[*].x', [1]],
    ['l[*].zz', []],
    ['l[?zz]', []],
    ['echo(zz)', [null]],
    ['map(&x, l)', [1, null]],
    ['zz | @', null],
    ['a | zz', null],
    ['(zz | a).b', null],
  ])('is swallowed in %s', (expression, expected) => {
    expect(outcome(expression)).toEqual(expected);
  });
});

describe('what is null rather than missing', () => {
  it.each<[string, Json]>([
    ['nothing', null],
    ['nothing.x.y', null],
    ['s.x', null],
    ['five.x.y', null],
    ['l.x', null],
    ['l[9]', null],
    ['l[9].x.y', null],
    ['l[-3]', null],
    ['a[0]', null],
    ['[0]', null],
    ['s[0]', null],
    ['[0:1]', null],
    ['nothing.{k: a}', null],
    ['nothing.[a]', null],
    ['five[]', null],
    ['s[?@]', null],
    ['s.*', null],
    ['a[*]', null],
  ])('%s', (expression, expected) => {
    expect(outcome(expression)).toEqual(expected);
  });
});

describe('the language', () => {
  it.each<[string, Json]>([
    ['@', data],
    ['@.five', 5],
    ['*.n', [1]],
    ['a . n', 1],
    ['"q-r"."dotted.key\\/with-slash"', 'hit'],
    ['"\\u0061".n', 1],
    ["'it\\'s'", "it's"],
    ["'a\\n\\\\b'", 'a\\n\\\\b'],
    ["'\\{{ x }}'", '\\{{ x }}'],
    ['`{"a": [1, true, null]}`', { a: [1, true, null] }],
    ['`"\\`"`', '`'],
    ['`5` == `5.0`', true],
    ['`{"a":1,"b":2}` == `{"b":2,"a":1}`', true],
    ['five > `4`', true],
    ['five > `5`', false],
    ['five >= `5`', true],
    ['five < `5`', false],
    ['five <= `5`', true],
    ["'b' > 'a'", null],
    ['five > s', null],
    ['l[-1].y', 2],
    ['`[0,1,2,3,4]`[1:3]', [1, 2]],
    ['`[0,1,2,3,4]`[-2:]', [3, 4]],
    ['`[0,1,2,3,4]`[::2]', [0, 2, 4]],
    ['`[0,1,2,3,4]`[::-2]', [4, 2, 0]],
    ['`[0,1,2,3,4]`[3:0:-1]', [3, 2, 1]],
    ['`[0,1]`[9:-9:-1]', [1, 0]],
    ['`[0,1]`[-9:9]', [0, 1]],
    ['`[1,[2,[3]]]`[]', [1, 2, [3]]],
    ['`[1,[2,[3]]]`[][]', [1, 2, 3]],
    ['l[?x > `0`].x | [0]', 1],
    ['l[?!x].y', [2]],
    [
      'l[*].{q: x, r: y}',
      [
        { q: 1, r: null },
        { q: null, r: 2 },
      ],
    ],
    ['l[*].[x]', [[1], [null]]],
    ['{"__proto__": five}', JSON.parse('{"__proto__": 5}') as Json],
    ["a.m || `[]` || '' || `false` || s", 'str'],
    ['a && l && s', 'str'],
    ["a && '' && s", ''],
    ['!a == `false`', true],
    ['five | @', 5],
    ['l | [0].x', 1],
    ['echo(five, s)', [5, 'str']],
    ['echo(five s)', [5, 'str']],
    ['{x: five y: s}', { x: 5, y: 'str' }],
    ['s.length(@)', 3],
    ['map(&length(@), `["a","bc"]`)', [1, 2]],
    ['year()', 2024],
    ['first(`["x"]`)', 'x'],
    ['refuse(a)[]', null],
    ['refuse(a)[?x]', null],
    ['refuse(a).*', null],
  ])('%s', (expression, expected) => {
    expect(outcome(expression)).toEqual(expected);
  });

  const nested: JsonObject = {
    list: [{ b: { c: 1 } }, { b: {} }],
    lists: [{ x: [{ y: 1 }, { y: 2 }] }],
    n: 5,
    e: null,
  };

  it.each<[string, Json]>([
    ['list[*].b.c', [1]],
    ['list[?b].b.c', [1]],
    ['list[:1].b.c', [1]],
    ['list[].b.c', [1]],
    ['lists[].x[?y].y', [[1, 2]]],
    ['lists[*].x[].y', [1, 2]],
    ['lists[*].x[0].y', [1]],
    ['lists[?x][].x[]', [{ y: 1 }, { y: 2 }]],
    ['!zz || n', true],
    ['!n == n', false],
    ['n || n && e', 5],
    ['e && n || n', 5],
    ['n == n && n', 5],
    ['e || n | @', 5],
    ['n == `5` == `true`', true],
    ['[*.b, n]', [[], 5]],
    ['[*]', null],
    ['(list[*].b)[0].c', 1],
    ['list[*].b[0]', []],
    ['list[*].b | [0].c', 1],
  ])('binds as it should in %s', (expression, expected) => {
    expect(outcome(expression, nested)).toEqual(expected);
  });

  it('keeps a __proto__ key as data', () => {
    const value = outcome('{"__proto__": five}') as JsonObject;
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.keys(value)).toEqual(['__proto__']);
    expect(outcome('"__proto__".x', JSON.parse('{"__proto__": {"x": 1}}') as JsonObject)).toBe(1);
  });

  it('reads a key that is also the name of an inherited member', () => {
    expect(outcome('a.constructor', { a: { constructor: 'data' } })).toBe('data');
  });
});

describe('function calls', () => {
  it.each([
    ['length(zz)', 'Invalid type for: null, expected: [string, array, object] (argument 1 of length())'],
    ['length(five)', 'Invalid type for: number, expected: [string, array, object] (argument 1 of length())'],
    [
      'first(`[1,"a"]`)',
      'Invalid type for: array, expected: [array[number], array[string]] (argument 1 of first())',
    ],
    ['map(&x, a)', 'Invalid type for: object, expected: [array] (argument 2 of map())'],
    ['refuse(s)', 'refused'],
    ['refuse(s)[*]', 'refused'],
  ])('%s fails: %s', (expression, message) => {
    expect(outcome(expression)).toBe(`KYM_EXPRESSION_FAILED: ${message}`);
  });

  it.each([
    ['nosuch(a)', 'unknown function nosuch()'],
    ['length()', 'length() takes 1 argument(s), not 0'],
    ['length(a, a)', 'length() takes 1 argument(s), not 2'],
    ['echo()', 'echo() takes at least 1 argument(s), not 0'],
    ['year(a)', 'year() takes 0 argument(s), not 1'],
    ['length(&a)', 'argument 1 of length() cannot be an expression reference (&)'],
    ['map(x, l)', 'argument 1 of map() must be an expression reference: &expression'],
    ['&a', 'an expression reference (&) can only be the argument of a function'],
    ['[&a]', 'an expression reference (&) can only be the argument of a function'],
  ])('%s is refused: %s', (expression, message) => {
    expect(() => compileExpression(expression, functions)).toThrow(new ExpressionSyntaxError(message, 0));
  });
});

describe('syntax errors', () => {
  it.each<[string, number, string]>([
    ['', 0, 'unexpected end of the expression'],
    ['a.', 2, 'unexpected end of the expression, expected a key, [ or {'],
    ['a b', 2, 'unexpected "b"'],
    ['(a b)', 3, 'unexpected "b", expected )'],
    ["a.'x'", 2, 'unexpected raw string, expected a key, [ or {'],
    ['a-b', 1, 'unknown character "-"'],
    ['a = b', 2, 'unknown character "="'],
    ['é', 0, 'unknown character "é"'],
    ['a.{{ b }}', 3, 'unexpected "{", expected a key'],
    ["'abc", 0, "unclosed '"],
    ["'\\\\'", 0, "unclosed '"],
    ['a."b', 2, 'unclosed "'],
    ['`{`', 0, 'a literal in backticks must be JSON'],
    ['"\\x"', 0, 'invalid escape or control character in a quoted key'],
    ['"a"(b)', 0, 'unexpected quoted key, expected a function name without quotes'],
    ['a[b]', 2, 'unexpected "b", expected *'],
    ['a[0', 3, 'unexpected end of the expression, expected ]'],
    ['a[1 2]', 4, 'unexpected number 2, expected ]'],
    ['a[:::]', 4, 'unexpected ":", expected ]'],
    ['a[::0]', 4, 'the step of a slice cannot be 0'],
    ['a[-]', 2, 'unknown character "-"'],
    ['a[?b', 4, 'unexpected end of the expression, expected ]'],
    ['[a,]', 3, 'unexpected "]"'],
    ['[a b]', 3, 'unexpected "b", expected , or ]'],
    ['{a}', 2, 'unexpected "}", expected :'],
    ['{a: b,}', 6, 'unexpected "}", expected a key'],
    ['5', 0, 'unexpected number 5'],
    ['a[0](b)', 4, 'unexpected "("'],
    ['length(a', 8, 'unexpected end of the expression'],
    ['||', 0, 'unexpected "||"'],
  ])('%s at %i: %s', (expression, position, message) => {
    let thrown: unknown;
    try {
      compileExpression(expression, functions);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(ExpressionSyntaxError);
    expect(thrown).toMatchObject({ position, message });
  });

  it.each([
    ['a.b-c', /double quotes/],
    ["a.'b'", /raw string/],
    ['add(5)', /backticks/],
    ['a.$(b)', /reference/],
  ])('%s comes with a hint', (text, hint) => {
    expect(syntaxHint(text)).toMatch(hint);
  });

  it('has no hint where nothing is known', () => {
    expect(syntaxHint('a ||')).toBeUndefined();
  });
});

describe('size', () => {
  const nested = (open: string, close: string, times: number) =>
    `${open.repeat(times)}a${close.repeat(times)}`;

  it.each([
    ['parentheses', nested('(', ')', 10_000)],
    ['lists', nested('[', ']', 10_000)],
    ['negations', nested('!', '', 10_000)],
    ['references', nested('& ', '', 10_000)],
    ['calls', nested('echo(', ')', 10_000)],
    ['filters', nested('[?', ']', 10_000)],
    ['hashes', nested('{a:', '}', 10_000)],
    ['projections', `a${'[*]'.repeat(10_000)}`],
    ['flattening', `a${'[]'.repeat(10_000)}`],
    ['value projections', `a${'.*'.repeat(10_000)}`],
    ['multi-selects', `a${'.[a]'.repeat(10_000)}`],
    ['comparisons', `a${' == a'.repeat(10_000)}`],
  ])('refuses 10,000 levels of %s', (_name, text) => {
    expect(() => compileExpression(text, functions)).toThrow(/nested more than 250 levels deep/);
  });

  it('accepts what people write', () => {
    expect(outcome(nested('(', ')', 100), { a: 1 })).toBe(1);
    expect(outcome(nested('[', ']', 100), { a: 1 })).toHaveLength(1);
  });

  it.each<[string, string]>([
    ['alternatives', Array.from({ length: 100_000 }, () => 'zz').join(' || ')],
    ['conjunctions', Array.from({ length: 100_000 }, () => 'five').join(' && ')],
    ['pipes', Array.from({ length: 100_000 }, () => '@').join(' | ')],
    ['keys', `nothing${'.a'.repeat(100_000)}`],
    ['indexes', `nothing${'[0]'.repeat(100_000)}`],
    ['list items', `[${Array.from({ length: 100_000 }, () => 'five').join(',')}]`],
    ['arguments', `echo(${Array.from({ length: 100_000 }, () => "'x'").join(',')})`],
    ['characters', `'${'x'.repeat(1_000_000)}'`],
  ])('takes time in proportion to the number of %s', (_name, text) => {
    const before = process.cpuUsage().user;
    compileExpression(text, functions).evaluate(scopeOf(data));
    expect(process.cpuUsage().user - before).toBeLessThan(3_000_000);
  });

  it('turns an exhausted stack into an evaluation error', () => {
    const deep = (): Json => JSON.parse(`${'['.repeat(200_000)}${']'.repeat(200_000)}`) as Json;
    const evaluate = () => compileExpression('a == b', functions).evaluate(scopeOf({ a: deep(), b: deep() }));
    expect(evaluate).toThrow(EvaluationError);
    expect(evaluate).toThrow(/nested too deeply/);
  });
});

describe('the scope', () => {
  it.each<[string, string[]]>([
    ['request.object.spec', ['request']],
    ["a.b || c || 'd'", ['a', 'c']],
    ['a[?b == c].d | e', ['a']],
    ['length(a)', ['a']],
    ['map(&x, l)', ['l']],
    ['{k: a, j: [b, !c]}', ['a', 'b', 'c']],
    ['a && b == c', ['a', 'b', 'c']],
    ['(a).b', ['a']],
    ['@', ['@']],
    ['@.a.b', ['a']],
    ['*', ['@']],
    ["'text'", []],
    ['constructor.name', ['constructor']],
    ['a.*.b[].c[0:1]', ['a']],
  ])('%s reads %j', (expression, roots) => {
    expect([...compileExpression(expression, functions).roots].sort()).toEqual(roots);
  });

  it('looks up only the names that it evaluates, without a snapshot', () => {
    const asked: string[] = [];
    const scope: Scope = {
      environment: stillEnvironment,
      lookup(name) {
        asked.push(name);
        return name === 'a' ? 1 : undefined;
      },
      snapshot() {
        throw new Error('not asked for');
      },
    };
    expect(compileExpression('a || b', functions).evaluate(scope)).toBe(1);
    expect(compileExpression('c && b', functions).evaluate(scope)).toBeNull();
    expect(asked).toEqual(['a', 'c']);
  });

  it.each([new EvaluationError('KYM_CONTEXT_FAILED', 'no such ConfigMap'), new Suspend(Promise.resolve())])(
    'lets %s of a look-up through, also where function failures are swallowed',
    (raised) => {
      const scope: Scope = {
        environment: stillEnvironment,
        lookup() {
          throw raised;
        },
        snapshot: () => ({}),
      };
      expect(() => compileExpression("a[] || 'd'", functions).evaluate(scope)).toThrow(raised);
      expect(() => compileExpression('length(a)[]', functions).evaluate(scope)).toThrow(raised);
    },
  );

  it('names the key of its own outcome when evaluations interleave', () => {
    const inner = compileExpression("x.inner || 'default'", functions);
    const scope: Scope = {
      environment: stillEnvironment,
      lookup: (name) => (name === 'lazy' ? { value: inner.evaluate(scopeOf({ x: {} })) } : undefined),
      snapshot: () => ({}),
    };
    expect(() => compileExpression('lazy.outer', functions).evaluate(scope)).toThrow(
      'Unknown key "outer" in path',
    );
  });
});
