import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../json/value.ts';
import { builtInSchema } from './built-in.ts';
import { openApiOfCrd } from './crd.ts';
import { mergeStructured } from './merge.ts';
import { schemaFromOpenApi } from './openapi.ts';
import type { StructuredSchema } from './schema.ts';

const pod = builtInSchema('v1', 'Pod') as StructuredSchema;

function merge(
  object: JsonObject,
  configuration: JsonObject,
  atomics: 'refuse' | 'replace' = 'refuse',
): JsonObject {
  return mergeStructured(object, configuration, pod, { atomics });
}

const names = (...list: readonly string[]): JsonObject => ({
  spec: { containers: list.map((name) => ({ name })) },
});

describe('mergeStructured', () => {
  it.each([
    ['keeps the order of the object', ['a', 'b'], ['b'], ['a', 'b']],
    ['appends new items', ['a', 'b'], ['c'], ['a', 'b', 'c']],
    ['puts a new item before a shared one', ['a', 'b'], ['c', 'a'], ['c', 'a', 'b']],
    ['puts a new item between shared ones', ['a', 'b'], ['a', 'c', 'b'], ['a', 'c', 'b']],
    ['takes the order of the configuration for shared items', ['a', 'b'], ['b', 'a'], ['b', 'a']],
    ['keeps items that only the object has', ['x', 'a', 'y', 'b'], ['b', 'a'], ['x', 'y', 'b', 'a']],
    ['merges into some of the items', ['a', 'x', 'b', 'y'], ['a', 'b'], ['a', 'x', 'b', 'y']],
    ['replaces items that the object has twice', ['a', 'x', 'a'], ['a'], ['a', 'x']],
    [
      'merges into some of many items',
      ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'],
      ['b', 'j'],
      ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'],
    ],
  ])('%s', (_, live, configured, expected) => {
    expect(merge(names(...live), names(...configured))).toEqual(names(...expected));
  });

  it('merges items by key, and maps by name', () => {
    const live = { metadata: { labels: { a: '1' } }, spec: { containers: [{ name: 'm', image: 'x' }] } };
    expect(
      merge(live, { metadata: { labels: { b: '2' } }, spec: { containers: [{ name: 'm', tty: true }] } }),
    ).toEqual({
      metadata: { labels: { a: '1', b: '2' } },
      spec: { containers: [{ name: 'm', image: 'x', tty: true }] },
    });
  });

  it('uses the default of a key that an item omits', () => {
    const live = { spec: { containers: [{ name: 'm', ports: [{ containerPort: 80 }] }] } };
    const configured = {
      spec: { containers: [{ name: 'm', ports: [{ containerPort: 80, protocol: 'TCP', name: 'http' }] }] },
    };
    expect(merge(live, configured)).toEqual({
      spec: { containers: [{ name: 'm', ports: [{ containerPort: 80, protocol: 'TCP', name: 'http' }] }] },
    });
  });

  it('joins sets', () => {
    const result = merge({ metadata: { finalizers: ['a', 'b'] } }, { metadata: { finalizers: ['c', 'a'] } });
    expect(result).toEqual({ metadata: { finalizers: ['c', 'a', 'b'] } });
  });

  it('replaces atomic lists only when that is allowed', () => {
    const live = { spec: { containers: [{ name: 'm', args: ['a'] }] } };
    const configured = { spec: { containers: [{ name: 'm', args: ['b'] }] } };
    expect(() => merge(live, configured)).toThrow('.spec.containers[0].args');
    expect(merge(live, configured, 'replace')).toEqual(configured);
  });

  it('replaces an item that the object has twice', () => {
    const live = names('a', 'b', 'a');
    expect(merge(live, names('a'))).toEqual(names('a', 'b'));
  });

  it.each<[string, JsonObject, string]>([
    ['an unknown field', { spec: { futureField: 1 } }, '.spec.futureField: field not declared in schema'],
    [
      'a value of another type',
      { spec: { hostNetwork: 'yes' } },
      '.spec.hostNetwork: expected boolean, got string',
    ],
    ['a list instead of a map', { spec: [] }, '.spec: expected map, got list'],
    ['null', { metadata: { labels: { a: null } } }, '.metadata.labels.a: null'],
    ['a key that occurs twice', names('a', 'a'), '.spec.containers: duplicate entries for key [name="a"]'],
    [
      'a scalar in a keyed list',
      { spec: { containers: ['a'] } },
      '.spec.containers[0]: expected map, got string',
    ],
  ])('refuses %s', (_, configured, message) => {
    expect(() => merge({ spec: {} }, configured)).toThrow(message);
  });

  it.each<[string, JsonObject, string]>([
    ['an unknown field', { nope: 1 }, '.nope: field not declared in schema'],
    [
      'an atomic list',
      { spec: { containers: [{ name: 'm', args: ['b'] }] } },
      'may not mutate atomic arrays',
    ],
    ['a key that occurs twice', names('a', 'a'), 'duplicate entries for key [name="a"]'],
  ])('reports %s before what does not fit the object', (_, configured, message) => {
    const live = { metadata: { labels: 'none' } };
    const metadata = { labels: { a: 'b' } };
    expect(() => merge(live, { metadata })).toThrow('.metadata.labels: the object has no map here');
    expect(() => merge(live, { metadata, ...configured })).toThrow(message);
  });

  it.each([
    ['occurs twice', names('a', 'a'), names('a', 'a'), '.spec.containers: duplicate entries'],
    [
      'has an unknown field',
      names('a', 'b'),
      { spec: { containers: [{ name: 'a', nope: 1 }, { name: 'b' }] } },
      '.spec.containers[0].nope: field not declared',
    ],
  ])('refuses an item that %s, although the object has all items', (_, live, configured, message) => {
    expect(() => merge(live, configured)).toThrow(message);
  });

  it('keeps fields of the object that the schema does not know', () => {
    const live = { spec: { futureField: 1, containers: [] } };
    expect(merge(live, { spec: { hostNetwork: true } })).toEqual({
      spec: { futureField: 1, containers: [], hostNetwork: true },
    });
  });

  it('returns the object itself when it is applied again, and never loses an item', () => {
    const list = fc.uniqueArray(fc.constantFrom<string>('a', 'b', 'c', 'd', 'e', 'f'));
    fc.assert(
      fc.property(list, list, (live, configured) => {
        const once = merge(names(...live), names(...configured));
        expect(merge(once, names(...configured))).toBe(once);
        const containers = (once['spec'] as { containers: { name: string }[] }).containers;
        expect(new Set(containers.map(({ name }) => name))).toEqual(new Set([...live, ...configured]));
        const order = containers.map(({ name }) => name).filter((name) => configured.includes(name));
        expect(order).toEqual(configured);
      }),
    );
  });
});

