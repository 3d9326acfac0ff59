import { readFileSync } from 'node:fs';
import { describe, expect, it, test } from 'vitest';
import { loadDocuments } from '../../policy/load.ts';
import { type Parts, policy } from '../../policy/policy.testing.ts';
import { adviseOnPolicy } from './advice.ts';
import { differenceSections } from './difference.ts';

/** `code pointer` of each warning that advice adds; the pointer starts at the rule where there is one. */
function advice(parts: Parts, text = policy(parts)): string[] {
  const plain = loadDocuments([{ file: 'p.yaml', text }]).problems;
  const known = new Set(plain.map((problem) => JSON.stringify(problem)));
  return loadDocuments([{ file: 'p.yaml', text }], { advise: adviseOnPolicy })
    .problems.filter((problem) => !known.has(JSON.stringify(problem)))
    .map(({ code, pointer }) => `${code.slice('KYM_'.length)} ${pointer.replace('/spec/rules/0', '')}`);
}

const psm = (patch: string): Parts => ({
  match: 'any: [{resources: {kinds: [Pod]}}]',
  mutate: `patchStrategicMerge: ${patch}`,
});

it('says nothing about a sound policy', () => {
  expect(advice({})).toEqual([]);
});

it('does not compare a policy of kymera.io with what Kyverno does: Kyverno never sees it', () => {
  const replacements = 'replacements: [{source: {fieldPath: a}, targets: [{select: {}, fieldPaths: [b]}]}]';
  expect(advice({ mutate: replacements })).toEqual(['DIFFERS_FROM_KYVERNO /mutate/replacements']);
  expect(advice({ version: 'kymera.io/v1', mutate: replacements })).toEqual([]);
});

describe('what is deprecated', () => {
  test.each<[Parts, string[]]>([
    [{ version: 'kyverno.io/v2beta1' }, ['DEPRECATED /apiVersion']],
    [{ spec: 'failurePolicy: Ignore' }, ['DEPRECATED /spec/failurePolicy']],
    [{ spec: 'webhookTimeoutSeconds: 5' }, ['DEPRECATED /spec/webhookTimeoutSeconds']],
    [{ spec: 'schemaValidation: false' }, ['DEPRECATED /spec/schemaValidation']],
    [{ match: 'resources: {kinds: [ConfigMap]}' }, ['DEPRECATED /match/resources']],
    [
      { match: 'any: [{resources: {kinds: [ConfigMap], name: a}}]' },
      ['DEPRECATED /match/any/0/resources/name'],
    ],
    [
      { rule: 'preconditions: [{key: "{{request.name}}", operator: Equal, value: a}]' },
      ['DEPRECATED /preconditions', 'DEPRECATED /preconditions/0/operator'],
    ],
    [
      { rule: 'preconditions: {any: [{key: "{{request.name}}", operator: In, value: [a]}]}' },
      ['DEPRECATED /preconditions/any/0/operator'],
    ],
  ])('%j', (parts, expected) => {
    expect(advice(parts)).toEqual(expected);
  });

  it('the first dialect as a whole', () => {
    const text =
      'apiVersion: policy.nirmata.io/v1alpha1\nkind: Policy\nmetadata: {name: p}\nspec:\n  rules:\n  - resource: {kind: Pod}\n    mutate: {overlay: {metadata: {labels: {a: b}}}}\n';
    expect(advice({}, text)).toEqual(['DEPRECATED /apiVersion']);
  });
});

