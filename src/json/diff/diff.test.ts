import { describe, expect, it } from 'vitest';
import { applyPatch } from '../patch/apply-patch.ts';
import type { PatchOperation } from '../patch/operation.ts';
import type { Json, JsonObject } from '../value.ts';
import { diff } from './diff.ts';

const item = (name: string, extra: JsonObject = {}) => ({ name, image: `registry/${name}:1`, ...extra });

describe('diff of objects', () => {
  it.each<[string, Json, Json, PatchOperation[]]>([
    ['nothing', { a: [1] }, { a: [1] }, []],
    ['another order of members is no change', { a: 1, b: 2 }, { b: 2, a: 1 }, []],
    ['the root', 1, 2, [{ op: 'replace', path: '', value: 2 }]],
    ['object to list', { a: {} }, { a: [] }, [{ op: 'replace', path: '/a', value: [] }]],
    ['null to object', { m: null }, { m: { a: 1 } }, [{ op: 'replace', path: '/m', value: { a: 1 } }]],
    ['to null', { m: 1 }, { m: null }, [{ op: 'replace', path: '/m', value: null }]],
    ['keys are escaped', {}, { 'a/b~c': 1 }, [{ op: 'add', path: '/a~1b~0c', value: 1 }]],
    [
      'members in the order of the result, removed members last',
      { gone: 1, b: { c: 1 } },
      { z: 1, b: { c: 2, d: 1 } },
      [
        { op: 'add', path: '/z', value: 1 },
        { op: 'replace', path: '/b/c', value: 2 },
        { op: 'add', path: '/b/d', value: 1 },
        { op: 'remove', path: '/gone' },
      ],
    ],
  ])('%s', (_, before, after, operations) => {
    expect(diff(before, after)).toEqual(operations);
  });

  it.each(['__proto__', 'constructor', 'toString'])('takes %s for a key like any other', (key) => {
    const with1 = JSON.parse(`{"${key}":1}`);
    expect(diff({}, with1)).toEqual([{ op: 'add', path: `/${key}`, value: 1 }]);
    expect(diff(with1, {})).toEqual([{ op: 'remove', path: `/${key}` }]);
  });

  it('does not look into shared subtrees', () => {
    const shared = new Proxy({ a: 1 }, { ownKeys: () => expect.fail('looked into') });
    expect(diff({ shared, x: 1 }, { shared, x: 2 })).toEqual([{ op: 'replace', path: '/x', value: 2 }]);
  });
});

