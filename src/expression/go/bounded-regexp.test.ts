import fc from 'fast-check';
import { RE2JS } from 're2js';
import { expect, it, test } from 'vitest';
import { boundedRegexp } from './bounded-regexp.ts';
import { replaceRegexpLiteral } from './regexp.ts';

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
