import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../json/value.ts';
import { autogenAnnotation, autogenRules } from './autogen.ts';

const overlay: JsonObject = { spec: { hostNetwork: false } };

function policy(rules: readonly JsonObject[], controllers?: string): JsonObject {
  const annotations = controllers === undefined ? {} : { [autogenAnnotation]: controllers };
  return { metadata: { name: 'p', annotations }, spec: { rules } };
}

function rule(fields: JsonObject = {}): JsonObject {
  return {
    name: 'r',
    match: { any: [{ resources: { kinds: ['Pod'] } }] },
    mutate: { patchStrategicMerge: overlay },
    ...fields,
  };
}

function generated(rules: readonly JsonObject[], controllers?: string): JsonObject[] {
  return autogenRules(policy(rules, controllers)).map(({ document }) => document);
}

const names = (rules: readonly JsonObject[], controllers?: string): Json[] =>
  generated(rules, controllers).map((document) => document.name ?? null);

const controllerKinds = [
  'apps/v1/DaemonSet',
  'apps/v1/Deployment',
  'batch/v1/Job',
  'apps/v1/ReplicaSet',
  'v1/ReplicationController',
  'apps/v1/StatefulSet',
];

describe('what is generated', () => {
  it('one rule for controllers and one for CronJobs, after the rule of each', () => {
    expect(generated([rule()])).toEqual([
      {
        name: 'autogen-r',
        match: { any: [{ resources: { kinds: controllerKinds } }] },
        mutate: { patchStrategicMerge: { spec: { template: overlay } } },
      },
      {
        name: 'autogen-cronjob-r',
        match: { any: [{ resources: { kinds: ['batch/v1/CronJob'] } }] },
        mutate: { patchStrategicMerge: { spec: { jobTemplate: { spec: { template: overlay } } } } },
      },
    ]);
    expect(autogenRules(policy([rule(), rule({ name: 's' })])).map(({ source }) => source)).toEqual([
      0, 0, 1, 1,
    ]);
  });

  it('names are cut to 63 characters', () => {
    expect(names([rule({ name: 'n'.repeat(60) })])).toEqual([
      `autogen-${'n'.repeat(55)}`,
      `autogen-cronjob-${'n'.repeat(47)}`,
    ]);
  });

  it('texts are rewritten, in keys too; whatever they meant', () => {
    const [controllers, cron] = generated([
      rule({
        context: [{ name: 'c', variable: { jmesPath: 'request.oldObject.spec.nodeName' } }],
        preconditions: {
          all: [{ key: '{{ request.object.metadata.namespace }}', operator: 'Equals', value: 'x' }],
        },
        reportProperties: { 'request.object.spec': '{{ images.containers }}' },
        skipBackgroundRequests: false,
      }),
    ]);
    expect(controllers).toMatchObject({
      context: [{ variable: { jmesPath: 'request.oldObject.spec.template.spec.nodeName' } }],
      preconditions: { all: [{ key: '{{ request.object.spec.template.metadata.namespace }}' }] },
      reportProperties: { 'request.object.spec.template.spec': '{{ images.containers }}' },
      skipBackgroundRequests: false,
    });
    expect(cron).toMatchObject({
      context: [{ variable: { jmesPath: 'request.oldObject.spec.jobTemplate.spec.template.spec.nodeName' } }],
      preconditions: {
        all: [{ key: '{{ request.object.spec.jobTemplate.spec.template.metadata.namespace }}' }],
      },
    });
  });

  it('a loop keeps list, context and preconditions, but not order', () => {
    const loop = {
      list: 'request.object.spec.containers',
      preconditions: { all: [] },
      patchStrategicMerge: overlay,
    };
    const [controllers] = generated([rule({ mutate: { foreach: [{ ...loop, order: 'Ascending' }] } })]);
    expect(controllers).not.toHaveProperty('mutate.foreach.0.order');
    expect(controllers).toMatchObject({
      mutate: {
        foreach: [
          {
            ...loop,
            list: 'request.object.spec.template.spec.containers',
            patchStrategicMerge: { spec: { template: overlay } },
          },
        ],
      },
    });
  });

  it('only blocks for Pods get the kinds of controllers; all of them get CronJob', () => {
    const match = {
      any: [{ resources: { kinds: ['v1/Pod'], namespaces: ['a'] } }, { resources: { kinds: ['Service'] } }],
    };
    const needed = rule({ name: 'needed' });
    const [controllers, cron] = generated([rule({ match }), needed]);
    expect(controllers?.match).toEqual({
      any: [
        { resources: { kinds: controllerKinds, namespaces: ['a'] } },
        { resources: { kinds: ['Service'] } },
      ],
    });
    expect(cron?.match).toEqual({
      any: [
        { resources: { kinds: ['batch/v1/CronJob'], namespaces: ['a'] } },
        { resources: { kinds: ['batch/v1/CronJob'] } },
      ],
    });
  });

  it('the flat form and exclude are carried over', () => {
    const [controllers] = generated([
      rule({
        match: { resources: { kinds: ['Pod'] }, subjects: [{ kind: 'User', name: 'u' }] },
        exclude: { resources: { namespaces: ['n'] } },
      }),
    ]);
    expect(controllers?.match).toEqual({
      resources: { kinds: controllerKinds },
      subjects: [{ kind: 'User', name: 'u' }],
    });
    expect(controllers?.exclude).toEqual({ resources: { namespaces: ['n'] } });
  });

  it('a rule for existing objects is not carried over: its patch is meant for its targets', () => {
    const existing = rule({
      name: 'e',
      mutate: { targets: [{ kind: 'Secret' }], patchStrategicMerge: overlay },
    });
    expect(names([existing, rule()])).toEqual(['autogen-r', 'autogen-cronjob-r']);
  });
});

