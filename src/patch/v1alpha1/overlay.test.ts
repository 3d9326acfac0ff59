import { describe, expect, it } from 'vitest';
import type { Scope } from '../../expression/scope.ts';
import type { Json, JsonObject } from '../../json/value.ts';
import type { Reporter } from '../../problem.ts';
import { compileOverlay } from './overlay.ts';

const scope: Scope = {
  lookup: (name) => (name === 'x' ? 'bound' : undefined),
  snapshot: () => ({ x: 'bound' }),
  environment: { now: () => new Date(0), random: () => 0 },
};

function compile(overlay: Json) {
  const problems: string[] = [];
  const reporter: Reporter = {
    error: (path, code, message) => problems.push(`${path.join('/')} ${code}: ${message}`),
    warn: () => {},
  };
  return { patch: compileOverlay(overlay, ['overlay'], reporter), problems };
}

function run(overlay: Json, object: JsonObject) {
  const { patch, problems } = compile(overlay);
  expect(problems).toEqual([]);
  return patch?.apply(object, scope) ?? expect.fail('not compiled');
}

/** The object after the overlay; a second run must change nothing. */
function merged(overlay: Json, object: JsonObject): JsonObject {
  const result = run(overlay, object);
  if (result.status !== 'patched') expect.fail('skipped');
  const again = run(overlay, result.object);
  expect(again.status === 'patched' && again.object).toBe(result.object);
  return result.object;
}

describe('the examples of the documents', () => {
  it('A3: a limit is set or added', () => {
    const overlay = { spec: { hard: { 'limits.memory': '2Gi' } } };
    const quota = { spec: { hard: { 'limits.memory': '2Gi', cpu: '1' } } };
    expect(merged(overlay, { spec: { hard: { 'limits.memory': '9Gi', cpu: '1' } } })).toEqual(quota);
    expect(merged(overlay, { spec: { hard: { cpu: '1' } } })).toEqual(quota);
    expect(merged(overlay, {})).toEqual(overlay);
    expect(merged(overlay, quota)).toBe(quota);
  });

  it('A4: the address is in every subset once', () => {
    const overlay = { subsets: [{ addresses: [{ ip: '192.168.10.172' }] }] };
    const endpoints = {
      subsets: [
        { addresses: [{ ip: '10.0.0.1' }], ports: [{ port: 1 }] },
        { addresses: [{ ip: '192.168.10.172' }, { ip: '10.0.0.2' }] },
        { ports: [] },
      ],
    };
    expect(merged(overlay, endpoints)).toEqual({
      subsets: [
        { addresses: [{ ip: '10.0.0.1' }, { ip: '192.168.10.172' }], ports: [{ port: 1 }] },
        { addresses: [{ ip: '192.168.10.172' }, { ip: '10.0.0.2' }] },
        { ports: [], addresses: [{ ip: '192.168.10.172' }] },
      ],
    });
  });

  it('A5: only ports whose name matches', () => {
    const overlay = (pattern: string) => ({ subsets: [{ ports: [{ '(name)': pattern, port: 6443 }] }] });
    const ports = [
      { name: 'secure-1', port: 1 },
      { name: 'http', port: 2 },
      { name: 'securex' },
      { port: 4 },
    ];
    expect(merged(overlay('secure*'), { subsets: [{ ports }] })).toEqual({
      subsets: [
        {
          ports: [
            { name: 'secure-1', port: 6443 },
            { name: 'http', port: 2 },
            { name: 'securex', port: 6443 },
            { port: 4 },
          ],
        },
      ],
    });
    expect(merged(overlay('secure?'), { subsets: [{ ports }] })).toEqual({
      subsets: [{ ports: [ports[0], ports[1], { name: 'securex', port: 6443 }, ports[3]] }],
    });
  });
});

