import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Json, Path } from '../../json/value.ts';
import { compileStrategicMerge } from './compile.ts';
import { apply, compile, containers, object, pod, podSpec, run, widget } from './fixture.testing.ts';

describe('merge', () => {
  it.each([
    [
      'adds new keys and replaces scalars',
      'metadata: {labels: {a: x, b: y}}',
      pod('{metadata: {labels: {a: o, c: z}}}'),
      pod('{metadata: {labels: {a: x, c: z, b: y}}}'),
    ],
    [
      'deletes with null',
      'spec: {nodeName: null, securityContext: null, tolerations: null}',
      podSpec('{nodeName: n, securityContext: {a: 1}, tolerations: [1], x: y}'),
      podSpec('{x: y}'),
    ],
    [
      'leaves nothing for null on a missing key',
      'spec: {nodeName: null}',
      podSpec('{x: y}'),
      podSpec('{x: y}'),
    ],
    [
      'creates the map around a null',
      'spec: {bar: {baz: null}}',
      podSpec('{x: y}'),
      podSpec('{x: y, bar: {}}'),
    ],
    [
      'adds an empty map',
      'spec: {volumes: [{name: v, emptyDir: {}}], securityContext: {}}',
      podSpec('{volumes: []}'),
      podSpec('{volumes: [{name: v, emptyDir: {}}], securityContext: {}}'),
    ],
    [
      'leaves a map alone for an empty map',
      'spec: {securityContext: {}}',
      podSpec('{securityContext: {a: 1}}'),
      podSpec('{securityContext: {a: 1}}'),
    ],
    [
      'keeps the position of merged items and prepends new ones, in overlay order',
      'spec: {containers: [{name: y, image: i}, {name: b, tty: true}, {name: z, image: i}]}',
      containers('[{name: a}, {name: b}, {name: c}]'),
      containers('[{name: y, image: i}, {name: z, image: i}, {name: a}, {name: b, tty: true}, {name: c}]'),
    ],
    [
      'replaces lists without a merge key',
      'spec: {tolerations: [{key: n}], containers: [{name: a, args: [x]}]}',
      podSpec('{tolerations: [{key: o}], containers: [{name: a, args: [p, q]}]}'),
      podSpec('{tolerations: [{key: n}], containers: [{name: a, args: [x]}]}'),
    ],
    [
      'replaces lists of custom resources',
      'spec: {containers: [{name: n}]}',
      widget('{spec: {containers: [{name: a}, {name: b}]}}'),
      widget('{spec: {containers: [{name: n}]}}'),
    ],
    [
      'replaces lists of unknown versions',
      'metadata: {finalizers: [n]}',
      object('apps/v9', 'Deployment', '{metadata: {finalizers: [o]}}'),
      object('apps/v9', 'Deployment', '{metadata: {finalizers: [n]}}'),
    ],
    [
      'merges finalizers as a set, new ones in front',
      'metadata: {finalizers: [n, o2, n]}',
      pod('{metadata: {finalizers: [o1, o2]}}'),
      pod('{metadata: {finalizers: [n, o1, o2]}}'),
    ],
    [
      'changes nothing for an empty list where items are merged',
      'spec: {containers: [], tolerations: []}',
      podSpec('{containers: [{name: a}], tolerations: [{key: k}]}'),
      podSpec('{containers: [{name: a}], tolerations: []}'),
    ],
    [
      'creates an empty list',
      'spec: {imagePullSecrets: []}',
      podSpec('{x: y}'),
      podSpec('{x: y, imagePullSecrets: []}'),
    ],
    [
      'applies items with one key in sequence',
      'spec: {containers: [{name: a, x: 1, y: 1}, {name: a, y: 2}, {name: n, image: i, y: 1}, {name: n, y: 2}]}',
      containers('[{name: a}]'),
      containers('[{name: n, image: i, y: 2}, {name: a, x: 1, y: 2}]'),
    ],
    [
      'keeps twins in the object and patches the last',
      'spec: {containers: [{name: a, env: [{name: E, value: n}]}]}',
      containers('[{name: a, env: [{name: E, value: 1}, {name: F}, {name: E, value: 2}]}]'),
      containers('[{name: a, env: [{name: E, value: 1}, {name: F}, {name: E, value: n}]}]'),
    ],
    [
      'treats null in the object as absent',
      'spec: {containers: [{name: n, image: i}], securityContext: {a: 1}, nodeName: x}',
      podSpec('{containers: null, securityContext: null, nodeName: null}'),
      podSpec('{containers: [{name: n, image: i}], securityContext: {a: 1}, nodeName: x}'),
    ],
    [
      'passes over null items',
      'spec: {containers: [{name: n, image: i}, {(name): a, tty: true}]}',
      containers('[null, {name: a}]'),
      containers('[{name: n, image: i}, null, {name: a, tty: true}]'),
    ],
    [
      'creates what is deeper than the object',
      'spec: {a: {b: {c: {d: 1}}}}',
      widget('{}'),
      widget('{spec: {a: {b: {c: {d: 1}}}}}'),
    ],
    [
      'keeps types',
      "data: {a: 'true', b: '1', c: 'null', d: 1.5, e: true}",
      widget('{}'),
      widget("{data: {a: 'true', b: '1', c: 'null', d: 1.5, e: true}}"),
    ],
    [
      'drops apiVersion and kind that agree',
      '{apiVersion: v1, kind: Pod, spec: {x: y}}',
      podSpec('{}'),
      podSpec('{x: y}'),
    ],
    [
      'compares keys as text',
      "spec: {containers: [{name: a, ports: [{containerPort: '80', name: web}]}]}",
      containers('[{name: a, ports: [{containerPort: 80}]}]'),
      containers("[{name: a, ports: [{containerPort: '80', name: web}]}]"),
    ],
  ])('%s', (_title, overlay, before, after) => {
    expect(apply(overlay, before)).toEqual(after);
  });

  const ports = (list: string) => containers(`[{name: a, ports: ${list}}]`);
  const portsOverlay = (item: string) => `spec: {containers: [{name: a, ports: [${item}]}]}`;
  it.each([
    [
      'both keys',
      '{containerPort: 53, protocol: UDP, name: n}',
      '[{containerPort: 53, protocol: TCP}, {containerPort: 53, protocol: UDP}]',
      '[{containerPort: 53, protocol: TCP}, {containerPort: 53, protocol: UDP, name: n}]',
    ],
    [
      'no protocol means TCP',
      '{containerPort: 53, name: n}',
      '[{containerPort: 53, protocol: TCP}, {containerPort: 53, protocol: UDP}]',
      '[{containerPort: 53, protocol: TCP, name: n}, {containerPort: 53, protocol: UDP}]',
    ],
    [
      'no protocol in the object means TCP',
      '{containerPort: 80, protocol: TCP, name: n}',
      '[{containerPort: 80}]',
      '[{containerPort: 80, protocol: TCP, name: n}]',
    ],
    [
      'no protocol, and only one entry',
      '{containerPort: 53, name: n}',
      '[{containerPort: 53, protocol: UDP}]',
      '[{containerPort: 53, protocol: UDP, name: n}]',
    ],
    [
      'another protocol is another port',
      '{containerPort: 80, protocol: UDP}',
      '[{containerPort: 80}]',
      '[{containerPort: 80, protocol: UDP}, {containerPort: 80}]',
    ],
    [
      'delete',
      '{containerPort: 53, protocol: UDP, $patch: delete}',
      '[{containerPort: 53, protocol: TCP}, {containerPort: 53, protocol: UDP}]',
      '[{containerPort: 53, protocol: TCP}]',
    ],
    [
      'delete without protocol takes one',
      '{containerPort: 53, $patch: delete}',
      '[{containerPort: 53, protocol: TCP}, {containerPort: 53, protocol: UDP}]',
      '[{containerPort: 53, protocol: UDP}]',
    ],
  ])('two-part keys: %s', (_title, item, before, after) => {
    expect(apply(portsOverlay(item), ports(before))).toEqual(ports(after));
  });
});

