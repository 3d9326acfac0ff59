import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../json/value.ts';
import { collectProblems, scopeOf } from '../expression.testing.ts';
import { EvaluationError, Suspend } from '../scope.ts';
import { compileTemplate, compileTemplateText, usesVariables } from './template.ts';

function render(template: Json, bindings: JsonObject = {}): Json {
  const { problems, reporter } = collectProblems();
  const compiled = compileTemplate(template, ['at'], reporter);
  expect(problems).toEqual([]);
  return compiled.render(scopeOf(bindings));
}

function failure(template: Json, bindings: JsonObject = {}): string {
  try {
    return `no error: ${JSON.stringify(render(template, bindings))}`;
  } catch (error) {
    expect(error).toBeInstanceOf(EvaluationError);
    return (error as EvaluationError).message;
  }
}

function problemsOf(template: Json): string[] {
  const { problems, reporter } = collectProblems();
  compileTemplate(template, ['at'], reporter);
  return problems;
}

describe('one string', () => {
  it.each<[string, JsonObject, Json]>([
    ['{{ a.b }}', { a: { b: 5 } }, 5],
    ['x{{ a.b }}y', { a: { b: 5 } }, 'x5y'],
    [' {{ a }}', { a: 1 }, ' 1'],
    ['{{ a }} ', { a: 1 }, '1 '],
    ['v={{ a }}', { a: { b: 5 } }, 'v={"b":5}'],
    ['v={{ a }}', { a: { z: 1, b: [true, null] } }, 'v={"b":[true,null],"z":1}'],
    ['v={{ a }}', { a: null }, 'v=null'],
    ['v={{ a }}', { a: ['<&>'] }, 'v=["\\u003c\\u0026\\u003e"]'],
    ['v={{ a }}', { a: '<&>"' }, 'v=<&>"'],
    ['{{ a }}', { a: null }, null],
    ['{{a}}{{ b }}', { a: 1, b: false }, '1false'],
    ['{{ a }}-{{ a }}', { a: 'x' }, 'x-x'],
    ['{{ m."{{ k }}" }}', { m: { 'q-r': 'hit' }, k: 'q-r' }, 'hit'],
    ["{{ to_upper('{{ k }}') }}", { k: 'abc' }, 'ABC'],
    ['{{ k }}', { k: '{{ j }}', j: 'deep' }, '{{ j }}'],
    ['{{- k }}', { k: '{{ j }}', j: 'deep' }, '{{ j }}'],
    ['p-{{- k }}', { k: '{{ j }}', j: 'deep' }, 'p-{{ j }}'],
    ['p-{{- k }}', { k: { b: 5 } }, 'p-{"b":5}'],
    ['\\{{ a }}', {}, '{{ a }}'],
    ['\\{{ a }} {{ b }}', { b: 1 }, '{{ a }} 1'],
    ['{{ b }} \\{{ a }}', { b: 1 }, '1 {{ a }}'],
    ["{{ zz || 'd' }}", {}, 'd'],
    ['{{ a.b }}', { a: 'str' }, null],
    ['{{ {x: a} }}', { a: 1 }, { x: 1 }],
    ['{{{x: a}}}', { a: 1 }, { x: 1 }],
    ['{{ a', {}, '{{ a'],
    ['a }}', {}, 'a }}'],
    ['plain', {}, 'plain'],
    ['', {}, ''],
    ['{{ @ }}', { a: 1 }, { a: 1 }],
    ['$(x) {{ a }}', { a: '$(y)' }, '$(x) $(y)'],
  ])('%s with %j gives %j', (template, bindings, expected) => {
    expect(render(template, bindings)).toEqual(expected);
  });
});

