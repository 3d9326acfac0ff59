// biome-ignore-all lint/suspicious/noTemplateCurlyInString: group references of Go look like placeholders

import fc from 'fast-check';
import { RE2JS } from 're2js';
import { describe, expect, it, test } from 'vitest';
import {
  boundedRegexp,
  compileRegexp,
  findSpans,
  regexpMatches,
  replaceRegexp,
  replaceRegexpLiteral,
} from './regexp.ts';

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
  const started = process.cpuUsage().user;
  expect(regexpMatches('^(a+)+$', `${'a'.repeat(5000)}b`)).toBe(false);
  expect(process.cpuUsage().user - started).toBeLessThan(2_000_000);
});

test.each(['^(docker.io/)?', '^a', 'b$', 'a|b', '(?:x|y)z?', String.raw`\.svc$`, 'a.c'])(
  '%s is bounded',
  (pattern) => {
    expect(boundedRegexp(pattern)).toBeInstanceOf(RegExp);
  },
);

test.each([
  'a*',
  'a+',
  'a{2}',
  '[ab]',
  String.raw`\d`,
  String.raw`\b`,
  'a??',
  '(?i)a',
  '(?P<n>a)',
  '(?=a)',
  'a^b',
  'a$b',
  '?',
  '(a',
  'a?a?a?a?a?a?a?a?a?',
  'x'.repeat(201),
  '',
])('%s is left to the other engine', (pattern) => {
  expect(boundedRegexp(pattern)).toBeUndefined();
});

it('finds what the other engine finds', () => {
  const piece = fc.constantFrom('a', 'b', '.', '\\.', '(a|b)', '(?:ab)?', 'a?', '|', '(b|)', '/');
  const pattern = fc
    .tuple(fc.boolean(), fc.array(piece, { minLength: 1, maxLength: 6 }), fc.boolean())
    .map(([start, parts, end]) => `${start ? '^' : ''}${parts.join('')}${end ? '$' : ''}`);
  const text = fc.array(fc.constantFrom('a', 'b', '.', '/', '\n', '\r', '\u2028', 'é', '😀'), {
    maxLength: 8,
  });
  fc.assert(
    fc.property(pattern, text, (source, letters) => {
      const regexp = boundedRegexp(source);
      if (regexp === undefined) return;
      const subject = letters.join('');
      const found = [...subject.matchAll(regexp)].map((match) => [match.index, match[0]]);
      const matcher = RE2JS.compile(source).matcher(subject);
      const expected: unknown[] = [];
      while (matcher.find()) expected.push([matcher.start(), matcher.group()]);
      expect(found).toEqual(expected);
    }),
    { numRuns: 2_000 },
  );
});

it('finds spans where the other engine finds them', () => {
  const pattern = fc.constantFrom('^(a/)?', 'a?', 'a|', 'b$', '(a|b)?/', '.', 'ab', 'a*', '[ab]');
  const text = fc.array(fc.constantFrom('a', 'b', '/', '\n', '😀'), { maxLength: 8 });
  fc.assert(
    fc.property(pattern, text, (source, letters) => {
      const subject = letters.join('');
      const matcher = RE2JS.compile(source).matcher(subject);
      const expected: (readonly [number, number])[] = [];
      while (matcher.find()) {
        // Go ignores an empty match directly after another match.
        if (matcher.end() !== expected.at(-1)?.[1]) expected.push([matcher.start(), matcher.end()]);
      }
      expect([...findSpans(source, subject)]).toEqual(expected);
    }),
  );
});

it('finds spans although another search uses the same expression meanwhile', () => {
  const spans = findSpans('ab', 'ab ab');
  spans.next();
  regexpMatches('ab', 'x');
  expect(spans.next().value).toEqual([3, 5]);
});

it('replaces what the other engine replaces', () => {
  const pattern = fc.constantFrom('^(a/)?', 'a?', 'a|', 'b$', '(a|b)?/', '.', 'ab');
  const text = fc.array(fc.constantFrom('a', 'b', '/', '\n', '😀'), { maxLength: 8 });
  fc.assert(
    fc.property(pattern, text, (source, letters) => {
      const subject = letters.join('');
      // Brackets around a class keep the pattern's meaning, and send it to the other engine.
      expect(replaceRegexpLiteral(source, subject, '<$1>')).toBe(
        replaceRegexpLiteral(`(?:${source}|[^\\x00-\\x{10FFFF}])`, subject, '<$1>'),
      );
    }),
    { numRuns: 2_000 },
  );
});