describe('directives', () => {
  it.each([
    [
      'delete an item',
      'spec: {containers: [{name: b, $patch: delete}]}',
      containers('[{name: a}, {name: b}]'),
      containers('[{name: a}]'),
    ],
    [
      'delete the last item',
      'spec: {containers: [{name: a, $patch: delete}]}',
      containers('[{name: a}]'),
      containers('[]'),
    ],
    [
      'delete twins',
      'spec: {containers: [{name: a, $patch: delete}]}',
      containers('[{name: a}, {name: b}, {name: a}]'),
      containers('[{name: b}]'),
    ],
    [
      'delete what is not there',
      'spec: {containers: [{name: z, $patch: delete}], x: {$patch: delete}}',
      containers('[{name: a}]'),
      containers('[{name: a}]'),
    ],
    [
      'delete a map',
      'spec: {securityContext: {$patch: delete}}',
      podSpec('{securityContext: {a: 1}, b: 2}'),
      podSpec('{b: 2}'),
    ],
    [
      'replace a map',
      'spec: {securityContext: {$patch: replace, b: 2}}',
      podSpec('{securityContext: {a: 1}}'),
      podSpec('{securityContext: {b: 2}}'),
    ],
    [
      'replace a map by nothing',
      'spec: {securityContext: {$patch: replace}}',
      podSpec('{securityContext: {a: 1}}'),
      podSpec('{securityContext: {}}'),
    ],
    [
      'replace a list',
      'spec: {containers: [{$patch: replace}, {name: n}]}',
      containers('[{name: a}, {name: b}]'),
      containers('[{name: n}]'),
    ],
    [
      'replace a list, with deletions that have nothing to delete',
      'spec: {containers: [{name: b, $patch: delete}, {$patch: replace}, {name: n}]}',
      containers('[{name: a}, {name: b}]'),
      containers('[{name: n}]'),
    ],
    [
      'replace an item',
      'spec: {containers: [{name: b, tty: true, $patch: replace}]}',
      containers('[{name: a}, {name: b, image: x}]'),
      containers('[{name: a}, {name: b, tty: true}]'),
    ],
    [
      'delete a list',
      'spec: {containers: [{$patch: delete}]}',
      podSpec('{containers: [{name: a}], x: y}'),
      podSpec('{x: y}'),
    ],
    [
      'merge',
      'spec: {$patch: merge, containers: [{$patch: merge}, {name: a, $patch: merge, tty: true}]}',
      containers('[{name: a, x: 1}]'),
      containers('[{name: a, x: 1, tty: true}]'),
    ],
    [
      'retainKeys',
      'spec: {strategy: {$retainKeys: [type], type: Recreate}}',
      widget('{spec: {strategy: {type: RollingUpdate, rollingUpdate: {a: 1}}}}'),
      widget('{spec: {strategy: {type: Recreate}}}'),
    ],
    [
      'deleteFromPrimitiveList',
      'metadata: {$deleteFromPrimitiveList/finalizers: [b], finalizers: [c]}',
      pod('{metadata: {finalizers: [a, b]}}'),
      pod('{metadata: {finalizers: [c, a]}}'),
    ],
    [
      'setElementOrder',
      'spec: {$setElementOrder/containers: [{name: c}, {name: n}, {name: a}], containers: [{name: n, image: i}]}',
      containers('[{name: a}, {name: b}, {name: c}]'),
      containers('[{name: c}, {name: n, image: i}, {name: b}, {name: a}]'),
    ],
    ['a member that only looks like one', 'spec: {$ref: x}', widget('{}'), widget('{spec: {$ref: x}}')],
  ])('%s', (_title, overlay, before, after) => {
    expect(apply(overlay, before)).toEqual(after);
  });
});