describe('values are data', () => {
  it.each<[string, JsonObject, Json]>([
    ['p-{{ k }}', { k: '{{ j }}', j: 'deep' }, 'p-{{ j }}'],
    ['{{ k }}{{ k }}', { k: '{{' }, '{{{{'],
    ['{{ k }} j }}', { k: '{{', j: 'deep' }, '{{ j }}'],
    ['p-{{ k }}', { k: '\\{{ j }}' }, 'p-\\{{ j }}'],
    ["{{ to_upper('{{ k }}') }}", { k: "a') || request || ('" }, "A') || REQUEST || ('"],
    ["{{ to_upper('{{ k }}') }}", { k: "\\' \\" }, "\\' \\"],
    ["{{ to_upper('{{ k }}') }}", { k: '{{ secret }}', secret: 'x' }, '{{ SECRET }}'],
    [
      '{{ m."{{ k }}" }}',
      { m: { 'a" || secret || "': 'member' }, k: 'a" || secret || "', secret: 'x' },
      'member',
    ],
    ['{{ m."{{ k }}" }}', { m: { 'a\\nb': 'member' }, k: 'a\\nb' }, 'member'],
    ['{{ `{{ k }}` }}', { k: '1` || secret || `2', secret: 'x' }, '1` || secret || `2'],
    ['{{ `{"a": "{{ k }}"}` }}', { k: '","b":"c' }, { a: '","b":"c' }],
    ['{{ `{"a": {{ k }}}` }}', { k: '1, "b": 2' }, { a: '1, "b": 2' }],
    ["{{ '{{ k }}' == 'a' }}", { k: "a' == 'a" }, false],
  ])('%s with %j gives %j', (template, bindings, expected) => {
    expect(render(template, bindings)).toEqual(expected);
  });
});

