import { describe, expect, it } from 'vitest';
import { loadDocuments } from '../../policy/load.ts';
import { policy } from '../../policy/policy.testing.ts';
import { writeSet } from './write-set.ts';
import { formatSteps } from './write-step.ts';

/** `kind: effect path` of everything the rules of a policy may write. */
function writes(text: string): string[] {
  const { policies, problems } = loadDocuments([{ file: 'p.yaml', text }]);
  expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  const found = policies.flatMap(({ rules }) => rules.flatMap(writeSet));
  return found.flatMap(({ kind, writes: list }) =>
    list.map(({ effect, path }) => `${kind.group}/${kind.kind}: ${effect} ${formatSteps(path)}`),
  );
}

const forKind = (kind: string, mutate: string): string[] =>
  writes(
    policy({
      metadata: 'annotations: {pod-policies.kyverno.io/autogen-controllers: none}',
      match: `any: [{resources: {kinds: [${kind}]}}]`,
      mutate,
    }),
  );
const merged = (kind: string, overlay: string) => forKind(kind, `patchStrategicMerge: ${overlay}`);
const operations = (kind: string, text: string) => forKind(kind, `patchesJson6902: ${JSON.stringify(text)}`);

describe('a strategic merge', () => {
  it.each<[string, string, string, string[]]>([
    [
      'states places',
      'ConfigMap',
      '{metadata: {labels: {team: a}}, data: {k: v}}',
      ['/ConfigMap: set metadata.labels.team', '/ConfigMap: set data.k'],
    ],
    [
      'keys with dots are one step',
      'ConfigMap',
      '{metadata: {labels: {a.b/c: x}}}',
      ['/ConfigMap: set metadata.labels["a.b/c"]'],
    ],
    ['+() writes where nothing is', 'ConfigMap', '{data: {+(k): v}}', ['/ConfigMap: default data.k']],
    ['null removes', 'ConfigMap', '{data: {k: null}}', ['/ConfigMap: remove data.k']],
    [
      'a condition writes nothing',
      'ConfigMap',
      '{(data): {(k): v}, metadata: {labels: {a: b}}}',
      ['/ConfigMap: set metadata.labels.a'],
    ],
    [
      'a variable as key decides',
      'ConfigMap',
      '{data: {"{{ request.name }}": v}}',
      ['/ConfigMap: set data[*]'],
    ],
    [
      'an item by its merge key may be added',
      'Pod',
      '{spec: {containers: [{name: side, image: x}]}}',
      [
        '/Pod: item spec.containers[name=side]',
        '/Pod: set spec.containers[name=side].name',
        '/Pod: set spec.containers[name=side].image',
      ],
    ],
    [
      'an anchored item is any of the list',
      'Pod',
      '{spec: {containers: [{(image): "*:latest", imagePullPolicy: Always}]}}',
      ['/Pod: set spec.containers[*].imagePullPolicy'],
    ],
    [
      'an anchor with a plain word names one item',
      'Pod',
      '{spec: {containers: [{(name): web, tty: true}]}}',
      ['/Pod: set spec.containers[name=web].tty'],
    ],
    [
      'a set of scalars grows',
      'Pod',
      '{metadata: {finalizers: [a]}}',
      ['/Pod: item metadata.finalizers[="a"]'],
    ],
    [
      'a list without key is replaced',
      'Pod',
      '{spec: {tolerations: [{key: a}]}}',
      ['/Pod: set spec.tolerations'],
    ],
    [
      'so is any list of a custom kind',
      'example.com/v1/Box',
      '{spec: {things: [{name: a}]}}',
      ['example.com/Box: set spec.things'],
    ],
    [
      'but not where it is anchored',
      'example.com/v1/Box',
      '{spec: {things: [{(name): a*, size: 1}]}}',
      ['example.com/Box: set spec.things[*].size'],
    ],
    [
      '$patch: delete removes one item',
      'Pod',
      '{spec: {containers: [{name: a, $patch: delete}]}}',
      ['/Pod: remove spec.containers[name=a]'],
    ],
    [
      '$patch: replace writes all of it',
      'Pod',
      '{spec: {securityContext: {$patch: replace, runAsUser: 1}}}',
      ['/Pod: set spec.securityContext'],
    ],
    [
      '$retainKeys may take any',
      'Deployment',
      '{spec: {strategy: {$retainKeys: [type], type: Recreate}}}',
      ['apps/Deployment: set spec.strategy[*]', 'apps/Deployment: set spec.strategy.type'],
    ],
    ['an empty map is added', 'Pod', '{spec: {securityContext: {}}}', ['/Pod: default spec.securityContext']],
    [
      'an empty list that is merged is added',
      'Pod',
      '{spec: {containers: []}}',
      ['/Pod: default spec.containers'],
    ],
    ['every kind', '"*"', '{metadata: {labels: {a: b}}}', ['*/*: set metadata.labels.a']],
  ])('%s', (_, kind, overlay, expected) => {
    expect(merged(kind, overlay)).toEqual(expected);
  });

  it('knows the value unless a variable decides', () => {
    const text = policy({ mutate: 'patchStrategicMerge: {data: {a: x, b: "{{ request.name }}"}}' });
    const [rule] = loadDocuments([{ file: 'p.yaml', text }]).policies[0]?.rules ?? [];
    expect(rule && writeSet(rule)[0]?.writes.map(({ value, source }) => ({ value, source }))).toEqual([
      { value: 'x', source: ['mutate', 'patchStrategicMerge', 'data', 'a'] },
      { value: undefined, source: ['mutate', 'patchStrategicMerge', 'data', 'b'] },
    ]);
  });

  it('for Pods is carried over to controllers', () => {
    const text = policy({
      match: 'any: [{resources: {kinds: [Pod]}}]',
      mutate: 'patchStrategicMerge: {spec: {hostPID: false}}',
    });
    expect(writes(text)).toEqual([
      '/Pod: set spec.hostPID',
      'apps/DaemonSet: set spec.template.spec.hostPID',
      'apps/Deployment: set spec.template.spec.hostPID',
      'batch/Job: set spec.template.spec.hostPID',
      'apps/ReplicaSet: set spec.template.spec.hostPID',
      '/ReplicationController: set spec.template.spec.hostPID',
      'apps/StatefulSet: set spec.template.spec.hostPID',
      'batch/CronJob: set spec.jobTemplate.spec.template.spec.hostPID',
    ]);
  });
});

