// biome-ignore-all lint/suspicious/noTemplateCurlyInString: group references of Go look like placeholders
import { describe, expect, it, test } from 'vitest';
import { compileRegexp, regexpMatches, replaceRegexp, replaceRegexpLiteral } from './regexp.ts';

describe('replaceRegexp', () => {
  test.each([
    ['([a-z])at', 'cat bat', '${1}og', 'cog bog'],
    ['([a-z])at', 'cat bat', '$1og', ' '],
    ['([a-z])at', 'cat', '$1-og', 'c-og'],
    ['(?P<n>\\w)(\\w)', 'ab', '${n}$2$0', 'abab'],
    ['(?P<n>\\w)', 'ab', '$missing', ''],
    ['a', 'a', '$$', '$'],
    ['a', 'a', '$', '$'],
    ['a', 'a', '${', '${'],
    ['(a)|(b)', 'b', '[$1|$2]', '[|b]'],
    ['a*', 'baac', 'X', 'XbXcX'],
    ['', 'é😀', '-', '-é-😀-'],
    ['^', 'ab', '-', '-ab'],
    ['x', 'ab', '-', 'ab'],
  ])('%j in %j by %j gives %j', (pattern, text, template, expected) => {
    expect(replaceRegexp(pattern, text, template)).toBe(expected);
  });

  it('leaves a literal replacement alone', () => {
    expect(replaceRegexpLiteral('([a-z])at', 'cat bat', '${1}og')).toBe('${1}og ${1}og');
  });
});

it('matches anywhere', () => {
  expect([regexpMatches('b', 'abc'), regexpMatches('^b', 'abc'), regexpMatches('(?i)B', 'abc')]).toEqual([
    true,
    false,
    true,
  ]);
});

test.each([
  ['(', 'error parsing regexp: missing closing ): `(`'],
  ['(?=a)', 'error parsing regexp: invalid or unsupported Perl syntax: `(?=`'],
  ['(a)\\1', 'error parsing regexp: invalid escape sequence: `\\1`'],
  ['a{1001}', 'error parsing regexp: invalid repeat count: `{1001}`'],
  ['a'.repeat(10_001), 'longer than 10000 characters'],
])('refuses what Go refuses', (pattern, message) => {
  expect(() => compileRegexp(pattern)).toThrow(message);
});

it('takes linear time where backtracking would not end', () => {
  const started = performance.now();
  expect(regexpMatches('^(a+)+$', `${'a'.repeat(5000)}b`)).toBe(false);
  expect(performance.now() - started).toBeLessThan(1000);
});
