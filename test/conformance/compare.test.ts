import { describe, expect, it } from 'vitest';
import type { Json } from '../../src/json/value.ts';
import { type CompareMode, differences } from './compare.ts';
import { tidy } from './tidy.ts';

describe('differences', () => {
  const a = { name: 'a', image: 'x' };
  const b = { name: 'b', image: 'y' };

  it.each<[string, CompareMode, Json, Json, readonly string[]]>([
    ['equal values', 'exact', { k: [1, 'x', null] }, { k: [1, 'x', null] }, []],
    ['a changed value', 'exact', { k: 1 }, { k: '1' }, ['/k: expected 1, got "1"']],
    ['a missing member', 'exact', { k: 1 }, {}, ['/k: missing, expected 1']],
    ['a member too many', 'exact', {}, { k: 1 }, ['/k: not expected, got 1']],
    ['a member too many, partially', 'partial', {}, { k: 1 }, []],
    [
      'an item too many, partially',
      'partial',
      { l: [1] },
      { l: [1, 2] },
      ['/l: expected 1 items, got 2: [1,2]'],
    ],
    [
      'keyed items in another order, in order',
      'ordered',
      { args: [1], env: [a, b] },
      { args: [1], env: [b, a] },
      [
        '/env/0/name: expected "a", got "b"',
        '/env/0/image: expected "x", got "y"',
        '/env/1/name: expected "b", got "a"',
        '/env/1/image: expected "y", got "x"',
      ],
    ],
    ['keyed items in another order', 'exact', { containers: [a, b] }, { containers: [b, a] }, []],
    [
      'a keyed item that changed and moved',
      'exact',
      { containers: [a, b] },
      { containers: [b, { ...a, image: 'z' }] },
      ['/containers/0/image: expected "x", got "z"'],
    ],
    [
      'another keyed item',
      'exact',
      { containers: [a] },
      { containers: [b] },
      ['/containers/0: missing, expected {"name":"a","image":"x"}'],
    ],
    [
      'items without a merge key in another order',
      'exact',
      { args: ['1', '2'] },
      { args: ['2', '1'] },
      ['/args/0: expected "1", got "2"', '/args/1: expected "2", got "1"'],
    ],
  ])('%s', (_title, mode, expected, actual, found) => {
    expect(differences(expected, actual, mode)).toEqual(found);
  });
});

describe('tidy', () => {
  it('removes nulls, empty maps and empty lists until nothing changes', () => {
    expect(tidy({ a: null, b: { c: [] }, d: [{}, 0], e: '', f: false })).toEqual({ d: [0], e: '', f: false });
  });
});