describe('what can never apply', () => {
  const block = (resources: string): Parts => ({ match: `any: [{resources: {${resources}}}]` });
  test.each<[Parts, string[]]>([
    [block('kinds: [Pod], operations: [DELETE]'), ['/match/any/0/resources/operations']],
    [block('kinds: [Pod], operations: [DELETE, UPDATE]'), []],
    [
      block('kinds: [Pod], names: [Web, "a_*", "a-?.*"]'),
      ['0', '1'].map((i) => `/match/any/0/resources/names/${i}`),
    ],
    [block('kinds: [ClusterRole], names: ["system:*"]'), []],
    [block('kinds: ["*"], names: ["system:*"]'), []],
    [block('kinds: [ClusterRole], namespaces: [a]'), ['/match/any/0/resources/namespaces']],
    [block('kinds: [ClusterRole], namespaces: ["*"]'), []],
    [block('kinds: [Namespace], namespaces: [a]'), []],
    [
      block('kinds: [Namespace], namespaceSelector: {matchLabels: {a: b}}'),
      ['/match/any/0/resources/namespaceSelector'],
    ],
    [block('kinds: [pod]'), ['/match/any/0/resources/kinds/0']],
    [block('kinds: [Deployments]'), ['/match/any/0/resources/kinds/0']],
    [block('kinds: [apps/v1/Pods]'), ['/match/any/0/resources/kinds/0']],
    [block('kinds: [apps/v1/Pod]'), ['/match/any/0/resources/kinds/0']],
    [block('kinds: [apps/v1/Deployment]'), []],
    [block('kinds: [batch/v1/Deployment]'), ['/match/any/0/resources/kinds/0']],
    [block('kinds: [example.com/v1/Pods, Box, "Pod*", v1/Deployment]'), []],
    [
      { match: 'all: [{resources: {kinds: [Pod, Service]}}, {resources: {kinds: [Secret]}}]' },
      ['/match/all/1/resources/kinds'],
    ],
    [{ match: 'all: [{resources: {kinds: [Pod, Service]}}, {resources: {kinds: [Service]}}]' }, []],
    [
      {
        match: 'any: [{resources: {kinds: [Pod], namespaces: [a]}}]',
        rule: 'exclude: {any: [{resources: {kinds: [Pod]}}]}',
      },
      ['/exclude/any/0'],
    ],
    [
      {
        match: 'any: [{resources: {kinds: [Pod]}}, {resources: {kinds: [Secret]}}]',
        rule: 'exclude: {any: [{resources: {kinds: [Pod, Service]}}]}',
      },
      [],
    ],
    [
      {
        match: 'any: [{resources: {kinds: [Pod]}}]',
        rule: 'exclude: {any: [{resources: {kinds: [Pod]}, subjects: [{kind: User, name: a}]}]}',
      },
      [],
    ],
    [
      { rule: 'preconditions: {all: [{key: request.name, operator: Equals, value: a}]}' },
      ['/preconditions/all/0'],
    ],
    [{ rule: 'preconditions: {all: [{key: a, operator: Equals, value: "*"}]}' }, []],
    [
      {
        rule: 'preconditions: {any: [{key: a, operator: Equals, value: b}, {key: 1, operator: GreaterThan, value: 2}]}',
      },
      ['/preconditions/any'],
    ],
    [
      {
        rule: 'preconditions: {any: [{key: a, operator: Equals, value: b}, {key: "{{request.name}}", operator: Equals, value: b}]}',
      },
      [],
    ],
    [
      {
        rule: 'preconditions: {all: [{key: "{{request.name}}", operator: Equals, value: a}, {key: "{{request.name}}", operator: Equals, value: b}]}',
      },
      ['/preconditions/all/1'],
    ],
    [
      {
        rule: 'preconditions: {all: [{key: "{{request.name}}", operator: Equals, value: a*}, {key: "{{request.name}}", operator: Equals, value: "*b"}]}',
      },
      [],
    ],
  ])('%j', (parts, expected) => {
    expect(advice(parts).filter((line) => line.startsWith('NEVER'))).toEqual(
      expected.map((pointer) => `NEVER_APPLIES ${pointer}`),
    );
  });

  it('a rule with targets may be triggered by DELETE', () => {
    const parts = {
      match: 'any: [{resources: {kinds: [ConfigMap], operations: [DELETE]}}]',
      mutate:
        'targets: [{apiVersion: v1, kind: Secret, name: a, namespace: b}]\n      patchStrategicMerge: {metadata: {labels: {a: b}}}',
    };
    expect(advice(parts)).toEqual([]);
  });
});

