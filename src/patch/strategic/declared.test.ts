import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../json/value.ts';
import { apply, compile, containers, object, pod, podSpec, widget } from './fixture.testing.ts';

const configMap = (rest: string) => object('v1', 'ConfigMap', rest);

describe('a number or boolean', () => {
  it.each<[string, string, JsonObject, JsonObject]>([
    [
      'becomes a string in labels and annotations',
      'metadata: {labels: {n: 5, b: true}, annotations: {x: 1.5}}',
      pod('{}'),
      pod("{metadata: {labels: {n: '5', b: 'true'}, annotations: {x: '1.5'}}}"),
    ],
    [
      'becomes a string beside others',
      'metadata: {labels: {n: 5}}',
      pod('{metadata: {labels: {a: b}}}'),
      pod("{metadata: {labels: {a: b, n: '5'}}}"),
    ],
    [
      'becomes a string in data',
      'data: {replicas: 3}',
      configMap("{data: {replicas: '1'}}"),
      configMap("{data: {replicas: '3'}}"),
    ],
    [
      'becomes a string where the field is added if absent',
      'data: {+(replicas): 3}',
      configMap('{}'),
      configMap("{data: {replicas: '3'}}"),
    ],
    [
      'becomes a string in new and existing items',
      'spec: {containers: [{name: a, env: [{name: X, value: 1}]}, {name: b, image: i, args: [-p, 80]}]}',
      containers("[{name: a, env: [{name: X, value: '0'}]}]"),
      containers("[{name: b, image: i, args: [-p, '80']}, {name: a, env: [{name: X, value: '1'}]}]"),
    ],
    [
      'becomes a string below an anchor',
      'spec: {containers: [{(name): "*", env: [{name: X, value: true}]}]}',
      containers('[{name: a}]'),
      containers("[{name: a, env: [{name: X, value: 'true'}]}]"),
    ],
    [
      'stays in fields for numbers and booleans',
      'spec: {hostNetwork: true, terminationGracePeriodSeconds: 5, containers: [{name: a, ports: [{containerPort: 80}]}]}',
      podSpec('{containers: [{name: a}]}'),
      podSpec(
        '{containers: [{name: a, ports: [{containerPort: 80}]}], hostNetwork: true, terminationGracePeriodSeconds: 5}',
      ),
    ],
    [
      'stays in fields for both, also over a string',
      'spec: {containers: [{name: a, resources: {limits: {cpu: 2}}, livenessProbe: {httpGet: {port: 80}}}]}',
      containers("[{name: a, resources: {limits: {cpu: '1'}}, livenessProbe: {httpGet: {port: web}}}]"),
      containers('[{name: a, resources: {limits: {cpu: 2}}, livenessProbe: {httpGet: {port: 80}}}]'),
    ],
    [
      'becomes a string in the metadata of a custom resource, and in its fields where it replaces one',
      'metadata: {labels: {n: 1}}\nspec: {mode: true, level: 2, fresh: 3}',
      widget("{spec: {mode: 'off', level: 1}}"),
      widget("{spec: {mode: 'true', level: 2, fresh: 3}, metadata: {labels: {n: '1'}}}"),
    ],
    [
      'that equals the string changes nothing',
      'data: {replicas: 3}',
      configMap("{data: {replicas: '3'}}"),
      configMap("{data: {replicas: '3'}}"),
    ],
  ])('%s', (_, overlay, before, after) => {
    expect(apply(overlay, before)).toEqual(after);
  });

  it.each<[string, string, JsonObject]>([
    ['of a variable', 'metadata: {labels: {n: "{{ n }}"}}', pod("{metadata: {labels: {n: '7'}}}")],
    [
      'of a variable for a map',
      'metadata: {labels: "{{ all }}"}',
      pod("{metadata: {labels: {x: '1', y: 'true'}}}"),
    ],
    [
      'of a variable for a list',
      'spec: {containers: [{name: a, image: i, args: "{{ list }}", tty: "{{ yes }}"}]}',
      containers("[{name: a, image: i, args: ['1', b], tty: true}]"),
    ],
    [
      'of a variable for an item',
      'spec: {containers: [{name: a, image: i, args: ["{{ n }}"], stdin: "{{ yes }}"}]}',
      containers("[{name: a, image: i, args: ['7'], stdin: true}]"),
    ],
    [
      'below a key from a variable',
      'metadata: {labels: {"{{ key }}": 5}}',
      pod("{metadata: {labels: {k: '5'}}}"),
    ],
    [
      'beyond 2^53',
      'metadata: {labels: {n: "{{ big }}"}}',
      pod("{metadata: {labels: {n: '9007199254740993'}}}"),
    ],
  ])('%s is treated alike', (_, overlay, after) => {
    const values = {
      n: 7,
      yes: true,
      all: { x: 1, y: true },
      list: [1, 'b'],
      key: 'k',
      big: 9007199254740993n,
    };
    expect(apply(overlay, pod('{}'), values)).toEqual(after);
  });
});

it('one compiled patch suits several kinds', () => {
  const { patch } = compile({ metadata: { labels: { n: 1 } }, data: { x: 2 } });
  const scope = {
    lookup: () => undefined,
    snapshot: () => ({}),
    environment: { now: () => new Date(0), random: () => 0 },
  };
  const labels = { metadata: { labels: { n: '1' } } };
  for (const [kind, apiVersion, x] of [
    ['ConfigMap', 'v1', '2'],
    ['Widget', 'example.org/v1', 2],
    ['ConfigMap', 'v1', '2'],
  ] as const) {
    expect(patch?.apply({ apiVersion, kind }, scope)).toMatchObject({ object: { ...labels, data: { x } } });
  }
});
