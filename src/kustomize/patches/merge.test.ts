import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { JsonObject } from '../../json/value.ts';
import { mergeSchemaFor } from '../../patch/merge-schema.ts';
import { mergeKustomizePatch } from './merge.ts';

const read = (text: string) => parse(text) as JsonObject;
const merge = (apiVersion: string, kind: string) => (object: string, patch: string) =>
  mergeKustomizePatch(read(object), read(patch), mergeSchemaFor(apiVersion, kind));
const pod = merge('v1', 'Pod');
const service = merge('v1', 'Service');
const custom = merge('example.com/v1', 'Foo');

/** A Pod with one container, and a patch for it. */
const container = (text: string) => `spec: {containers: [{name: a, ${text}}]}`;

describe('maps and scalars', () => {
  it.each([
    [
      'M-01 maps merge, scalars are written over',
      'spec: {a: 1, m: {x: 1}}',
      'spec: {a: 2, m: {y: 2}}',
      'spec: {a: 2, m: {x: 1, y: 2}}',
    ],
    [
      'M-01 null deletes scalars, maps and lists',
      'spec: {a: 1, m: {x: 1}, l: [1], k: 2}',
      'spec: {a: null, m: null, l: null}',
      'spec: {k: 2}',
    ],
    [
      'M-01 null for what is absent leaves nothing',
      'spec: {a: 1}',
      'spec: {b: null, m: {c: null, d: 1}}',
      'spec: {a: 1, m: {d: 1}}',
    ],
    ['M-07 $patch: delete removes a map', 'spec: {m: {x: 1}}', 'spec: {m: {$patch: delete}}', 'spec: {}'],
    [
      'M-08 $patch: replace replaces a map',
      'spec: {m: {x: 1}}',
      'spec: {m: {$patch: replace, y: 2}}',
      'spec: {m: {y: 2}}',
    ],
    [
      'M-08 $patch: replace at the top does nothing at all',
      'spec: {a: 1}',
      '{$patch: replace, spec: {b: 2}}',
      'spec: {a: 1}',
    ],
    [
      'M-09 $patch: merge is the default',
      'spec: {m: {x: 1}}',
      'spec: {m: {$patch: merge, y: 2}}',
      'spec: {m: {x: 1, y: 2}}',
    ],
    [
      'M-14 an empty map changes nothing that is there',
      'spec: {m: {x: 1}}',
      'spec: {m: {}}',
      'spec: {m: {x: 1}}',
    ],
    ['M-14 an empty map comes to be where there is none', 'spec: {}', 'spec: {m: {}}', 'spec: {m: {}}'],
    [
      'a number over text that needs quotes stays text',
      "spec: {a: '1', b: x}",
      'spec: {a: 2, b: 3}',
      "spec: {a: '2', b: 3}",
    ],
    [
      'names of prototypes are names',
      'spec: {}',
      'spec: {constructor: {a: 1}, toString: 2}',
      'spec: {constructor: {a: 1}, toString: 2}',
    ],
  ])('%s', (_title, object, patch, result) => {
    expect(custom(object, patch)).toEqual(read(result));
    expect(pod(object, patch)).toEqual(read(result));
  });

  it('M-07 $patch: delete at the top deletes the resource', () => {
    expect(pod('spec: {a: 1}', '$patch: delete')).toBeUndefined();
  });

  it('M-09 an unknown strategy is an error', () => {
    expect(() => pod('spec: {m: {}}', 'spec: {m: {$patch: obliterate}}')).toThrow(
      /unknown patch strategy 'obliterate'/,
    );
  });

  it.each([
    ['a list over a map', 'spec: {m: {}}', 'spec: {m: []}'],
    ['a map over a list', container('args: [x]'), container('args: {x: 1}')],
    ['a scalar over a map', 'spec: {m: {}}', 'spec: {m: 1}'],
    ['a scalar in a list of maps', container('env: [x]'), container('env: [{name: A}]')],
  ])('M-13 %s is an error', (_title, object, patch) => {
    expect(() => pod(object, patch)).toThrow(/where the resource has a|expected a map/);
  });

  it('gives the object itself back when nothing changes', () => {
    const object = read(container('ports: [{containerPort: 80}], env: [{name: A}]'));
    expect(mergeKustomizePatch(object, {}, mergeSchemaFor('v1', 'Pod'))).toBe(object);
  });
});

