import { describe, expect, it, test } from 'vitest';
import type { DataSource } from '../engine/context/data-source.ts';
import { mutateSync } from '../engine/mutate.ts';
import type { Json, JsonObject } from '../json/value.ts';
import { loadDocuments } from '../policy/load.ts';
import { createSnapshot } from '../policy/registry/registry.ts';
import { requestOf } from './review-request.ts';

/** As the API server sends it: what is connected to is named by the request, the options have no metadata. */
const connection: JsonObject = {
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  request: {
    uid: 'u-1',
    kind: { group: '', version: 'v1', kind: 'PodExecOptions' },
    resource: { group: '', version: 'v1', resource: 'pods' },
    subResource: 'exec',
    name: 'web',
    namespace: 'shop',
    operation: 'CONNECT',
    userInfo: { username: 'jane', groups: [] },
    object: { kind: 'PodExecOptions', apiVersion: 'v1', stdout: true, container: 'main', command: ['ls'] },
    oldObject: null,
    dryRun: false,
    options: null,
  },
};
const kindOfResource = () => ({ group: '', version: 'v1', kind: 'Pod' });
const dataSource: DataSource = {
  read: (query) =>
    query.type === 'namespaceLabels' && query.namespace === 'shop'
      ? { found: true, value: { tier: 'gold' } }
      : { found: false, error: 'unknown' },
};

interface Parts {
  readonly resources?: JsonObject;
  readonly exclude?: JsonObject;
  readonly patch?: JsonObject;
  readonly namespace?: string;
}

function patchFor(...policies: readonly Parts[]): Json {
  const documents = policies.map(({ resources, exclude, patch, namespace }, index) => ({
    apiVersion: 'kyverno.io/v1',
    kind: namespace === undefined ? 'ClusterPolicy' : 'Policy',
    metadata: { name: `policy-${index}`, ...(namespace === undefined ? {} : { namespace }) },
    spec: {
      rules: [
        {
          name: 'rule',
          match: { any: [{ resources: { kinds: ['Pod/exec'], operations: ['CONNECT'], ...resources } }] },
          ...(exclude === undefined ? {} : { exclude: { any: [{ resources: exclude }] } }),
          mutate: { patchStrategicMerge: patch ?? { container: 'side' } },
        },
      ],
    },
  }));
  const files = documents.map((document) => ({ file: 'policy.yaml', text: JSON.stringify(document) }));
  const { policies: compiled, problems } = loadDocuments(files);
  expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  const { request } = requestOf(connection, { kindOfResource });
  const { failedPolicies, patchText } = mutateSync(request, createSnapshot(compiled), { dataSource });
  expect(failedPolicies).toEqual([]);
  return patchText === '[]' ? null : JSON.parse(patchText);
}

const mutated = [{ op: 'replace', path: '/container', value: 'side' }];

describe('a connection is matched by what is connected to', () => {
  test.each<[string, Parts, Json]>([
    ['its kind and subresource', {}, mutated],
    ['another subresource', { resources: { kinds: ['Pod/attach'] } }, null],
    ['the Pod alone', { resources: { kinds: ['Pod'] } }, null],
    ['any subresource', { resources: { kinds: ['Pod/*'] } }, mutated],
    ['its namespace', { resources: { namespaces: ['sh*'] } }, mutated],
    ['another namespace', { resources: { namespaces: ['other'] } }, null],
    ['its name', { resources: { names: ['web'] } }, mutated],
    ['another name', { resources: { names: ['db'] } }, null],
    [
      'labels of its namespace',
      { resources: { namespaceSelector: { matchLabels: { tier: 'gold' } } } },
      mutated,
    ],
    [
      'other labels of its namespace',
      { resources: { namespaceSelector: { matchLabels: { tier: 'x' } } } },
      null,
    ],
    ['an excluded namespace', { exclude: { namespaces: ['shop'] } }, null],
    ['a Policy in its namespace', { namespace: 'shop' }, mutated],
    ['a Policy elsewhere', { namespace: 'other' }, null],
  ])('%s', (_, parts, expected) => {
    expect(patchFor(parts)).toEqual(expected);
  });

  it('and its options stay options: no name or namespace comes into the patch', () => {
    const told = '{{ request.name }} {{ request.object.kind }} {{ request.object.command[0] }}';
    expect(patchFor({ resources: { namespaces: ['shop'] }, patch: { container: told } })).toEqual([
      { op: 'replace', path: '/container', value: 'web PodExecOptions ls' },
    ]);
  });

  it('also after an earlier rule has given the options metadata', () => {
    const first = { patch: { metadata: { labels: { a: 'b' } } } };
    const second = { resources: { namespaces: ['shop'], names: ['web'] } };
    expect(patchFor(first, second)).toEqual(expect.arrayContaining(mutated));
  });
});