describe('the schema of a CustomResourceDefinition', () => {
  const crd: JsonObject = {
    spec: {
      group: 'example.com',
      names: { kind: 'Widget' },
      versions: [
        {
          name: 'v1',
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: {
                spec: {
                  type: 'object',
                  properties: {
                    size: { 'x-kubernetes-int-or-string': true },
                    free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
                    parts: {
                      type: 'array',
                      'x-kubernetes-list-type': 'map',
                      'x-kubernetes-list-map-keys': ['id'],
                      items: {
                        type: 'object',
                        properties: { id: { type: 'string' }, n: { type: 'integer' } },
                      },
                    },
                    tags: { type: 'array', items: { type: 'string' } },
                  },
                },
              },
            },
          },
        },
      ],
    },
  };
  const widget = schemaFromOpenApi(openApiOfCrd(crd), 'example.com/v1', 'Widget') as StructuredSchema;

  it('merges as it says', () => {
    const live = { spec: { parts: [{ id: 'a', n: 1 }], free: { x: { y: 1 } } } };
    const configured = {
      metadata: { labels: { a: 'b' } },
      spec: { parts: [{ id: 'a', n: 2 }, { id: 'b' }], free: { x: { z: 2 } }, size: '5' },
    };
    expect(mergeStructured(live, configured, widget, { atomics: 'refuse' })).toEqual({
      metadata: { labels: { a: 'b' } },
      spec: { parts: [{ id: 'a', n: 2 }, { id: 'b' }], free: { x: { y: 1, z: 2 } }, size: '5' },
    });
  });

  it('makes lists without a list type atomic', () => {
    expect(() => mergeStructured({}, { spec: { tags: ['a'] } }, widget, { atomics: 'refuse' })).toThrow(
      '.spec.tags',
    );
  });

  it('has no other kinds', () => {
    expect(schemaFromOpenApi(openApiOfCrd(crd), 'example.com/v2', 'Widget')).toBeUndefined();
  });

  it('reads the documents of an API server, with references that form a cycle', () => {
    const document: JsonObject = {
      components: {
        schemas: {
          Tree: {
            type: 'object',
            properties: {
              children: { type: 'array', items: { allOf: [{ $ref: '#/components/schemas/Tree' }] } },
            },
            'x-kubernetes-group-version-kind': [{ group: 'example.com', version: 'v1', kind: 'Tree' }],
          },
          Loop: { $ref: '#/components/schemas/Loop' },
          Lists: {
            type: 'array',
            items: { $ref: '#/components/schemas/Lists' },
            'x-kubernetes-group-version-kind': [{ group: '', version: 'v1', kind: 'Lists' }],
          },
        },
      },
    };
    const tree = schemaFromOpenApi(document, 'example.com/v1', 'Tree') as StructuredSchema;
    const nested = { children: [{ children: [{ children: [] }] }] };
    expect(mergeStructured({}, nested, tree, { atomics: 'replace' })).toEqual(nested);
    expect(schemaFromOpenApi(document, 'v1', 'Lists')?.kind).toBe('list');
  });
});