describe('nested variables', () => {
  it.each<[string, JsonObject, Json]>([
    ["{{ '{{ k }}' }}", { k: { b: 1 } }, '{"b":1}'],
    ["{{ '{{ k }}' }}", { k: null }, 'null'],
    ["{{ 'a {{ k }} b {{ k }}' }}", { k: 1 }, 'a 1 b 1'],
    ["{{ 'it\\'s {{ k }}' }}", { k: 'x y' }, "it's x y"],
    ['{{ `["\\"{{ k }}-{{ k }}", {{ k }}]` }}', { k: 'x y' }, ['"x y-x y', 'x y']],
    ['{{ "{{ k }}" }}', { k: 'root', root: 7 }, 7],
    ['{{ "{{ k }}-b".c }}', { k: 'a', 'a-b': { c: 1 } }, 1],
    ['{{ {"{{ k }}": j} }}', { k: 'a-b', j: 1 }, { 'a-b': 1 }],
    ['{{ `{{ k }}` }}', { k: '100' }, 100],
    ['{{ `{{ k }}` }}', { k: 'text' }, 'text'],
    ['{{ `{{ k }}` }}', { k: [1] }, [1]],
    ['{{ `{{ k }}5` }}', { k: 1 }, 15],
    ['{{ `[{{ k }}, "{{ k }}"]` }}', { k: 1 }, [1, '1']],
    ['{{ `["\\"{{ k }}", {{ k }}]` }}', { k: 'x' }, ['"x', 'x']],
    ['{{ `[{{ j }}]` }}', { j: { a: '<' } }, [{ a: '<' }]],
    ['{{ l[{{ i }}] }}', { l: ['a', 'b'], i: 1 }, 'b'],
    ['{{ l[-{{ i }}] }}', { l: ['a', 'b'], i: 1 }, 'b'],
    ['{{ l[{{ i }}:{{ j }}] }}', { l: [0, 1, 2, 3], i: 1, j: '3' }, [1, 2]],
    ['{{ m.{{ k }} }}', { m: { name: 'x' }, k: 'name' }, 'x'],
    ['{{ m.{{ k }}."{{ j }}" }}', { m: { name: { 'a-b': 'x' } }, k: 'name', j: 'a-b' }, 'x'],
    ["{{ '{{ j }}' == m.{{ k }} }}", { m: { name: 'a' }, k: 'name', j: 'a' }, true],
    ['{{ element{{ i }} }}', { element0: 'zero', element1: 'one', i: 1 }, 'one'],
    ['{{ {{ k }} }}', { k: 'a', a: 5 }, 5],
    ['{{ m."{{ n."{{ k }}" }}" }}', { m: { 'x-y': 1 }, n: { 'k-k': 'x-y' }, k: 'k-k' }, 1],
    [
      "{{ l[?name == '{{ k }}'].v | [0] }}",
      {
        l: [
          { name: 'a', v: 1 },
          { name: 'b', v: 2 },
        ],
        k: 'b',
      },
      2,
    ],
    ['{{ {x: {{ k }}} }}', { k: 'a', a: 5 }, { x: 5 }],
  ])('%s with %j gives %j', (template, bindings, expected) => {
    expect(render(template, bindings)).toEqual(expected);
  });

  it('compiles once per name', () => {
    const { reporter } = collectProblems();
    const compiled = compileTemplate('{{ m.{{ k }} }}', [], reporter);
    const m = { a: 1, b: 2 };
    expect(['a', 'b', 'a'].map((k) => compiled.render(scopeOf({ m, k })))).toEqual([1, 2, 1]);
  });

  it.each<[Json]>([
    ['a.b'],
    ['a b'],
    ['a-b'],
    ["a' || 'b"],
    [''],
    ['1.5'],
    [1.5],
    [null],
    [true],
    [{}],
    ['a\n'],
    ['é'],
  ])('an unquoted one that yields %j is refused by name', (k) => {
    expect(failure('{{ m.{{ k }} }}', { m: {}, k })).toBe(
      'failed to resolve m.{{ k }} at path /at: {{ k }} must be a plain name or a number at this position; put it in quotes to use any string',
    );
  });

  it('an unquoted one of the wrong kind for its location is refused by name', () => {
    expect(failure('{{ l[{{ k }}] }}', { l: [], k: 'name' })).toBe(
      'failed to resolve l[{{ k }}] at path /at: the value of {{ k }} is not valid at this position of the expression',
    );
  });

  it('fails when a literal is not JSON any more', () => {
    expect(failure('{{ `{{ k }} {{ k }}` }}', { k: 1 })).toContain(
      'is not valid JSON after substituting its variables',
    );
  });

  it('names the inner variable when that is the one that fails', () => {
    expect(failure('{{ m."{{ k.zz }}" }}', { m: {}, k: {} })).toBe(
      'failed to resolve k.zz at path /at: Unknown key "zz" in path',
    );
  });

  it('is limited in depth', () => {
    const nested = (levels: number): string => (levels === 0 ? 'k' : `{{ "${nested(levels - 1)}" }}`);
    expect(problemsOf(nested(8))).toEqual([]);
    expect(problemsOf(nested(9))).toEqual([
      '/at KYM_EXPRESSION_SYNTAX: variables are nested more than 8 levels deep',
    ]);
    expect(problemsOf(`${'{{'.repeat(5000)}${'}}'.repeat(5000)}`)).toHaveLength(1);
  });
});

