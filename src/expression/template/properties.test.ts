import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../json/value.ts';
import { textOf } from '../compile/binding.ts';
import { collectProblems, scopeOf } from '../expression.testing.ts';
import { EvaluationError } from '../scope.ts';
import { compileTemplate } from './template.ts';

const hostile = fc.oneof(
  fc
    .array(
      fc.constantFrom(
        "'",
        '"',
        '`',
        '\\',
        '{{',
        '}}',
        '{',
        '}',
        ' ',
        'secret',
        '||',
        '.',
        '$(',
        ')',
        '@',
        'a',
        '1',
        '\n',
        ',',
        ':',
        '[',
        ']',
      ),
      {
        maxLength: 12,
      },
    )
    .map((parts) => parts.join('')),
  fc.string({ maxLength: 20 }),
);

function renderer(template: Json): (bindings: JsonObject) => Json {
  const { problems, reporter } = collectProblems();
  const compiled = compileTemplate(template, [], reporter);
  expect(problems).toEqual([]);
  return (bindings) => compiled.render(scopeOf(bindings));
}

const secret = 'never to be seen';

describe('whatever a value holds', () => {
  it.each<[string, Json, (value: string) => Json]>([
    ['alone', '{{ value }}', (value) => value],
    ['inside a text', 'a {{ value }} b', (value) => `a ${value} b`],
    ['next to itself', '{{ value }}{{ value }}', (value) => value + value],
    ['before what could close it', '{{ value }} secret }}', (value) => `${value} secret }}`],
    ['as a key', { 'k{{ value }}': 1 }, (value) => JSON.parse(`{${JSON.stringify(`k${value}`)}: 1}`) as Json],
    ['in single quotes', "{{ '{{ value }}' }}", (value) => value],
    ['in a longer raw string', "{{ 'a {{ value }} b' }}", (value) => `a ${value} b`],
    ['as an argument', "{{ [to_string('{{ value }}'), 'x'] }}", (value) => [value, 'x']],
    ['in a comparison', "{{ '{{ value }}' == value }}", () => true],
    ['in a filter', "{{ list[?name == '{{ value }}'].hit | [0] }}", () => 'hit'],
    ['as a quoted key', '{{ map."{{ value }}" }}', () => 'hit'],
    [
      'as a quoted key of a hash',
      '{{ {"k{{ value }}": \'x\'} }}',
      (value) => JSON.parse(`{${JSON.stringify(`k${value}`)}: "x"}`) as Json,
    ],
    ['in a string of a literal', '{{ `["{{ value }}", 1]` }}', (value) => [value, 1]],
    ['two levels deep', '{{ \'{{ map."{{ value }}" }}\' }}', () => 'hit'],
  ])('it is data %s', (_name, template, expected) => {
    const render = renderer(template);
    fc.assert(
      fc.property(hostile, (value) => {
        const map = JSON.parse(`{${JSON.stringify(value)}: "hit"}`) as JsonObject;
        const list = [
          { name: 'another', hit: 'miss' },
          { name: value, hit: 'hit' },
        ].filter(({ name, hit }) => hit === 'hit' || name !== value);
        expect(render({ value, secret, map, list })).toEqual(expected(value));
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ['{{ map.{{ value }} }}'],
    ['{{ {{ value }} }}'],
    ['{{ list[{{ value }}] }}'],
    ['{{ map.a{{ value }} }}'],
    ['{{ `[{{ value }}]` }}'],
  ])('%s gives an evaluation error or something of its own, never the secret', (template) => {
    const render = renderer(template);
    fc.assert(
      fc.property(hostile, (value) => {
        fc.pre(value !== 'secret');
        try {
          expect(render({ value, secret, map: {}, list: [] })).not.toBe(secret);
        } catch (error) {
          expect(error).toBeInstanceOf(EvaluationError);
          expect((error as Error).message).not.toContain(secret);
        }
      }),
      { numRuns: 1000 },
    );
  });
});

describe('any template', () => {
  const text = fc
    .array(
      fc.constantFrom(
        '{{',
        '}}',
        '{{ value }}',
        '{{ zz }}',
        '\\{{',
        '"',
        "'",
        '`',
        ' ',
        'value',
        '.',
        '{',
        '}',
        '-',
        '@',
      ),
      { maxLength: 14 },
    )
    .map((parts) => parts.join(''));

  it('compiles with problems or renders with evaluation errors, and is not changed', () => {
    fc.assert(
      fc.property(text, text, (key, leaf) => {
        const template = { [key]: [leaf] };
        const before = JSON.stringify(template);
        const { reporter } = collectProblems();
        const compiled = compileTemplate(template, [], reporter);
        try {
          compiled.render(scopeOf({ value: 'v' }));
        } catch (error) {
          expect(error).toBeInstanceOf(EvaluationError);
        }
        expect(JSON.stringify(template)).toBe(before);
      }),
      { numRuns: 3000 },
    );
  });

  it('without braces is itself', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const json = JSON.parse(JSON.stringify(value).replaceAll('{{', '')) as Json;
        const { reporter } = collectProblems();
        const compiled = compileTemplate(json, [], reporter);
        expect(compiled.constant).toBe(true);
        expect(compiled.render(scopeOf({}))).toBe(json);
      }),
    );
  });

  it('writes any value into a text as Go would', () => {
    const render = renderer('<{{ value }}>');
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const json = JSON.parse(JSON.stringify(value)) as Json;
        expect(render({ value: json })).toBe(`<${textOf(json)}>`);
        if (typeof json !== 'string') expect(JSON.parse(textOf(json))).toEqual(json);
      }),
    );
  });
});