describe('the annotation', () => {
  it.each([
    [undefined, ['autogen-r', 'autogen-cronjob-r']],
    ['all', ['autogen-r', 'autogen-cronjob-r']],
    ['none', []],
    ['', []],
    ['CronJob', ['autogen-cronjob-r']],
    ['Deployment', ['autogen-r']],
    ['Deployment,CronJob', ['autogen-r', 'autogen-cronjob-r']],
    ['Nonsense', []],
  ])('%s', (controllers, expected) => {
    expect(names([rule()], controllers)).toEqual(expected);
  });

  it('narrows the kinds', () => {
    expect(generated([rule()], 'StatefulSet,Deployment,Nonsense')[0]?.match).toEqual({
      any: [{ resources: { kinds: ['apps/v1/Deployment', 'apps/v1/StatefulSet'] } }],
    });
  });
});

describe('what switches it off for the whole policy', () => {
  const other = (resources: JsonObject): JsonObject => rule({ name: 'o', match: { any: [{ resources }] } });

  it.each([
    ['patchesJson6902', rule({ mutate: { patchesJson6902: '- op: remove\n  path: /a' } })],
    ['patchesJson6902 in a loop', rule({ mutate: { foreach: [{ list: 'a', patchesJson6902: '[]' }] } })],
    [
      'a generate rule',
      { name: 'g', match: { any: [{ resources: { kinds: ['Namespace'] } }] }, generate: { kind: 'A' } },
    ],
    ['names', other({ kinds: ['Pod'], names: ['a'] })],
    ['name', other({ kinds: ['Pod'], name: 'a' })],
    ['a selector', other({ kinds: ['Secret'], selector: { matchLabels: { a: 'b' } } })],
    ['annotations', other({ kinds: ['Secret'], annotations: { a: 'b' } })],
    ['Pod beside another kind', other({ kinds: ['Pod', 'Deployment'] })],
    ['names in exclude', rule({ name: 'o', exclude: { any: [{ resources: { names: ['a'] } }] } })],
    ['names in the flat form', rule({ name: 'o', match: { resources: { kinds: ['Pod'], names: ['a'] } } })],
  ])('%s', (_, offending) => {
    expect(names([rule(), offending])).toEqual([]);
  });

  it.each([
    ['namespaces', other({ kinds: ['Pod'], namespaces: ['a'] })],
    ['a namespaceSelector', other({ kinds: ['Pod'], namespaceSelector: { matchLabels: { a: 'b' } } })],
    ['operations', other({ kinds: ['Pod'], operations: ['CREATE'] })],
    ['other kinds together', other({ kinds: ['Secret', 'ConfigMap'] })],
  ])('not %s', (_, harmless) => {
    expect(names([rule(), harmless])).toContain('autogen-r');
  });
});

describe('which rules are sources', () => {
  it.each([
    ['no Pod among the kinds', rule({ match: { any: [{ resources: { kinds: ['Deployment'] } }] } }), []],
    [
      'v1/Pod alone does not ask for it',
      rule({ match: { any: [{ resources: { kinds: ['v1/Pod'] } }] } }),
      [],
    ],
    ['exclude without Pod', rule({ exclude: { any: [{ resources: { kinds: ['Job'] } }] } }), []],
    [
      'exclude with Pod',
      rule({ exclude: { any: [{ resources: { kinds: ['Pod'], namespaces: ['n'] } }] } }),
      ['autogen-r', 'autogen-cronjob-r'],
    ],
    ['the name autogen-…', rule({ name: 'autogen-x' }), []],
    [
      'nested loops',
      rule({ mutate: { foreach: [{ list: 'a', foreach: [{ list: 'b', patchesJson6902: '[]' }] }] } }),
      [],
    ],
    ['replacements', rule({ mutate: { replacements: [{}] } }), []],
  ])('%s', (_, source, expected) => {
    expect(names([source])).toEqual(expected);
  });
});
