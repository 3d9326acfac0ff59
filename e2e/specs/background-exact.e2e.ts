import { expect, it } from 'vitest';
import type { JsonObject } from '../../src/json/value.ts';
import { type Background, becomes, startInBackground } from '../background.ts';
import { configMap, mergePolicy } from '../objects.ts';
import { withPolicies } from '../policies-in-force.ts';
import { suite } from '../suite.ts';

const group = 'exact.example.com';
const large = '9007199254740993';
const definition: JsonObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `counters.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { kind: 'Counter', plural: 'counters', singular: 'counter' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};

suite('exact numbers in the background', ({ settings, kubectl, namespace, before, after }) => {
  let background: Background;
  before(async () => {
    await kubectl.sendOk('create', definition);
    await kubectl.ok('wait', '--for=condition=Established', `crd/counters.${group}`);
    const verbs = ['get', 'list', 'watch', 'create', 'patch', 'delete'];
    background = await startInBackground(settings, {
      rules: [
        { apiGroups: [group], resources: ['counters'], verbs },
        { apiGroups: [''], resources: ['secrets', 'configmaps'], verbs },
      ],
    });
    const counter = (name: string) =>
      `{"apiVersion":"${group}/v1","kind":"Counter","metadata":{"name":"${name}"},"spec":{"untouched":${large},"negative":-${large}}}`;
    await kubectl.sendOk('create', counter('target'));
  });
  after(async () => {
    await background.uninstall();
    await kubectl.ok('delete', 'crd', `counters.${group}`, '--wait=false');
  });
  const raw = (name: string) =>
    kubectl.ok('get', '--raw', `/apis/${group}/v1/namespaces/${namespace}/counters/${name}`);

  it('survive in fields that a rule does not touch, and in fields that it copies', async () => {
    const target = { apiVersion: `${group}/v1`, kind: 'Counter', name: 'target', namespace };
    const rule: JsonObject = {
      mutate: {
        targets: [target],
        patchStrategicMerge: {
          metadata: { labels: { reached: 'yes' } },
          spec: { copied: '{{ target.spec.untouched }}' },
        },
      },
    };
    const policy = mergePolicy(
      'exact-targets',
      'ConfigMap',
      {},
      { resources: { namespaces: [namespace] }, rule },
    );
    await withPolicies(kubectl, [policy], async () => {
      await kubectl.sendOk('create', configMap('trigger'));
      await becomes(kubectl, 'counter', 'target', ({ metadata }) => metadata.labels?.['reached'] === 'yes');
      const text = await raw('target');
      for (const field of [`"untouched":${large}`, `"negative":-${large}`, `"copied":${large}`]) {
        expect(text).toContain(field);
      }
    });
  });

  it('survive in copies', async () => {
    const rule: JsonObject = {
      generate: {
        apiVersion: `${group}/v1`,
        kind: 'Counter',
        name: 'copy',
        namespace,
        synchronize: true,
        clone: { name: 'target', namespace },
      },
    };
    const policy = {
      apiVersion: 'kyverno.io/v1',
      kind: 'ClusterPolicy',
      metadata: { name: 'exact-clone' },
      spec: {
        rules: [
          {
            name: 'clone',
            match: {
              any: [{ resources: { kinds: ['ConfigMap'], names: ['clone'], namespaces: [namespace] } }],
            },
            ...rule,
          },
        ],
      },
    };
    await withPolicies(kubectl, [policy], async () => {
      await kubectl.sendOk('create', configMap('clone'));
      await becomes(kubectl, 'counter', 'copy', ({ spec }) => spec?.untouched !== undefined);
      expect(await raw('copy')).toContain(`"untouched":${large}`);
      // Something else changes the copy: it is put right with a patch.
      await kubectl.ok('patch', 'counter', 'copy', '--type=merge', '-p', '{"spec":{"negative":1}}');
      await becomes(kubectl, 'counter', 'copy', ({ spec }) => spec?.negative !== 1);
      expect(await raw('copy')).toContain(`"negative":-${large}`);
    });
  });
});