describe('lists', () => {
  const named = (...names: readonly string[]) =>
    `spec: {containers: [${names.map((name) => `{name: ${name}}`).join(', ')}]}`;

  it.each([
    [
      'M-01 null inside a list item',
      container('image: x'),
      container('image: null'),
      'spec: {containers: [{name: a}]}',
    ],
    [
      'M-02 items of the patch come first, in its order',
      named('a', 'b', 'c'),
      named('n', 'c', 'a'),
      named('n', 'c', 'a', 'b'),
    ],
    [
      'M-02 matching items merge',
      container('image: x, tty: true'),
      container('image: y'),
      container('image: y, tty: true'),
    ],
    [
      'M-03 a list without a key is replaced',
      container('args: [a, b]'),
      container('args: [c]'),
      container('args: [c]'),
    ],
    [
      'M-03 so are maps without a key',
      'spec: {tolerations: [{key: a}]}',
      'spec: {tolerations: [{key: b}]}',
      'spec: {tolerations: [{key: b}]}',
    ],
    [
      'M-04 a set of scalars has the new ones first',
      'metadata: {finalizers: [a, b]}',
      'metadata: {finalizers: [n, b]}',
      'metadata: {finalizers: [n, b, a]}',
    ],
    [
      'M-05 env by name',
      container('env: [{name: A, value: x}, {name: B}]'),
      container('env: [{name: A, value: y}, {name: B, $patch: delete}]'),
      container('env: [{name: A, value: y}]'),
    ],
    [
      'M-05 volumeMounts by mountPath',
      container('volumeMounts: [{mountPath: /a, name: v}]'),
      container('volumeMounts: [{mountPath: /a, name: w}]'),
      container('volumeMounts: [{mountPath: /a, name: w}]'),
    ],
    [
      'M-05 hostAliases by ip',
      'spec: {hostAliases: [{ip: x, hostnames: [a]}]}',
      'spec: {hostAliases: [{ip: x, hostnames: [b]}, {ip: y}]}',
      'spec: {hostAliases: [{ip: x, hostnames: [b]}, {ip: y}]}',
    ],
    [
      'M-05 M-06 ports by port and protocol, in the order of the object',
      container('ports: [{containerPort: 80}, {containerPort: 53, protocol: UDP}]'),
      container('ports: [{containerPort: 53, protocol: UDP, name: dns}, {containerPort: 1, protocol: TCP}]'),
      container(
        'ports: [{containerPort: 1, protocol: TCP}, {containerPort: 80}, {containerPort: 53, protocol: UDP, name: dns}]',
      ),
    ],
    [
      'M-06 a port without protocol is the port without one',
      container('ports: [{containerPort: 80}, {containerPort: 53, protocol: UDP}]'),
      container('ports: [{containerPort: 80, name: web}]'),
      container('ports: [{containerPort: 80, name: web}, {containerPort: 53, protocol: UDP}]'),
    ],
    [
      'M-06 [Q] a patch without protocol is lost on a port that has one',
      container('ports: [{containerPort: 80, protocol: TCP}]'),
      container('ports: [{containerPort: 80, name: web}]'),
      container('ports: [{containerPort: 80, protocol: TCP}]'),
    ],
    [
      'M-07 an item is deleted',
      named('a', 'b'),
      'spec: {containers: [{name: a, $patch: delete}]}',
      named('b'),
    ],
    [
      'M-07 deleting what is not there does nothing',
      named('a'),
      'spec: {containers: [{name: z, $patch: delete}]}',
      named('a'),
    ],
    [
      'M-07 the last one leaves an empty list',
      named('a'),
      'spec: {containers: [{name: a, $patch: delete}]}',
      'spec: {containers: []}',
    ],
    [
      'M-08 $patch: replace beside the items replaces the list',
      named('a', 'b'),
      'spec: {containers: [{$patch: replace}, {name: c}]}',
      named('c'),
    ],
    [
      'M-09 $patch: merge beside the items disappears',
      named('a'),
      'spec: {containers: [{$patch: merge}, {name: c}]}',
      named('c', 'a'),
    ],
    [
      'M-11 a new source of a volume stays beside the old one',
      'spec: {volumes: [{name: v, emptyDir: {}}]}',
      'spec: {volumes: [{name: v, configMap: {name: c}}]}',
      'spec: {volumes: [{name: v, emptyDir: {}, configMap: {name: c}}]}',
    ],
    [
      'twins become one, even where the patch says nothing',
      'metadata: {finalizers: [a, b, a]}',
      'spec: {x: 1}',
      '{metadata: {finalizers: [a, b]}, spec: {x: 1}}',
    ],
    [
      'what is new is cleaned of nulls and directives',
      'spec: {}',
      container('image: null, resources: {$patch: merge, limits: {cpu: 1}}'),
      container('resources: {limits: {cpu: 1}}'),
    ],
  ])('%s', (_title, object, patch, result) => {
    expect(pod(object, patch)).toEqual(read(result));
  });

  it.each([
    [
      'M-06 [Q] a port without protocol is not deleted where another has one',
      '[{port: 80}, {port: 53, protocol: UDP}]',
      '[{port: 80, $patch: delete}]',
      '[{port: 80}, {port: 53, protocol: UDP}]',
    ],
    ['M-06 it is where none has', '[{port: 80}, {port: 81}]', '[{port: 80, $patch: delete}]', '[{port: 81}]'],
    [
      'M-05 Service ports by port and protocol',
      '[{port: 80, protocol: TCP}, {port: 80, protocol: UDP}]',
      '[{port: 80, protocol: UDP, name: dns}]',
      '[{port: 80, protocol: TCP}, {port: 80, protocol: UDP, name: dns}]',
    ],
  ])('%s', (_title, object, patch, result) => {
    expect(service(`spec: {ports: ${object}}`, `spec: {ports: ${patch}}`)).toEqual(
      read(`spec: {ports: ${result}}`),
    );
  });

  it.each([
    [
      'M-10 $retainKeys, $setElementOrder and $deleteFromPrimitiveList are plain members',
      'spec: {a: 1}',
      'spec: {$retainKeys: [a], $setElementOrder/l: [x], $deleteFromPrimitiveList/f: [y]}',
      'spec: {a: 1, $retainKeys: [a], $setElementOrder/l: [x], $deleteFromPrimitiveList/f: [y]}',
    ],
    [
      'M-12 a list of a custom resource is replaced',
      'spec: {containers: [{name: a}]}',
      'spec: {containers: [{name: b}]}',
      'spec: {containers: [{name: b}]}',
    ],
    [
      'M-12 and its directives stay',
      'spec: {l: [{name: a}]}',
      'spec: {l: [{name: a, $patch: delete}]}',
      'spec: {l: [{name: a, $patch: delete}]}',
    ],
    [
      'M-12 nulls and directives of maps work',
      'spec: {m: {x: 1}, n: 1}',
      'spec: {m: {$patch: replace, y: 1}, n: null}',
      'spec: {m: {y: 1}}',
    ],
  ])('%s', (_title, object, patch, result) => {
    expect(custom(object, patch)).toEqual(read(result));
  });

  it('M-12 merge keys of a schema of one’s own are used', () => {
    const items = { fields: new Map() };
    const schema = {
      fields: new Map([
        ['spec', { fields: new Map([['l', { fields: new Map(), mergeKeys: ['id'], items }]]) }],
      ]),
    };
    expect(
      mergeKustomizePatch(
        read('spec: {l: [{id: a, x: 1}, {id: b}]}'),
        read('spec: {l: [{id: b, y: 2}]}'),
        schema,
      ),
    ).toEqual(read('spec: {l: [{id: b, y: 2}, {id: a, x: 1}]}'));
  });
});
