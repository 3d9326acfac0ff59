import { describe, expect, it } from 'vitest';
import { findVariables, hasVariable, unescapeBraces } from './tokens.ts';

const expressions = (text: string) => findVariables(text).map((token) => token.expression);

describe('findVariables', () => {
  it.each([
    ['plain', []],
    ['{{ a }}', ['a']],
    ['{{a}}{{ b }}', ['a', 'b']],
    ['x-{{ a.b }}-y', ['a.b']],
    ['{{ a', []],
    ['a }}', []],
    ['{{ }}', ['']],
    ['{{ a } }', []],
    ['\\{{ a }}', []],
    ['\\\\{{ a }}', []],
    ['\\{{ a }} {{ b }}', ['b']],
    ['{{ {x: a} }}', ['{x: a}']],
    ['{{{x: a}}}', ['{x: a}']],
    ['{{{ a }}', ['a']],
    ['x{{{ a }} {{ b }}', ['a', 'b']],
    ['{{{ a } }', []],
    ['{{{{ a }}', ['a']],
    ['{{ {x: {y: a}} }}', []],
    ['{{ m."{{ k }}" }}', ['m."{{ k }}"']],
    ['{{ {x: {{ k }} } }}', ['{x: {{ k }} }']],
    ['{{ a {{ b }}', ['b']],
    ['{{ a } {{ b }}', ['b']],
    ['{"k":{{ a }}}', ['a']],
    ['{{ a }}}', ['a']],
    ["{{ contains(x, '\\{{') }}", []],
  ])('%s', (text, expected) => {
    expect(expressions(text)).toEqual(expected);
  });

  it('gives offsets of the token and of the expression in it', () => {
    expect(findVariables('ab{{-  c.d }}e')).toEqual([
      { start: 2, end: 13, expression: 'c.d', expressionStart: 7, shallow: true, levels: 1 },
    ]);
  });

  it('leaves the first of three braces outside the token', () => {
    expect(findVariables('x{{{ a }}')).toMatchObject([
      { start: 2, end: 9, expression: 'a', expressionStart: 5 },
    ]);
  });

  it('counts the levels of nesting', () => {
    expect(findVariables('{{a}} {{ b."{{c}}" }} {{ "{{ "{{d}}" }}" }}').map((token) => token.levels)).toEqual(
      [1, 2, 3],
    );
  });

  it('takes time in proportion to the text', () => {
    const text = '{{'.repeat(200_000);
    const before = process.cpuUsage().user;
    expect(findVariables(text)).toEqual([]);
    expect(findVariables(`${text}${'}}'.repeat(200_000)}`)).toHaveLength(1);
    expect(process.cpuUsage().user - before).toBeLessThan(2_000_000);
  });
});

describe('hasVariable', () => {
  it.each([
    ['{{ a }}', true],
    ['\\{{ a }}', false],
    ['{{ a', false],
    ['a', false],
  ])('%s: %s', (text, expected) => {
    expect(hasVariable(text)).toBe(expected);
  });
});

describe('unescapeBraces', () => {
  it('turns the escape into braces', () => {
    expect(unescapeBraces('a \\{{ b }} \\{{')).toBe('a {{ b }} {{');
  });
});