describe('values', () => {
  it.each<[string, Json, JsonObject, JsonObject]>([
    ['null deletes nothing', { a: null, b: { c: null } }, { a: 1, b: { c: 2 } }, { a: 1, b: { c: 2 } }],
    ['null creates nothing', { a: null, b: { c: null } }, {}, {}],
    ['an empty map is created', { v: { emptyDir: {} } }, {}, { v: { emptyDir: {} } }],
    ['an empty map empties nothing', { v: {} }, { v: { a: 1 } }, { v: { a: 1 } }],
    ['an empty list is created', { l: [] }, {}, { l: [] }],
    ['an empty list empties nothing', { l: [] }, { l: [1] }, { l: [1] }],
    ['a scalar replaces anything', { a: 1 }, { a: { b: 2 } }, { a: 1 }],
    ['a map replaces a scalar', { a: { b: 1 } }, { a: 'x' }, { a: { b: 1 } }],
    ['a list replaces a scalar', { a: [1] }, { a: 'x' }, { a: [1] }],
    ['a map replaces null', { a: { b: 1 } }, { a: null }, { a: { b: 1 } }],
  ])('%s', (_, overlay, object, expected) => {
    expect(merged(overlay, object)).toEqual(expected);
  });

  it.each(['__proto__', 'constructor'])('%s is a key like any other', (key) => {
    const result = merged(JSON.parse(`{"${key}":{"a":1}}`), {});
    expect(JSON.stringify(result)).toBe(`{"${key}":{"a":1}}`);
  });
});

describe('lists', () => {
  it.each<[string, Json, Json, Json]>([
    ['scalars are added once', ['a', 'b', 'b'], ['b', 'c'], ['b', 'c', 'a']],
    ['an item is added', [{ name: 'a', p: 1 }], [{ name: 'b' }], [{ name: 'b' }, { name: 'a', p: 1 }]],
    ['an equal item is not', [{ name: 'a', p: 1 }], [{ p: 1, name: 'a' }], [{ p: 1, name: 'a' }]],
    [
      'an item that differs anywhere is',
      [{ name: 'a' }],
      [{ name: 'a', p: 1 }],
      [{ name: 'a', p: 1 }, { name: 'a' }],
    ],
    ['nulls are not part of an added item', [{ name: 'a', x: null }, null], [], [{ name: 'a' }]],
    ['lists in lists are items', [[1]], [[2]], [[2], [1]]],
    ['an empty item is nothing', [{}], [{ a: 1 }], [{ a: 1 }]],
    [
      'a path leads into every item',
      [{ r: { cpu: '1' } }],
      [{ n: 1 }, { r: { m: 2 } }, 'x'],
      [{ n: 1, r: { cpu: '1' } }, { r: { m: 2, cpu: '1' } }, 'x'],
    ],
    ['an anchored item adds none', [{ '(name)': 'a', p: 1 }], [{ name: 'b' }], [{ name: 'b' }]],
    [
      'several anchored items are independent',
      [
        { '(name)': 'a', p: 1 },
        { '(name)': 'b', p: 2 },
      ],
      [{ name: 'a' }, { name: 'b' }],
      [
        { name: 'a', p: 1 },
        { name: 'b', p: 2 },
      ],
    ],
    [
      'all anchors of an item must hold',
      [{ '(name)': 'a*', '(kind)': 'k', p: 1 }],
      [
        { name: 'a', kind: 'x' },
        { name: 'ab', kind: 'k' },
      ],
      [
        { name: 'a', kind: 'x' },
        { name: 'ab', kind: 'k', p: 1 },
      ],
    ],
    [
      'anchors compare numbers as text',
      [
        { '(port)': '80*', p: 1 },
        { '(port)': 443, p: 2 },
      ],
      [{ port: 8080 }, { port: 443 }],
      [
        { port: 8080, p: 1 },
        { port: 443, p: 2 },
      ],
    ],
    [
      'an anchor in a map inside the item',
      [{ meta: { '(name)': 'a' }, p: 1 }],
      [{ meta: { name: 'a' } }, { meta: {} }],
      [{ meta: { name: 'a' }, p: 1 }, { meta: {} }],
    ],
    [
      'an anchor with a map as value',
      [{ '(sel)': { app: 'x*' }, p: 1 }],
      [{ sel: { app: 'xy' } }, { sel: { b: 'x' } }],
      [{ sel: { app: 'xy' }, p: 1 }, { sel: { b: 'x' } }],
    ],
    [
      'an anchor with a list as value',
      [{ '(args)': ['-v*'], p: 1 }],
      [{ args: ['a', '-vv'] }, { args: [] }],
      [{ args: ['a', '-vv'], p: 1 }, { args: [] }],
    ],
    [
      'anchors do not appear in an added item',
      [{ name: 'a', ports: [{ '(name)': 'x', p: 1 }] }],
      [],
      [{ name: 'a' }],
    ],
    [
      'an added item passes through the anchored ones',
      [
        { name: 'a', p: 1 },
        { '(name)': 'a', p: 2 },
      ],
      [],
      [{ name: 'a', p: 2 }],
    ],
  ])('%s', (_, overlay, list, expected) => {
    expect(merged({ l: overlay }, { l: list })).toEqual({ l: expected });
  });

  it('a list that is not there is created for items, not for paths and anchored items', () => {
    expect(merged({ l: [{ name: 'a' }] }, {})).toEqual({ l: [{ name: 'a' }] });
    const object = { kind: 'Pod' };
    expect(merged({ l: [{ r: { cpu: '1' } }] }, object)).toBe(object);
    expect(merged({ s: { l: [{ '(name)': 'a', p: 1 }] } }, object)).toBe(object);
  });
});

