import { describe, expect, it, test } from 'vitest';
import { compareVersions, compileVersionRange, parseVersion } from './semver-range.ts';

function order(a: string, b: string): number {
  const [x, y] = [parseVersion(a), parseVersion(b)];
  if (x === undefined || y === undefined) throw new Error(`${a} or ${b} is no version`);
  return Math.sign(compareVersions(x, y));
}

test.each(['v1.2.3', '1.2', '1', '', '1.2.3.4', '01.2.3', '1.2.3-', '1.2.3-01', '1.2.3+', ' 1.2.3', '1.x.0'])(
  '%j is no version',
  (text) => {
    expect(parseVersion(text)).toBeUndefined();
  },
);

it('orders versions by precedence', () => {
  const ascending = [
    '0.0.1',
    '1.0.0-alpha',
    '1.0.0-alpha.1',
    '1.0.0-alpha.beta',
    '1.0.0-beta.2',
    '1.0.0-beta.11',
    '1.0.0-rc.1',
    '1.0.0',
    '1.2.0',
    '1.10.0',
    '10.0.0',
  ];
  for (const [i, a] of ascending.entries()) {
    for (const [j, b] of ascending.entries()) expect(order(a, b)).toBe(Math.sign(i - j));
  }
  expect(order('1.0.0+a', '1.0.0+b')).toBe(0);
});

describe('compileVersionRange', () => {
  test.each([
    ['>=1.0.0', '1.2.3', true],
    ['>1.0.0 <2.0.0 || 5.x', '1.5.0', true],
    ['>1.0.0 <2.0.0 || 5.x', '2.0.0', false],
    ['>1.0.0 <2.0.0 || 5.x', '5.9.9', true],
    ['> 1.0.0', '1.0.1', true],
    ['>1.0.0', '1.0.0', false],
    ['<=1.2.3', '1.2.3', true],
    ['<=1.2.3', '1.2.4', false],
    ['<1.2.3', '1.2.3', false],
    ['1.2.x', '1.2.9', true],
    ['1.2.x', '1.3.0', false],
    ['1.x.x', '1.9.0', true],
    ['<=1.2.x', '1.2.99', true],
    ['<=1.2.x', '1.3.0', false],
    ['<1.2.x', '1.2.0', false],
    ['>1.x', '2.0.0', true],
    ['>1.x', '1.9.9', false],
    ['>=1.2.x', '1.2.0', true],
    ['!1.2.3', '1.2.3', false],
    ['!=1.2.3', '1.2.4', true],
    ['!1.2.x', '1.2.4', false],
    ['!1.2.x', '1.3.0', true],
    ['==1.0.0', '1.0.0', true],
    ['<1.0.0-beta.2', '1.0.0-alpha', true],
    ['>=1.2.3 !1.2.4', '1.2.4', false],
  ])('%j with %s is %s', (range, text, expected) => {
    const version = parseVersion(text);
    expect(version !== undefined && compileVersionRange(range)(version)).toBe(expected);
  });

  test.each([
    ['||', "First element in range is '||'"],
    ['>1.0.0 ||', "Last element in range is '||'"],
    ['abc', 'Could not get version from string: "abc"'],
    ['>=1.2', 'Could not parse Range ">=1.2": "1.2" is not a version'],
    ['~1.2.3', 'Could not parse Range "~1.2.3": unknown comparator'],
  ])('refuses %j', (range, message) => {
    expect(() => compileVersionRange(range)).toThrow(message);
  });
});