describe('what Kyverno treats otherwise', () => {
  const at = '/mutate/patchStrategicMerge';
  test.each<[string, Parts, string[]]>([
    [
      'several anchored items',
      psm('{spec: {containers: [{(image): a*, tty: true}, {(image): b*, tty: false}]}}'),
      [`${at}/spec/containers`],
    ],
    ['one anchored item', psm('{spec: {containers: [{(image): a*, tty: true}]}}'), []],
    [
      'plain values below a condition',
      psm('{spec: {(securityContext): {runAsUser: ">100"}, hostPID: false}}'),
      [`${at}/spec/(securityContext)`],
    ],
    [
      'conditions below a condition',
      psm('{spec: {(securityContext): {(runAsUser): ">100"}, hostPID: false}}'),
      [],
    ],
    [
      'a list of plain values below a condition',
      psm('{metadata: {(finalizers): ["a*"], labels: {a: b}}}'),
      [`${at}/metadata/(finalizers)`],
    ],
    [
      '+() in a list item',
      psm('{spec: {containers: [{(name): "*", +(tty): true}]}}'),
      [`${at}/spec/containers/0/+(tty)`],
    ],
    ['+() outside lists', psm('{spec: {+(hostPID): false}}'), []],
    [
      'anchored items without a name',
      psm('{spec: {tolerations: [{(key): a*, effect: NoSchedule}]}}'),
      [`${at}/spec/tolerations/0`],
    ],
    [
      'anchored items of a custom resource',
      {
        match: 'any: [{resources: {kinds: [Box]}}]',
        mutate: 'patchStrategicMerge: {spec: {things: [{(name): a, size: 2}]}}',
      },
      [`${at}/spec/things/0`],
    ],
    ['a keyed item without its key', psm('{spec: {containers: [{tty: true}]}}'), [`${at}/spec/containers/0`]],
    [
      'a global condition beside plain fields',
      psm('{spec: {containers: [{<(image): a*, tty: true}]}}'),
      [`${at}/spec/containers/0`],
    ],
    ['a global condition alone', psm('{spec: {containers: [{<(image): a*}], hostPID: false}}'), []],
    [
      'directives',
      psm('{spec: {containers: [{name: a, $patch: replace}], securityContext: {$retainKeys: [a], a: 1}}}'),
      [`${at}/spec/containers/0/$patch`, `${at}/spec/securityContext/$retainKeys`],
    ],
    ['directives that Kyverno knows', psm('{spec: {containers: [{(name): a, $patch: delete}]}}'), []],
    ['a keyed item with its key', psm('{spec: {containers: [{name: a, image: x}]}}'), []],
    [
      'a container without an image',
      psm('{spec: {containers: [{name: a, env: [{name: LOG, +(value): info}]}]}}'),
      [`${at}/spec/containers/0`, `${at}/spec/containers/0/env/0/+(value)`],
    ],
    ['a container of a foreach', psm('{spec: {containers: [{name: "{{ request.name }}", tty: true}]}}'), []],
    ['a container by its anchor', psm('{spec: {containers: [{(name): a, tty: true}]}}'), []],
    [
      'anchors further down',
      psm('{spec: {containers: [{env: [{(name): LOG, value: info}]}]}}'),
      [`${at}/spec/containers/0`],
    ],
    ['empty maps', psm('{spec: {volumes: [{name: a, emptyDir: {}}]}}'), [`${at}/spec/volumes/0/emptyDir`]],
    [
      'replacements',
      {
        mutate:
          'replacements: [{sourceValue: a, targets: [{select: {kind: ConfigMap}, fieldPaths: [data.a]}]}]',
      },
      ['/mutate/replacements'],
    ],
    [
      'names for elements',
      { mutate: 'foreach: [{list: "keys(request.object.data)", as: k, patchesJson6902: "[]"}]' },
      ['/mutate/foreach/0/as'],
    ],
    [
      '{{@}} in a loop',
      {
        mutate: 'foreach: [{list: "keys(request.object.data)", patchStrategicMerge: {data: {k: "{{ @ }}"}}}]',
      },
      ['/mutate/foreach/0/patchStrategicMerge/data/k'],
    ],
    [
      'anchors of a loop stand for one element',
      {
        match: 'any: [{resources: {kinds: [Pod]}}]',
        mutate:
          'foreach: [{list: request.object.spec.containers, patchStrategicMerge: {spec: {containers: [{(name): "{{element.name}}", +(tty): true}]}}}]',
      },
      [],
    ],
    [
      'nested loops over Pods',
      {
        match: 'any: [{resources: {kinds: [Pod]}}]',
        mutate:
          'foreach: [{list: request.object.spec.containers, foreach: [{list: element.env, patchesJson6902: "[]"}]}]',
      },
      ['/mutate/foreach/0/foreach'],
    ],
    [
      'a bare nested variable',
      psm('{metadata: {labels: {a: "{{ request.object.data.{{ request.name }} }}"}}}'),
      [`${at}/metadata/labels/a`],
    ],
    [
      'a quoted nested variable',
      psm(`{metadata: {labels: {a: "{{ to_upper('{{ request.name }}') }}"}}}`),
      [],
    ],
    [
      'old membership of a single value',
      { rule: 'preconditions: {all: [{key: "{{request.name}}", operator: NotIn, value: a}]}' },
      ['/preconditions/all/0'],
    ],
  ])('%s', (_, parts, expected) => {
    expect(advice(parts).filter((line) => line.startsWith('DIFFERS'))).toEqual(
      expected.map((pointer) => `DIFFERS_FROM_KYVERNO ${pointer}`),
    );
  });

  it('points to sections that are there', () => {
    const page = readFileSync(new URL('../../../docs/differences-from-kyverno.md', import.meta.url), 'utf8');
    const anchors = [...page.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
      title
        .toLowerCase()
        .replace(/[^\w\- ]/g, '')
        .replaceAll(' ', '-'),
    );
    for (const section of Object.values(differenceSections)) expect(anchors).toContain(section);
  });
});