describe('variables', () => {
  it('fill in values, keys and conditions', () => {
    const before = pod('{metadata: {name: web}, spec: {containers: [{name: app}, {name: side}]}}');
    const overlay = parse(`
      metadata: {labels: {name: '{{ request.object.metadata.name }}', '{{ element.key }}': x, '+({{ element.key }}2)': y}}
      spec: {containers: [{(name): '{{ element.name }}', tty: true}]}`) as Json;
    const roots = { request: { object: before }, element: { name: 'app', key: 'k' } };
    expect(apply(overlay, before, roots)).toEqual(
      pod(
        '{metadata: {name: web, labels: {name: web, k: x, k2: y}}, spec: {containers: [{name: app, tty: true}, {name: side}]}}',
      ),
    );
  });

  it('may make a pattern', () => {
    const before = containers('[{name: app}, {name: side}]');
    const overlay = { spec: { containers: [{ '(name)': '{{ element }}', tty: true }] } };
    expect(apply(overlay, before, { element: 's*' })).toEqual(
      containers('[{name: app}, {name: side, tty: true}]'),
    );
  });

  it('yield merge keys', () => {
    const before = containers('[{name: app}, {name: side}]');
    const overlay = { spec: { containers: [{ name: '{{ element }}', tty: true }] } };
    expect(apply(overlay, before, { element: 'side' })).toEqual(
      containers('[{name: app}, {name: side, tty: true}]'),
    );
  });

  it('yield data: no anchor or directive is looked for inside', () => {
    const before = pod('{metadata: {annotations: {a: b}}}');
    const overlay = { metadata: { annotations: '{{ element }}' } };
    const element = { '(a)': 'x', '+(a)': 'y', $patch: 'delete', 'X(b)': 'z' };
    expect(apply(overlay, before, { element })).toEqual({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { annotations: { a: 'b', ...element } },
    });
  });

  it('yield keys that are data', () => {
    const overlay = { metadata: { labels: { '{{ element }}': 'x' } } };
    expect(apply(overlay, pod('{metadata: {labels: {a: b}}}'), { element: '+(a)' })).toEqual(
      pod("{metadata: {labels: {a: b, '+(a)': x}}}"),
    );
  });

  it('yield objects and lists that are merged as if written there', () => {
    const before = containers('[{name: a, image: x}]');
    const overlay = { spec: { containers: '{{ element }}' } };
    const element = parse('[{name: a, tty: true}, {name: n, image: i}]') as Json;
    expect(apply(overlay, before, { element })).toEqual(
      containers('[{name: n, image: i}, {name: a, image: x, tty: true}]'),
    );
  });

  it('yield list items', () => {
    const overlay = {
      metadata: { finalizers: ['{{ element }}'] },
      spec: { containers: ['{{ item }}', { name: 'n', image: 'i' }] },
    };
    expect(
      apply(overlay, pod('{metadata: {finalizers: [o]}, spec: {containers: [{name: a}]}}'), {
        element: 'n',
        item: { name: 'a', tty: true },
      }),
    ).toEqual(
      pod(
        '{metadata: {finalizers: [n, o]}, spec: {containers: [{name: n, image: i}, {name: a, tty: true}]}}',
      ),
    );
  });

  it('are given their location without parentheses', () => {
    const problems: unknown[] = [];
    const places: Path[] = [];
    compileStrategicMerge(
      { metadata: { '+(annotations)': { k: 'x-{{@}}' } } },
      ['mutate', 'patchStrategicMerge'],
      { error: (...problem) => void problems.push(problem), warn: () => {} },
      {
        self: (path) => {
          places.push(path);
          return 'request.object.metadata.annotations.k';
        },
      },
    );
    expect(problems).toEqual([]);
    expect(places[0]).toEqual(['mutate', 'patchStrategicMerge', 'metadata', 'annotations', 'k']);
  });

  it('name the roots they read', () => {
    const { patch } = compile({ a: '{{ request.x }}', '({{ element.k }})': '{{ conf.v }}' });
    expect([...(patch?.roots ?? [])].sort()).toEqual(['conf', 'element', 'request']);
  });
});

