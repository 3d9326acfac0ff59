import { describe, expect, test } from 'vitest';
import type { DataQuery } from '../engine/context/data-source.ts';
import { parseLabelQuery } from '../expression/label-query.ts';
import type { JsonObject } from '../json/value.ts';
import { resourceOf } from '../policy/resource-name.ts';
import { parseApiPath } from './api-path.ts';
import { createInputDataSource } from './data-source.ts';

test.each([
  [
    '/api/v1/namespaces/a/configmaps/b',
    { group: '', version: 'v1', namespace: 'a', resource: 'configmaps', name: 'b' },
  ],
  ['/api/v1/namespaces/a/pods', { group: '', version: 'v1', namespace: 'a', resource: 'pods' }],
  ['/api/v1/namespaces', { group: '', version: 'v1', resource: 'namespaces' }],
  ['/api/v1/namespaces/a', { group: '', version: 'v1', resource: 'namespaces', name: 'a' }],
  ['/apis/apps/v1/deployments', { group: 'apps', version: 'v1', resource: 'deployments' }],
  [
    '/apis/apps/v1/namespaces/a/deployments/b',
    { group: 'apps', version: 'v1', namespace: 'a', resource: 'deployments', name: 'b' },
  ],
  ['/api/v1/pods?labelSelector=a%3Db', { group: '', version: 'v1', resource: 'pods', labelSelector: 'a=b' }],
  ['/version', undefined],
  ['/api/v1/namespaces/a/pods/b/status', undefined],
])('%s', (path, expected) => {
  expect(parseApiPath(path)).toEqual(expected);
});

test.each([
  ['Pod', 'pods'],
  ['Ingress', 'ingresses'],
  ['NetworkPolicy', 'networkpolicies'],
  ['Endpoints', 'endpoints'],
  ['Gateway', 'gateways'],
  ['StorageClass', 'storageclasses'],
])('the resource of %s is %s', (kind, resource) => {
  expect(resourceOf(kind)).toBe(resource);
});

test.each([
  ['a=b', true],
  ['a==b,c!=d', true],
  ['a!=b', false],
  ['a', true],
  ['!a', false],
  ['!x', true],
  ['a in (b, c)', true],
  ['a notin (b)', false],
  ['a in (b),x', false],
])('the selector %s on a=b gives %s', (selector, expected) => {
  expect(parseLabelQuery(selector)?.({ a: 'b' })).toBe(expected);
});

const object = (
  apiVersion: string,
  kind: string,
  name: string,
  namespace?: string,
  labels?: JsonObject,
): JsonObject => ({
  apiVersion,
  kind,
  metadata: {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(labels === undefined ? {} : { labels }),
  },
});

describe('questions', () => {
  const settings = { ...object('v1', 'ConfigMap', 'settings'), data: { a: 'b' } };
  const pods = [object('v1', 'Pod', 'one', 'a', { app: 'x' }), object('v1', 'Pod', 'two', 'b', { app: 'y' })];
  const entry: JsonObject = {
    ...object('kyverno.io/v2', 'GlobalContextEntry', 'all-pods'),
    spec: { kubernetesResource: { version: 'v1', resource: 'pods', namespace: 'a' } },
  };
  const source = createInputDataSource(
    [settings, ...pods, entry, object('v1', 'Namespace', 'gold', undefined, { tier: 'gold' })],
    { now: () => new Date(0), random: () => 0 },
    {
      namespaces: new Map([['given', { from: 'values' }]]),
      apiCalls: new Map([
        ['/canned', { status: 200, body: { n: 1 } }],
        ['POST /canned', { status: 503, body: null }],
      ]),
      globalReferences: new Map([['counts', [1, 2]]]),
    },
  );
  const ask = (query: DataQuery) => source.read(query);
  const get = (urlPath: string) => ask({ type: 'apiCall', method: 'GET', urlPath });

  test('ConfigMaps, in the namespace that an object without one is in', () => {
    expect(ask({ type: 'configMap', namespace: 'default', name: 'settings' })).toEqual({
      found: true,
      value: settings,
    });
    expect(ask({ type: 'configMap', namespace: 'other', name: 'settings' })).toMatchObject({
      found: false,
      error: expect.stringContaining('ConfigMap other/settings'),
    });
  });

  test('API calls for one object and for lists', () => {
    expect(get('/api/v1/namespaces/default/configmaps/settings')).toEqual({ found: true, value: settings });
    expect(get('/api/v1/namespaces/a/pods')).toMatchObject({ value: { kind: 'PodList', items: [pods[0]] } });
    expect(get('/api/v1/pods')).toMatchObject({ value: { items: pods } });
    expect(get('/api/v1/pods?labelSelector=app=y')).toMatchObject({ value: { items: [pods[1]] } });
    expect(get('/apis/apps/v1/deployments')).toMatchObject({ found: true, value: { items: [] } });
    expect(get('/api/v1/namespaces/a/pods/nope')).toMatchObject({ found: false });
    expect(get('/version')).toMatchObject({ found: false });
  });

  test('canned answers, by method where one is named', () => {
    expect(get('/canned')).toEqual({ found: true, value: { n: 1 } });
    expect(ask({ type: 'apiCall', method: 'POST', urlPath: '/canned' })).toMatchObject({
      found: false,
      error: 'POST /canned returned 503',
    });
  });

  test('global references, canned or from a GlobalContextEntry over the input', () => {
    expect(ask({ type: 'globalReference', name: 'counts' })).toEqual({ found: true, value: [1, 2] });
    expect(ask({ type: 'globalReference', name: 'all-pods' })).toEqual({ found: true, value: [pods[0]] });
    expect(ask({ type: 'globalReference', name: 'nope' })).toMatchObject({ found: false });
  });

  test('namespace labels', () => {
    expect(ask({ type: 'namespaceLabels', namespace: 'given' })).toEqual({
      found: true,
      value: { from: 'values' },
    });
    expect(ask({ type: 'namespaceLabels', namespace: 'gold' })).toMatchObject({
      value: { tier: 'gold', 'kubernetes.io/metadata.name': 'gold' },
    });
    expect(ask({ type: 'namespaceLabels', namespace: 'none' })).toEqual({
      found: true,
      value: { 'kubernetes.io/metadata.name': 'none' },
    });
  });

  test('one object, by kind and name', () => {
    expect(ask({ type: 'object', kind: 'Pod', name: 'two' })).toEqual({ found: true, value: pods[1] });
    expect(ask({ type: 'object', kind: 'Pod', name: 'two', namespace: 'a' })).toMatchObject({ found: false });
    expect(ask({ type: 'object', kind: 'Pod', name: 'two', group: 'apps' })).toMatchObject({ found: false });
  });

  test('a namespaced Policy reads only its namespace', () => {
    const queries: DataQuery[] = [
      { type: 'object', kind: 'Namespace', name: 'gold' },
      { type: 'object', kind: 'Pod', name: 'two', namespace: 'b' },
      { type: 'apiCall', method: 'GET', urlPath: '/api/v1/pods' },
      { type: 'apiCall', method: 'GET', service: { url: 'http://x.b.svc/' } },
      { type: 'globalReference', name: 'all-pods' },
    ];
    for (const query of queries) {
      expect(ask({ ...query, policyNamespace: 'a' } as DataQuery)).toMatchObject({
        found: false,
        denied: true,
      });
    }
  });
});