describe('a JSON patch', () => {
  it.each<[string, string, string, string[]]>([
    [
      'escapes in a path',
      'ConfigMap',
      '- {op: add, path: /metadata/annotations/a.io~1b~0c, value: x}',
      ['/ConfigMap: set metadata.annotations["a.io/b~c"]'],
    ],
    [
      '- adds an item',
      'Pod',
      '- {op: add, path: /spec/tolerations/-, value: {key: a, operator: Exists}}',
      ['/Pod: item spec.tolerations[key=a,operator=Exists]'],
    ],
    [
      'an item that is put in is found by its key',
      'Pod',
      '- {op: add, path: /spec/containers/0, value: {name: side, image: x}}',
      ['/Pod: item spec.containers[name=side]'],
    ],
    [
      'and later operations go on inside it',
      'Pod',
      '- {op: add, path: /spec/containers/1, value: {name: side}}\n- {op: add, path: /spec/containers/1/tty, value: true}',
      ['/Pod: item spec.containers[name=side]', '/Pod: set spec.containers[name=side].tty'],
    ],
    [
      'an index is exact',
      'Pod',
      '- {op: replace, path: /spec/containers/0/image, value: x}',
      ['/Pod: set spec.containers.0.image'],
    ],
    [
      'unless the patch moves items',
      'Pod',
      '- {op: remove, path: /spec/containers/1}\n- {op: replace, path: /spec/containers/0/image, value: x}',
      ['/Pod: remove spec.containers[*]', '/Pod: set spec.containers[*].image'],
    ],
    [
      'a number is a key of data',
      'ConfigMap',
      '- {op: add, path: /data/1, value: x}',
      ['/ConfigMap: set data.1'],
    ],
    [
      'move and copy',
      'ConfigMap',
      '- {op: move, from: /data/a, path: /data/b}\n- {op: copy, from: /data/b, path: /data/c}',
      ['/ConfigMap: remove data.a', '/ConfigMap: set data.b', '/ConfigMap: set data.c'],
    ],
    [
      'test writes nothing',
      'ConfigMap',
      '- {op: test, path: /data/a, value: x}\n- {op: remove, path: /data/a}',
      ['/ConfigMap: remove data.a'],
    ],
    [
      'a variable may be the whole patch',
      'ConfigMap',
      '{{ request.object.data.patch }}',
      ['/ConfigMap: set '],
    ],
  ])('%s', (_, kind, text, expected) => {
    expect(operations(kind, text)).toEqual(expected);
  });

  it.each([
    [
      'an index of the loop is one step',
      '/spec/containers/{{ elementIndex }}/image',
      'spec.containers[*].image',
    ],
    ['so is that of a named loop', '/spec/containers/{{containerIndex}}/image', 'spec.containers[*].image'],
    [
      'another variable may be several',
      '/metadata/annotations/{{ element.name }}/x',
      'metadata.annotations[*]',
    ],
  ])('in a loop: %s', (_, path, expected) => {
    const patch = JSON.stringify(`- {op: replace, path: "${path}", value: x}`);
    const loop = `foreach: [{list: request.object.spec.containers, as: container, patchesJson6902: ${patch}}]`;
    expect(forKind('Pod', loop)).toEqual([`/Pod: set ${expected}`]);
  });
});