describe('diff of lists', () => {
  const thirty = Array.from({ length: 30 }, (_, index) => item(`c${index}`));

  it('prepending one item to a list of thirty is one add', () => {
    expect(diff(thirty, [item('new'), ...thirty])).toEqual([{ op: 'add', path: '/0', value: item('new') }]);
  });

  it.each<[string, Json[], Json[], PatchOperation[]]>([
    ['append', [1, 2], [1, 2, 3], [{ op: 'add', path: '/2', value: 3 }]],
    ['remove in the middle', [1, 2, 3], [1, 3], [{ op: 'remove', path: '/1' }]],
    ['replace a scalar', [1, 2, 3], [1, 9, 3], [{ op: 'replace', path: '/1', value: 9 }]],
    ['an item equal to its neighbour comes', [1], [1, 1], [{ op: 'add', path: '/1', value: 1 }]],
    ['an item equal to its neighbour goes', [1, 1], [1], [{ op: 'remove', path: '/1' }]],
    ['empty it', [1], [], [{ op: 'remove', path: '/0' }]],
    [
      'shift by one',
      ['a', 'b'],
      ['b', 'c'],
      [
        { op: 'remove', path: '/0' },
        { op: 'add', path: '/1', value: 'c' },
      ],
    ],
    [
      'remove several: each index counts after the operations before it',
      [1, 2, 3, 4, 5],
      [2, 4],
      [
        { op: 'remove', path: '/0' },
        { op: 'remove', path: '/1' },
        { op: 'remove', path: '/2' },
      ],
    ],
    [
      'an item changed in place is patched inside',
      [item('a'), item('b'), item('c')],
      [item('a'), item('b', { image: 'x' }), item('c')],
      [{ op: 'replace', path: '/1/image', value: 'x' }],
    ],
    [
      'an item in front and another changed',
      [item('a'), item('b')],
      [item('new'), item('a', { pull: 'Always' }), item('b')],
      [
        { op: 'add', path: '/0', value: item('new') },
        { op: 'add', path: '/1/pull', value: 'Always' },
      ],
    ],
    [
      'an item gone and another changed',
      [item('a'), item('b'), item('c')],
      [item('b', { pull: 'Always' }), item('c')],
      [
        { op: 'remove', path: '/0' },
        { op: 'add', path: '/0/pull', value: 'Always' },
      ],
    ],
    [
      'as many items as before, yet others: the one that stays is patched in place',
      [item('a'), item('b')],
      [item('b', { pull: 'Always' }), item('c')],
      [
        { op: 'remove', path: '/0' },
        { op: 'add', path: '/0/pull', value: 'Always' },
        { op: 'add', path: '/1', value: item('c') },
      ],
    ],
    [
      'without a name, the first scalar tells which item it is',
      [{ containerPort: 80 }, { containerPort: 443 }],
      [
        { containerPort: 9090 },
        { containerPort: 80, protocol: 'TCP' },
        { containerPort: 443, protocol: 'UDP' },
      ],
      [
        { op: 'add', path: '/0', value: { containerPort: 9090 } },
        { op: 'add', path: '/1/protocol', value: 'TCP' },
        { op: 'add', path: '/2/protocol', value: 'UDP' },
      ],
    ],
    [
      'quite another item is replaced whole when that is shorter',
      [{ name: 'a', image: 'x', args: ['1'], env: [] }],
      [{ name: 'b', image: 'y', ports: [80] }],
      [{ op: 'replace', path: '/0', value: { name: 'b', image: 'y', ports: [80] } }],
    ],
    [
      'many small operations give way to one replace',
      [1, 2, 3, 4, 5, 6],
      [9, 8, 7, 60, 50, 40],
      [{ op: 'replace', path: '', value: [9, 8, 7, 60, 50, 40] }],
    ],
  ])('%s', (_, before, after, operations) => {
    expect(diff(before, after)).toEqual(operations);
    expect(applyPatch(before, operations)).toEqual(after);
  });

  it('patches every item in place when all of them changed', () => {
    const changed = thirty.map((container) => ({ ...container, pull: 'Always' }));
    const operations = diff(thirty, changed);
    expect(operations).toHaveLength(30);
    expect(operations[29]).toEqual({ op: 'add', path: '/29/pull', value: 'Always' });
  });
});

describe('diff of huge lists', () => {
  const many = Array.from({ length: 2000 }, (_, index) => item(`c${index}`, { index }));

  it('finds two insertions far apart among items that share their first scalar', () => {
    const rules = Array.from({ length: 3000 }, (_, index) => ({
      protocol: 'TCP',
      ports: [index],
      port: index,
    }));
    const after = rules.toSpliced(10, 0, { protocol: 'UDP', ports: [], port: -1 });
    after.splice(2500, 0, { protocol: 'UDP', ports: [], port: -2 });
    expect(diff(rules, after).map(({ op, path }) => [op, path])).toEqual([
      ['add', '/10'],
      ['add', '/2500'],
    ]);
  });

  it('patches changed items in place although others come and go', () => {
    const after = many.map((entry, index) => (index % 500 === 7 ? { ...entry, image: 'changed' } : entry));
    after.splice(1000, 1);
    after.splice(3, 0, item('new'));
    expect(diff(many, after).map(({ op, path }) => [op, path])).toEqual([
      ['add', '/3'],
      ['replace', '/8/image'],
      ['replace', '/508/image'],
      ['remove', '/1001'],
      ['replace', '/1007/image'],
      ['replace', '/1507/image'],
    ]);
  });

  it.each<[string, Json[]]>([
    ['reversed', many.toReversed()],
    ['all changed', many.map((_, index) => item(`c${index}`, { index: index + 1, more: true }))],
    ['all others', many.map((_, index) => item(`other${index}`))],
    ['nested lists', many.map((_, index) => [index, [index]])],
  ])('2,000 items, %s: right, and in near linear time', (_, after) => {
    const started = process.cpuUsage().user;
    const operations = diff(many, after);
    expect(process.cpuUsage().user - started).toBeLessThan(2_000_000);
    expect(applyPatch(many, operations)).toEqual(after);
  });
});