describe('documents', () => {
  it('fills in keys and leaves, and keeps the order of members', () => {
    const template = { b: '{{ x }}', '{{ k }}-1': ['{{ x }}', { c: 'y{{ x }}' }], a: true, n: null };
    const result = render(template, { x: 1, k: 'key' });
    expect(result).toEqual({ b: 1, 'key-1': [1, { c: 'y1' }], a: true, n: null });
    expect(Object.keys(result as JsonObject)).toEqual(['b', 'key-1', 'a', 'n']);
  });

  it('needs text for a key', () => {
    expect(failure({ '{{ k }}': 1 }, { k: 5 })).toBe(
      'expected string after substituting variables in key "{{ k }}" at path /at',
    );
    expect(render({ 'k{{ k }}': 1 }, { k: 5 })).toEqual({ k5: 1 });
  });

  it('unescapes keys as well', () => {
    expect(render({ '\\{{ k }}': { x: '\\{{ y }}' } })).toEqual({ '{{ k }}': { x: '{{ y }}' } });
    expect(render({ '\\{{ k }}': 1 })).toEqual({ '{{ k }}': 1 });
  });

  it('keeps a __proto__ key as data', () => {
    const template = JSON.parse('{"__proto__": "{{ x }}", "b": "{{ x }}", "c": {"__proto__": 1}}') as Json;
    expect(JSON.stringify(render(template, { x: 1 }))).toBe('{"__proto__":1,"b":1,"c":{"__proto__":1}}');
    expect(JSON.stringify(render({ '{{ k }}': 1 }, { k: '__proto__' }))).toBe('{"__proto__":1}');
  });

  it('is the value itself when there is nothing to fill in', () => {
    const value = { a: [1, { b: 'text' }] };
    const { reporter } = collectProblems();
    const compiled = compileTemplate(value, [], reporter);
    expect(compiled.constant).toBe(true);
    expect(compiled.render(scopeOf({}))).toBe(value);
  });

  it('renders what is constant once, also when it is unescaped', () => {
    const { reporter } = collectProblems();
    const compiled = compileTemplate({ a: ['\\{{ x }}'] }, [], reporter);
    expect(compiled.constant).toBe(true);
    expect(compiled.render(scopeOf({}))).toBe(compiled.render(scopeOf({})));
  });

  it('shares constant subtrees between renderings, and nothing else', () => {
    const value = { fixed: { deep: [1] }, list: [{ fixed: 1 }, '{{ x }}'], '{{ k }}': { fixed: 2 } };
    const { reporter } = collectProblems();
    const compiled = compileTemplate(value, [], reporter);
    const first = compiled.render(scopeOf({ x: 1, k: 'k' })) as typeof value & { k: Json };
    const second = compiled.render(scopeOf({ x: 2, k: 'k' })) as typeof value & { k: Json };
    expect(compiled.constant).toBe(false);
    expect(first.fixed).toBe(value.fixed);
    expect(first.list[0]).toBe(value.list[0]);
    expect(first.k).toBe(second.k);
    expect([first.list[1], second.list[1]]).toEqual([1, 2]);
  });

  it('gives every rendering objects and lists of its own', () => {
    const { reporter } = collectProblems();
    const compiled = compileTemplate({ o: { a: '{{ x }}' }, l: ['{{ x }}'] }, [], reporter);
    const first = compiled.render(scopeOf({ x: 1 }));
    expect(compiled.render(scopeOf({ x: 2 }))).toEqual({ o: { a: 2 }, l: [2] });
    expect(first).toEqual({ o: { a: 1 }, l: [1] });
  });

  it('lists the roots it reads', () => {
    const { reporter } = collectProblems();
    const value = { a: '{{ x.y }} {{ z }}', '{{ k }}': ['{{ m."{{ n }}" || \'d\' }}'], c: '\\{{ no }}' };
    expect([...compileTemplate(value, [], reporter).roots].sort()).toEqual(['k', 'm', 'n', 'x', 'z']);
    expect([...compileTemplateText('{{ {{ a }} }}', [], reporter).roots].sort()).toEqual(['@', 'a']);
    expect([...compileTemplateText('{{ "{{ a }}" }}', [], reporter).roots].sort()).toEqual(['@', 'a']);
    expect([...compileTemplateText('{{ b.{{ a }} }}', [], reporter).roots].sort()).toEqual(['a', 'b']);
  });
});

describe('{{@}}', () => {
  const options = { self: (path: readonly (string | number)[]) => `request.object."${path.join('"."')}"` };
  const scope = scopeOf({ request: { object: { at: { 'a-b': 'here' } } } });

  it.each<[string, Json]>([
    ['{{@}}', 'here'],
    ['{{ @ }}-x', 'here-x'],
    ["{{ to_upper('{{@}}') }}", 'HERE'],
  ])('%s stands for its own location', (text, expected) => {
    const { problems, reporter } = collectProblems();
    expect(compileTemplate({ 'a-b': text }, ['at'], reporter, options).render(scope)).toEqual({
      'a-b': expected,
    });
    expect(problems).toEqual([]);
  });

  it('is the whole scope inside a longer expression', () => {
    const { reporter } = collectProblems();
    expect(compileTemplateText('{{ @.request.object.at }}', ['at'], reporter, options).render(scope)).toEqual(
      { 'a-b': 'here' },
    );
  });
});

