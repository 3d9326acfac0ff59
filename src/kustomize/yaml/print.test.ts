import fc from 'fast-check';
import { loadAll } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { parseDocument } from 'yaml';
import { anyText } from '../../json/text.testing.ts';
import type { Json, JsonObject } from '../../json/value.ts';
import { compareKeys } from './key-order.ts';
import { printYaml } from './print.ts';
import { plainValue, readResourceYaml } from './read.ts';

const printed = (value: Json) => printYaml({ k: value }).slice(3).trimStart();

describe('printYaml (C-04)', () => {
  it.each<[Json, string]>([
    ['text', 'text\n'],
    ['yes', '"yes"\n'],
    ['1_000', '"1_000"\n'],
    ['1:30', '"1:30"\n'],
    ['2020-1-1', '"2020-1-1"\n'],
    ['2020-13-1', '2020-13-1\n'],
    ['<<', '<<\n'],
    ['a: b', "'a: b'\n"],
    ['-', "'-'\n"],
    ['?a', '?a\n'],
    ["it's", "it's\n"],
    ["'a", "'''a'\n"],
    ['a\tb', '"a\\tb"\n'],
    ['😀', '"\\U0001F600"\n'],
    ['', '""\n'],
    ['a\nb', '|-\n  a\n  b\n'],
    ['a\n', '|\n  a\n'],
    ['a\n\n', '|+\n  a\n\n'],
    [' a\nb', '|2-\n   a\n  b\n'],
    ['a \nb', '"a \\nb"\n'],
    [1.5, '1.5\n'],
    [1e6, '1000000\n'],
    [1234567.5, '1.2345675e+06\n'],
    [1e21, '1e+21\n'],
    [0.00001, '1e-05\n'],
    [2 ** 64, '1.8446744073709552e+19\n'],
    [null, 'null\n'],
    [{}, '{}\n'],
    [[[1], {}], '- - 1\n- {}\n'],
  ])('prints %j as kustomize does', (value, text) => {
    expect(printed(value)).toBe(text);
  });

  it('breaks a line at the first blank beyond 80 columns', () => {
    const text = `${'x'.repeat(78)} y z`;
    expect(printed(text)).toBe(`${'x'.repeat(78)}\n  y z\n`);
  });

  it('reads its own text back as the same value', () => {
    const text = fc.oneof(anyText(), fc.stringMatching(/^[-+.0-9a-fxoe_: \n'"#?]{0,40}$/));
    const { value } = fc.letrec<{ value: Json }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        text.map((item) => item.replace(/[\u0085\u2028\u2029\u007f]/g, '')),
        // A whole number that large is read as what it says, not as the nearest double.
        fc
          .double({ noNaN: true, noDefaultInfinity: true })
          .filter((number) => !Number.isInteger(number) || Number.isSafeInteger(number))
          .map((number) => number + 0),
        fc.maxSafeInteger(),
        fc.constantFrom<Json>(null, true, false),
        fc.array(tie('value') as fc.Arbitrary<Json>),
        fc.dictionary(fc.string(), tie('value') as fc.Arbitrary<Json>) as fc.Arbitrary<JsonObject>,
      ),
    }));
    fc.assert(
      fc.property(value, (item) => {
        const [read] = readResourceYaml(printYaml({ k: item })).map(plainValue);
        expect(read).toEqual({ k: item });
      }),
    );
  });
});

describe('strings that kustomize prints so that kubectl reads another value', () => {
  it.each([
    ['a merge key', { '<<': 'x' }, '"<<": x\n'],
    ['a number with an underscore after a leading dot', { k: '.1_000' }, 'k: ".1_000"\n'],
    ['a key with a line break', { ':\n a ': 'x' }, '? ":\\n a "\n: x\n'],
    ['a line separator in a block', { k: '\u2028a\nb' }, 'k: "\\La\\nb"\n'],
    ['a carriage return', { k: 'a\rb' }, 'k: "a\\rb"\n'],
    ['a block that begins with a line break', { 東: '\n ."' }, '東: |2-\n\n   ."\n'],
  ])('%s is printed so that all readers agree', (_, object, text) => {
    expect(printYaml(object)).toBe(text);
    expect(loadAll(text)).toEqual([object]);
    expect(parseDocument(text).toJS()).toEqual(object);
  });
});

describe('compareKeys (C-04)', () => {
  it('sorts numbers by value and letters last', () => {
    const keys = ['b', 'a10', 'a2', 'a', 'A', '_', '10', '9', 'a-b', 'a.b', 'é', 'a02'];
    expect(keys.sort(compareKeys)).toEqual([
      '_',
      '9',
      '10',
      'A',
      'a',
      'a-b',
      'a.b',
      'a2',
      'a02',
      'a10',
      'b',
      'é',
    ]);
  });
});
