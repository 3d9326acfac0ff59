import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Json, JsonObject } from '../../json/value.ts';
import { PatchError } from '../compiled-patch.ts';
import { apply, compile, containers, pod, podSpec, run, widget } from './fixture.testing.ts';

describe('refused when the policy is loaded', () => {
  it.each([
    ['an overlay that is no map', [1], 'KYM_PATCH_INVALID', []],
    ['an equality anchor', { spec: { '=(a)': 1 } }, 'KYM_ANCHOR_UNSUPPORTED', ['spec', '=(a)']],
    [
      'a negation anchor',
      { spec: { list: [{ 'X(a)': null }] } },
      'KYM_ANCHOR_UNSUPPORTED',
      ['spec', 'list', 0, 'X(a)'],
    ],
    [
      'an existence anchor in a condition',
      { '(spec)': { '^(a)': [{ b: 1 }] } },
      'KYM_ANCHOR_UNSUPPORTED',
      ['(spec)', '^(a)'],
    ],
    [
      'a validation anchor below an addition in a condition',
      { '(spec)': { a: { '+(b)': { 'X(c)': 1 } } } },
      'KYM_ANCHOR_UNSUPPORTED',
      ['(spec)', 'a', '+(b)', 'X(c)'],
    ],
    ['an unknown strategy', { spec: { $patch: 'drop' } }, 'KYM_PATCH_DIRECTIVE', ['spec', '$patch']],
    [
      'an unknown strategy of a list',
      { spec: [{ $patch: 7 }] },
      'KYM_PATCH_DIRECTIVE',
      ['spec', 0, '$patch'],
    ],
    [
      'an order that is no list',
      { '$setElementOrder/a': 'x' },
      'KYM_PATCH_DIRECTIVE',
      ['$setElementOrder/a'],
    ],
    [
      'anchors in a list that is replaced',
      { l: [{ $patch: 'replace' }, { '(a)': 1 }] },
      'KYM_PATCH_DIRECTIVE',
      ['l'],
    ],
    [
      'conditions in a map that is replaced',
      { m: { $patch: 'replace', n: { '(a)': 1 } } },
      'KYM_PATCH_DIRECTIVE',
      ['m'],
    ],
    ['additions to what is deleted', { m: { $patch: 'delete', '+(n)': 1 } }, 'KYM_PATCH_DIRECTIVE', ['m']],
    ['deletion of the object', { $patch: 'delete' }, 'KYM_PATCH_INVALID', ['$patch']],
  ])('%s', (_title, overlay, code, path) => {
    const { patch, problems } = compile(overlay as Json);
    expect(patch).toBeUndefined();
    expect(problems).toMatchObject([{ code, path: ['mutate', 'patchStrategicMerge', ...path] }]);
  });

  it('all problems at once', () => {
    expect(compile({ '=(a)': 1, b: { 'X(c)': 1, $patch: 'no' } }).problems).toHaveLength(3);
  });

  it.each([
    ['maps', (inner: Json): Json => ({ a: inner })],
    ['lists', (inner: Json): Json => [inner]],
  ])('10,000 nested %s', (_title, wrap) => {
    let overlay: Json = 1;
    for (let depth = 0; depth < 10_000; depth++) overlay = wrap(overlay);
    expect(compile({ spec: overlay }).problems).toMatchObject([{ code: 'KYM_PATCH_TOO_DEEP' }]);
    expect(compile({ '(spec)': overlay }).problems).toMatchObject([{ code: 'KYM_PATCH_TOO_DEEP' }]);
  });
});

describe('failures on an object', () => {
  it.each([
    ['a map over a scalar', '{spec: {nodeName: {a: 1}}}', 'KYM_PATCH_MISMATCH', ['spec', 'nodeName']],
    ['a map over a list', '{spec: {containers: {a: 1}}}', 'KYM_PATCH_MISMATCH', ['spec', 'containers']],
    ['a list over a map', '{metadata: {labels: [1]}}', 'KYM_PATCH_MISMATCH', ['metadata', 'labels']],
    ['a list over a scalar', '{spec: {nodeName: [a]}}', 'KYM_PATCH_MISMATCH', ['spec', 'nodeName']],
    ['a scalar over a map', '{metadata: {labels: x}}', 'KYM_PATCH_MISMATCH', ['metadata', 'labels']],
    ['a scalar over a list', '{spec: {containers: 7}}', 'KYM_PATCH_MISMATCH', ['spec', 'containers']],
    [
      'an item without merge key or anchor',
      '{spec: {containers: [{image: z}]}}',
      'KYM_PATCH_KEY_MISSING',
      ['spec', 'containers'],
    ],
    [
      'an item without merge key, in a new list',
      '{spec: {volumes: [{emptyDir: {}}]}}',
      'KYM_PATCH_KEY_MISSING',
      ['spec', 'volumes'],
    ],
    [
      'a null merge key',
      '{spec: {containers: [{name: null, tty: true}]}}',
      'KYM_PATCH_KEY_MISSING',
      ['spec', 'containers'],
    ],
    [
      'a scalar in a keyed list',
      '{spec: {containers: [a]}}',
      'KYM_PATCH_KEY_MISSING',
      ['spec', 'containers'],
    ],
    [
      'the second merge key alone',
      '{spec: {containers: [{name: a, ports: [{protocol: TCP}]}]}}',
      'KYM_PATCH_KEY_MISSING',
      ['spec', 'containers', 0, 'ports'],
    ],
    [
      'an ambiguous item',
      '{spec: {topologySpreadConstraints: [{topologyKey: z, maxSkew: 2}]}}',
      'KYM_PATCH_KEY_MISSING',
      ['spec', 'topologySpreadConstraints'],
    ],
    [
      'deletion from a list without merge key',
      '{spec: {tolerations: [{key: a, $patch: delete}]}}',
      'KYM_PATCH_DIRECTIVE',
      ['spec', 'tolerations'],
    ],
  ])('%s', (_title, overlay, code, path) => {
    const before = pod(
      '{metadata: {labels: {a: b}}, spec: {nodeName: x, containers: [{name: a, ports: [{containerPort: 1}]}], topologySpreadConstraints: [{topologyKey: z, whenUnsatisfiable: A}, {topologyKey: z, whenUnsatisfiable: B}]}}',
    );
    let error: unknown;
    try {
      apply(overlay, before);
    } catch (caught) {
      error = caught;
    }
    expect(error).toBeInstanceOf(PatchError);
    expect(error).toMatchObject({ code, path });
  });

  it('a value nested beyond measure', () => {
    let element: Json = 1;
    for (let depth = 0; depth < 10_000; depth++) element = { a: element };
    expect(() => apply({ spec: '{{ element }}' }, widget('{}'), { element })).toThrow(
      expect.objectContaining({ code: 'KYM_PATCH_TOO_DEEP' }),
    );
  });
});

