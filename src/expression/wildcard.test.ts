import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { compileWildcard, hasWildcard, matchesWildcard } from './wildcard.ts';

describe('compileWildcard', () => {
  test.each([
    ['', '', true],
    ['', 'a', false],
    ['a', 'a', true],
    ['a', 'A', false],
    ['*', '', true],
    ['*', 'a/b.c\nd', true],
    ['**', 'x', true],
    ['?', '', false],
    ['?', 'é', true],
    ['?', '😀', true],
    ['??', '😀', false],
    ['*?', '😀', true],
    ['a*??', 'a😀', false],
    ['a*??', 'a😀😀', true],
    ['?\uDE00', '😀', false],
    ['a?', 'a', false],
    ['a?', 'ab', true],
    ['?*', '', false],
    ['?*', 'x', true],
    ['a.c', 'abc', false],
    ['a\\*', 'a*', false],
    ['a\\*', 'a\\b', true],
    ['[ab]*', 'a', false],
    ['nginx:*', 'nginx:', true],
    ['nginx:*', 'nginx', false],
    ['*:latest', 'nginx:latest', true],
    ['*nginx*', 'x/nginx:1', true],
    ['*nginx*', 'ngin', false],
    ['ab*ba', 'aba', false],
    ['ab*ba', 'abba', true],
    ['a*b*c', 'aXbYc', true],
    ['a*b*c', 'acb', false],
    ['a*b?*c', 'abc', false],
    ['a*b?*c', 'abxc', true],
    ['*a*a*a', 'aa', false],
  ])('%j over %j is %s', (pattern, text, expected) => {
    expect(compileWildcard(pattern).matches(text)).toBe(expected);
    expect(matchesWildcard(pattern, text)).toBe(expected);
  });

  it('says whether the pattern is literal', () => {
    expect(compileWildcard('plain').literal).toBe(true);
    expect(compileWildcard('pl?in').literal).toBe(false);
    expect(compileWildcard('pl*in').pattern).toBe('pl*in');
    expect([hasWildcard('a'), hasWildcard('a*'), hasWildcard('?a')]).toEqual([false, true, true]);
  });

  it('agrees with the textbook recursive definition', () => {
    const word = fc.array(fc.constantFrom('a', 'b', '😀', '*', '?'), { maxLength: 9 });
    const plain = fc.array(fc.constantFrom('a', 'b', '😀'), { maxLength: 9 });
    fc.assert(
      fc.property(word, plain, (pattern, text) => {
        expect(compileWildcard(pattern.join('')).matches(text.join(''))).toBe(naive(pattern, text));
      }),
      { numRuns: 3000 },
    );
  });

  it('answers at once for patterns that make backtracking matchers explode', () => {
    const started = process.cpuUsage().user;
    expect(compileWildcard(`${'a*'.repeat(50)}b`).matches('a'.repeat(20_000))).toBe(false);
    expect(compileWildcard(`${'*a?'.repeat(50)}b`).matches('a'.repeat(20_000))).toBe(false);
    expect(process.cpuUsage().user - started).toBeLessThan(1_000_000);
  });
});

function naive(pattern: readonly string[], text: readonly string[]): boolean {
  const [head, ...rest] = pattern;
  if (head === undefined) return text.length === 0;
  if (head === '*') return naive(rest, text) || (text.length > 0 && naive(pattern, text.slice(1)));
  return text.length > 0 && (head === '?' || head === text[0]) && naive(rest, text.slice(1));
}