it.each<[Json, Json, boolean]>([
  ['*', 'a', true],
  ['*', '', true],
  ['*', null, false],
  ['*', {}, false],
  ['*', [], false],
  ['tru?', true, true],
  [null, null, true],
  [null, 'null', false],
  [{ app: '*' }, {}, false],
  [{ app: '*' }, { app: 'x' }, true],
  [{ app: '*' }, 'x', false],
  [{ '(app)': 'x' }, { app: 'x' }, true],
  [['a', 'b*'], ['bc', 'a'], true],
  [['a', 'b*'], ['a'], false],
  [['a'], 'a', false],
])('the anchor (k): %j and the value %j: %s', (expected, actual, holds) => {
  const result = run({ l: [{ '(k)': expected, p: 1 }] }, { l: [{ k: actual }] });
  expect(result.misses).toHaveLength(holds ? 0 : 1);
});

describe('anchors that do not hold', () => {
  it('outside a list they drop the whole overlay', () => {
    const overlay = { a: 1, metadata: { '(name)': 'web*', labels: { x: 'y' } } };
    expect(run(overlay, { metadata: { name: 'db' } })).toEqual({
      status: 'skipped',
      misses: [{ anchor: '(name)', path: ['metadata', 'name'], expected: 'web*', actual: 'db' }],
    });
    expect(run(overlay, {})).toMatchObject({ status: 'skipped', misses: [{ actual: undefined }] });
    expect(merged(overlay, { metadata: { name: 'web-1' } })).toEqual({
      a: 1,
      metadata: { name: 'web-1', labels: { x: 'y' } },
    });
  });

  it('in a list they are reported for each item they leave out', () => {
    const overlay = { l: [{ '(name)': 'a', p: 1 }] };
    const object = { l: [{ name: 'a', p: 1 }, { name: 'b' }, {}] };
    expect(run(overlay, object)).toEqual({
      status: 'patched',
      object,
      misses: [
        { anchor: '(name)', path: ['l', 1, 'name'], expected: 'a', actual: 'b' },
        { anchor: '(name)', path: ['l', 2, 'name'], expected: 'a', actual: undefined },
      ],
    });
  });
});

describe('at load', () => {
  it.each<[Json, string]>([
    [[], 'overlay KYM_PATCH_INVALID: the overlay must be a map'],
    [
      { a: { '+(b)': 1 } },
      'overlay/a/+(b) KYM_ANCHOR_UNSUPPORTED: an overlay does not support the anchor +(b)',
    ],
    [{ a: [{ 'X(b)': 1 }] }, 'overlay/a/0/X(b) KYM_ANCHOR_UNSUPPORTED'],
  ])('refuses %j', (overlay, message) => {
    const { patch, problems } = compile(overlay);
    expect(patch).toBeUndefined();
    expect(problems).toEqual([expect.stringContaining(message)]);
  });

  it('refuses endless nesting', () => {
    const deep = JSON.parse(`${'{"a":'.repeat(3000)}1${'}'.repeat(3000)}`);
    expect(compile(deep).problems).toEqual([expect.stringContaining('KYM_PATCH_TOO_DEEP')]);
  });

  it('fills in variables for each request', () => {
    expect(merged({ a: 'v-{{ x }}', l: ['{{ x }}'] }, { l: ['a'] })).toEqual({
      a: 'v-bound',
      l: ['a', 'bound'],
    });
    expect([...(compile({ a: '{{ x }}' }).patch?.roots ?? [])]).toEqual(['x']);
  });
});

it('never changes what it is given and shares what it does not touch', () => {
  const object = Object.freeze({ a: Object.freeze([Object.freeze({ n: 1 })]), b: Object.freeze({ c: 1 }) });
  const result = merged({ a: [{ n: 2 }] }, object);
  expect(result).toEqual({ a: [{ n: 1 }, { n: 2 }], b: { c: 1 } });
  expect(result.b).toBe(object.b);
});