describe('outcomes', () => {
  it('return the object itself when nothing changes', () => {
    const before = pod(
      '{metadata: {labels: {a: b}}, spec: {containers: [{name: a, args: [x, y]}], tolerations: [{key: k}]}}',
    );
    const overlay = parse(
      '{metadata: {labels: {a: b, +(a): z}}, spec: {containers: [{name: a, args: [x, y]}, {(name): zz, tty: true}], tolerations: [{key: k}], nodeName: null}}',
    ) as Json;
    const result = run(overlay, before);
    expect(result).toMatchObject({ status: 'patched' });
    expect(result.status === 'patched' && result.object).toBe(before);
  });

  it('return the object itself when anchors find null instead of a list', () => {
    const before = podSpec('{containers: null}');
    expect(apply('spec: {containers: [{(name): a, tty: true}]}', before)).toBe(before);
  });

  it('return the object itself when a replaced map is what it was', () => {
    const before = podSpec('{securityContext: {a: {b: 1}}}');
    expect(apply('spec: {securityContext: {$patch: replace, a: {b: 1}}}', before)).toBe(before);
  });

  it('share what they did not touch', () => {
    const before = pod(
      '{metadata: {labels: {a: b}}, spec: {containers: [{name: a}, {name: b, env: [{name: E}]}]}}',
    );
    const after = apply('spec: {containers: [{name: a, tty: true}]}', before);
    expect(after['metadata']).toBe(before['metadata']);
    expect((after as never)['spec']['containers'][1]).toBe((before as never)['spec']['containers'][1]);
  });

  it('name the anchor that dropped the overlay', () => {
    expect(run({ spec: { '(hostNetwork)': true, x: 1 } }, podSpec('{hostNetwork: false}'))).toEqual({
      status: 'skipped',
      misses: [{ anchor: '(hostNetwork)', path: ['spec', 'hostNetwork'], expected: true, actual: false }],
    });
  });

  it('name the anchors that left out list items', () => {
    const overlay = { spec: { containers: [{ '(image)': '{{ element }}', tty: true }] } };
    expect(run(overlay, containers('[{name: a, image: x}, {name: b}]'), { element: 'y*' })).toMatchObject({
      status: 'patched',
      misses: [
        { anchor: '(image)', path: ['spec', 'containers', 0, 'image'], expected: 'y*', actual: 'x' },
        { anchor: '(image)', path: ['spec', 'containers', 1, 'image'], expected: 'y*', actual: undefined },
      ],
    });
  });
});

describe('hostile keys', () => {
  const hostile = (): JsonObject =>
    JSON.parse(
      '{"metadata":{"labels":{"__proto__":"x","constructor":"y","+(toString)":"z"}},"__proto__":{"a":1}}',
    ) as JsonObject;
  it('are members like any other', () => {
    const after = apply(hostile(), pod('{metadata: {labels: {a: b}}}'));
    expect(JSON.parse(JSON.stringify(after))).toEqual(
      JSON.parse(
        '{"apiVersion":"v1","kind":"Pod","metadata":{"labels":{"a":"b","__proto__":"x","constructor":"y","toString":"z"}},"__proto__":{"a":1}}',
      ),
    );
    expect(Object.getPrototypeOf(after)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>)['a']).toBeUndefined();
  });
  it('change nothing the second time', () => {
    const once = apply(hostile(), pod('{metadata: {labels: {a: b}}}'));
    expect(apply(hostile(), once)).toBe(once);
  });
  it('are not found in the object when it does not have them', () => {
    const before = pod('{metadata: {labels: {a: b}}}');
    expect(run(JSON.parse('{"(constructor)":"*","x":1}') as Json, before).status).toBe('skipped');
    expect(run(JSON.parse('{"(__proto__)":{},"x":1}') as Json, before).status).toBe('skipped');
  });
});
