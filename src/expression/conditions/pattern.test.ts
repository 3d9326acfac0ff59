import { describe, expect, it, test } from 'vitest';
import type { Json } from '../../json/value.ts';
import { compilePattern, formatScalar } from './pattern.ts';
import { compileTextPattern } from './pattern-text.ts';

type Row = readonly [pattern: Json, value: Json | undefined, expected: boolean];

function table(rows: readonly Row[]): void {
  test.each(rows)('%j over %j is %s', (pattern, value, expected) => {
    expect(compilePattern(pattern)(value)).toBe(expected);
  });
}

describe('a scalar compares as raw text', () => {
  table([
    ['true', true, true],
    [true, 'true', true],
    [5, '5', true],
    ['>2', 3, true],
    ['>2', 2, false],
    ['>=2', '2', true],
    ['<1Gi', '512Mi', true],
    ['<=1h', '60m', true],
    ['!nginx*', 'nginx:1', false],
    ['!nginx*', 'redis', true],
    ['a | b*', 'bc', true],
    ['a | b*', 'c', false],
    ['> 1 & < 10', 5, true],
    ['> 1 & < 10', 10, false],
    ['1-10', 10, true],
    ['1-10', 11, false],
    ['1!-10', 11, true],
    ['1!-10', 5, false],
    ['10m-1h', '30m', true],
    ['-5--1', -3, true],
    ['!5-10', 7, true],
    ['!5-10', '5-10', false],
    ['5-10', '5-10', true],
    ['>', '>', true],
    ['>a', 'b', false],
    ['*', '', true],
    ['?*', '', false],
    ['', '', true],
    ['', 'a', false],
    ['a|b', 'a|b', true],
    ['1000m', 1, true],
    [null, null, true],
    [null, 'null', true],
    [null, undefined, false],
    ['*', undefined, false],
    ['!x', undefined, false],
    ['*', { a: 1 }, false],
    ['a*', ['ab', 'ac'], true],
    ['a*', ['ab', 'b'], false],
  ]);
});

describe('a typed string pattern', () => {
  test.each([
    ['*', 5, true],
    ['5', 5, true],
    ['5*', 5, true],
    ['?', 5, false],
    ['5E+00', 5, true],
    ['!5', 5, false],
    ['true', true, true],
    ['*', null, false],
    ['!a', null, false],
    ['0', null, true],
    ['<1', null, true],
    ['a', ['a'], false],
  ] as const)('%j over %j is %s', (pattern, value, expected) => {
    expect(compileTextPattern(pattern)(value as Json)).toBe(expected);
  });
});

describe('a map matches member by member', () => {
  table([
    [{}, {}, true],
    [{}, { a: 1 }, true],
    [{}, 'a', false],
    [{ runAsUser: '>100' }, { runAsUser: 101 }, true],
    [{ runAsUser: '>100' }, { runAsUser: 100 }, false],
    [{ runAsUser: '<100' }, {}, false],
    [{ a: '*' }, { a: {} }, true],
    [{ a: '*' }, { a: null }, false],
    [{ a: '*' }, {}, false],
    [{ a: null }, {}, true],
    [{ a: null }, { a: 0 }, true],
    [{ a: null }, { a: '' }, true],
    [{ a: null }, { a: false }, true],
    [{ a: null }, { a: 'x' }, false],
    [{ a: true }, { a: true }, true],
    [{ a: true }, { a: 'true' }, false],
    [{ a: 5 }, { a: '5.0' }, true],
    [{ a: 5 }, { a: 6 }, false],
    [{ a: { b: 'x' } }, { a: { b: 'x', c: 1 } }, true],
    [{ a: { b: 'x' } }, { a: 'x' }, false],
    [{ a: 'x*' }, { a: ['x1', 'x2'] }, true],
    [{ constructor: '*' }, {}, false],
  ]);
});

describe('anchors inside a condition', () => {
  table([
    [{ '(a)': 'x', b: 'y' }, { a: 'x', b: 'y' }, true],
    [{ '(a)': 'x', b: 'y' }, { a: 'z', b: 'y' }, false],
    [{ '(a)': 'x' }, {}, false],
    [{ '<(a)': 'x' }, {}, true],
    [{ '<(a)': 'x' }, { a: 'y' }, false],
    [{ '=(a)': 'x' }, {}, true],
    [{ '=(a)': 'x' }, { a: 'y' }, false],
    [{ 'X(a)': null }, {}, true],
    [{ 'X(a)': null }, { a: 1 }, false],
    [{ '^(l)': [{ n: 'a' }] }, { l: [{ n: 'b' }, { n: 'a' }] }, true],
    [{ '^(l)': [{ n: 'a' }] }, { l: [{ n: 'b' }] }, false],
  ]);
});

describe('a list', () => {
  table([
    [[{ '(image)': '*x*' }], [{ image: 'a' }, { image: 'bxc' }], true],
    [[{ '(image)': '*x*' }], [{ image: 'a' }, { image: 'b' }], false],
    [[{ '(image)': '*x*' }], [], true],
    [[{ image: '*x*' }], [{ image: 'ax' }, { image: 'bx' }], true],
    [[{ image: '*x*' }], [{ image: 'ax' }, { image: 'b' }], false],
    [[{ image: '*x*' }], [], true],
    [
      [{ '(image)': 'x*', name: 'a' }],
      [
        { image: 'x1', name: 'a' },
        { image: 'y', name: 'b' },
      ],
      true,
    ],
    [
      [{ '(image)': 'x*', name: 'a' }],
      [
        { image: 'x1', name: 'b' },
        { image: 'y', name: 'b' },
      ],
      false,
    ],
    [[{ s: { '(a)': 1 } }], [{ s: { a: 1 } }, { s: { a: 2 } }], true],
    [['a*'], ['ab', 'ac'], true],
    [['a*'], ['ab', 'b'], false],
    [['a*'], 'ab', false],
    [[{ a: 1 }], { a: 1 }, false],
    [[], [], false],
    [[['a'], ['b']], [['a'], ['b'], ['c']], true],
    [[['a'], ['b']], [['a']], false],
    [{ l: ['>1'] }, { l: [2, 3] }, true],
  ]);
});

describe('wildcards in the keys of labels and annotations', () => {
  table([
    [{ metadata: { labels: { 'app*': '?*' } } }, { metadata: { labels: { 'app/name': 'x' } } }, true],
    [{ metadata: { labels: { 'app*': 'y' } } }, { metadata: { labels: { app1: 'x', app2: 'y' } } }, true],
    [{ metadata: { '(annotations)': { 'a*': 'y' } } }, { metadata: { annotations: { b: 'y' } } }, false],
    [{ metadata: { name: 'a', labels: { b: 'c' } } }, { metadata: { name: 'a', labels: { b: 'c' } } }, true],
    [{ metadata: { name: 'a', labels: { b: 'c' } } }, { metadata: { name: 'z', labels: { b: 'c' } } }, false],
    [{ metadata: { name: 'a' } }, { metadata: 'a' }, false],
    [{ labels: { 'app*': '?*' } }, { labels: { app1: 'x' } }, false],
  ]);
});

it('spells scalars as a manifest does', () => {
  expect([5, 0.5, true, null, 'a'].map(formatScalar)).toEqual(['5', '0.5', 'true', 'null', 'a']);
});