describe('failures', () => {
  it.each<[string, JsonObject, string]>([
    ['{{ zz }}', {}, 'failed to resolve zz at path /at: Unknown key "zz" in path'],
    ['x{{ a.zz }}', { a: {} }, 'failed to resolve a.zz at path /at: Unknown key "zz" in path'],
    [
      '{{ length(a) }}',
      { a: 7 },
      'failed to resolve length(a) at path /at: Invalid type for: number, expected: [string, array, object] (argument 1 of length())',
    ],
  ])('%s: the variable is named', (template, bindings, message) => {
    expect(failure(template, bindings)).toBe(message);
  });

  it('name the location inside the document', () => {
    expect(failure({ 'a/b': [1, '{{ zz }}'] })).toBe(
      'failed to resolve zz at path /at/a~1b/1: Unknown key "zz" in path',
    );
  });

  it('say nothing when data has to be fetched first', () => {
    const suspended = new Suspend(Promise.resolve());
    const scope = {
      ...scopeOf({}),
      lookup: () => {
        throw suspended;
      },
    };
    const { reporter } = collectProblems();
    for (const text of ['{{ a }}', 'x{{ a }}', '{{ b."{{ a }}" }}', '{{ b.{{ a }} }}', '{{ a[] || b }}']) {
      expect(() => compileTemplate(text, [], reporter).render(scope)).toThrow(suspended);
    }
  });

  it('keep the code of their cause', () => {
    expect(() => render('{{ zz }}')).toThrow(expect.objectContaining({ code: 'KYM_VARIABLE_UNRESOLVED' }));
    expect(() => render('{{ length(a) }}', { a: 1 })).toThrow(
      expect.objectContaining({ code: 'KYM_EXPRESSION_FAILED' }),
    );
  });
});

describe('problems at load', () => {
  it('names every expression that does not parse, with location and hint', () => {
    expect(problemsOf({ a: '{{ x.b-c }}', b: ["{{ x.'y' }}", '{{ }}'], '{{ q( }}': 1 })).toEqual([
      '/at/a KYM_EXPRESSION_SYNTAX: the expression "x.b-c" does not parse: unknown character "-" (at character 4) | keys with dashes, dots or slashes need double quotes: metadata.labels."my-key"',
      `/at/b/0 KYM_EXPRESSION_SYNTAX: the expression "x.'y'" does not parse: unexpected raw string, expected a key, [ or { (at character 3) | single quotes make a raw string; a key is written in double quotes: a."b"`,
      '/at/b/1 KYM_EXPRESSION_SYNTAX: the variable {{ }} is empty | write an expression between the braces, or \\{{ for literal braces',
      '/at/{{ q( }} KYM_EXPRESSION_SYNTAX: the expression "q(" does not parse: unexpected end of the expression (at character 3)',
    ]);
  });

  it('finds them in nested variables', () => {
    expect(problemsOf('{{ m."{{ k. }}" }}')).toHaveLength(1);
    expect(problemsOf('{{ m."{{ k }}". }}')).toHaveLength(1);
    expect(problemsOf('{{ m.{{ k }}. }}')).toHaveLength(1);
    expect(problemsOf('{{ m.{{ }} }}')).toHaveLength(1);
  });

  it('leaves something that fails, and does not crash, when rendered all the same', () => {
    const { reporter } = collectProblems();
    const compiled = compileTemplate({ a: '{{ x. }}' }, [], reporter);
    expect(() => compiled.render(scopeOf({}))).toThrow(EvaluationError);
  });

  it('shortens a very long expression', () => {
    expect(problemsOf(`{{ ${'x'.repeat(1000)} ( }}`)[0]?.length).toBeLessThan(400);
  });
});

describe('usesVariables', () => {
  it.each<[Json, boolean]>([
    ['{{ a }}', true],
    ['\\{{ a }}', false],
    [{ a: [1, 'x {{ a }}'] }, true],
    [{ '{{ a }}': 1 }, true],
    [{ a: ['x', null, 1] }, false],
    [5, false],
  ])('%j: %s', (value, expected) => {
    expect(usesVariables(value)).toBe(expected);
  });
});