describe('a loop', () => {
  const loop = (list: string) =>
    forKind(
      'Pod',
      `foreach: [{list: ${JSON.stringify(list)}, patchStrategicMerge: {spec: {containers: [{name: "{{ element.name }}", tty: true}]}}}]`,
    );

  it('over the list that it patches adds no item', () => {
    const expected = ['/Pod: set spec.containers[*].tty'];
    expect(loop('request.object.spec.containers')).toEqual(expected);
    expect(loop("request.object.spec.containers[?image == 'x']")).toEqual(expected);
  });

  it('over another may add one', () => {
    expect(loop('request.object.spec.initContainers[]')[0]).toBe('/Pod: item spec.containers[*]');
  });
});

describe('a replacement', () => {
  const replacement = (paths: string, options = '') =>
    forKind(
      'Pod',
      `replacements: [{sourceValue: x, targets: [{select: {kind: Pod}, fieldPaths: [${paths}]${options}}]}]`,
    );

  it.each([
    ['metadata.labels.app', ['set metadata.labels.app']],
    ['"metadata.labels.[a.b/c]"', ['set metadata.labels["a.b/c"]']],
    ['"spec.containers.[name=web].image"', ['set spec.containers[name=web].image']],
    ['"spec.containers.*.image"', ['set spec.containers[*].image']],
    ['"spec.containers.[name=w*].image"', ['set spec.containers[*].image']],
    ['"metadata.labels.{{ request.object.metadata.name }}"', ['set metadata.labels[*]']],
    ['"metadata.annotations.config.inner"', ['set metadata.annotations.config']],
  ])('%s', (path, expected) => {
    expect(replacement(path)).toEqual(expected.map((text) => `/Pod: ${text}`));
  });

  it('that creates may add an item', () => {
    expect(replacement('"spec.containers.[name=web].image"', ', options: {create: true}')).toEqual([
      '/Pod: item spec.containers[name=web]',
      '/Pod: set spec.containers[name=web].image',
    ]);
  });

  it('for other kinds writes nothing', () => {
    expect(
      forKind(
        'Pod',
        'replacements: [{sourceValue: x, targets: [{select: {kind: Job}, fieldPaths: [spec.a]}]}]',
      ),
    ).toEqual([]);
  });
});

describe('the first dialect', () => {
  const alpha = (mutate: string) =>
    writes(`
apiVersion: kyverno.io/v1alpha1
kind: Policy
metadata: {name: p}
spec:
  rules:
  - name: r
    resource: {kinds: [Deployment]}
    mutate: ${mutate}
`);

  it('has overlays without merge keys', () => {
    expect(
      alpha('{overlay: {metadata: {labels: {a: b}}, spec: {list: [{(name): x, size: 1}, {name: z}]}}}'),
    ).toEqual([
      'apps/Deployment: set metadata.labels.a',
      'apps/Deployment: set spec.list[*].size',
      'apps/Deployment: item spec.list[name=z]',
    ]);
  });

  it('puts the items of a list in at an index with a slash after it', () => {
    expect(
      alpha('{patches: [{op: add, path: /spec/template/spec/containers/0/, value: [{name: a}, {name: b}]}]}'),
    ).toEqual([
      'apps/Deployment: item spec.template.spec.containers[name=a]',
      'apps/Deployment: item spec.template.spec.containers[name=b]',
    ]);
  });
});

describe('a rule for existing objects', () => {
  it('writes its targets', () => {
    const mutate =
      '\n      targets: [{apiVersion: apps/v1, kind: Deployment}]\n      patchStrategicMerge: {metadata: {labels: {a: b}}}';
    expect(writes(policy({ mutate }))).toEqual(['apps/Deployment: set metadata.labels.a']);
  });
});