describe('a container without an image', () => {
  const before = containers('[{name: a, image: x}]');
  it.each([
    'spec: {containers: [{name: web, +(tty): true}]}',
    'spec: {containers: [{name: web, tty: true}]}',
    'spec: {initContainers: [{name: web, image: "", tty: true}]}',
    'spec: {ephemeralContainers: [{name: web, +(tty): true}]}',
  ])('is never added: %s', (overlay) => {
    const result = run(parse(overlay) as Json, before);
    expect(result).toEqual({
      status: 'patched',
      object: before,
      misses: [expect.objectContaining({ anchor: 'name', expected: 'web', note: expect.any(String) })],
    });
  });

  it('is patched if it exists', () => {
    expect(apply('spec: {containers: [{name: a, +(tty): true}]}', before)).toEqual(
      containers('[{name: a, image: x, tty: true}]'),
    );
  });

  it('is added with its image, also if only +(image) states it', () => {
    expect(apply('spec: {containers: [{name: web, +(image): y}]}', before)).toEqual(
      containers('[{name: web, image: y}, {name: a, image: x}]'),
    );
  });

  it('other keyed items are added with +() alone', () => {
    expect(
      apply(
        'spec: {containers: [{name: a, env: [{name: LOG, +(value): info}]}], volumes: [{name: v, +(emptyDir): {}}]}',
        before,
      ),
    ).toEqual(
      podSpec(
        '{containers: [{name: a, image: x, env: [{name: LOG, value: info}]}], volumes: [{name: v, emptyDir: {}}]}',
      ),
    );
  });
});
