import { describe, expect, it, test } from 'vitest';
import type { HttpRequest } from '../api/transport.ts';
import { createQueryCounts } from './query-counts.ts';

const names: Readonly<Record<string, string>> = {
  pods: 'Pod',
  leases: 'Lease',
  namespaces: 'Namespace',
  clusterpolicies: 'ClusterPolicy',
  customresourcedefinitions: 'CustomResourceDefinition',
  widgets: 'Widget',
};
const kinds = {
  kindOfResource: ({ group, version, resource }: { group: string; version: string; resource: string }) => {
    const kind = names[resource];
    return kind === undefined ? undefined : { group, version, kind };
  },
};

function labelsOf(request: HttpRequest): string {
  const counts = createQueryCounts('kymera');
  counts.add(request);
  const [figure] = counts.all(kinds);
  return Object.values(figure?.labels ?? {}).join(' ');
}

describe('a query of the API server is counted', () => {
  test.each([
    ['GET', '/api/v1/namespaces/shop/pods/web', 'get kubeclient Pod '],
    ['GET', '/api/v1/pods?limit=500', 'list kubeclient Pod '],
    ['GET', '/api/v1/namespaces/shop/pods', 'list kubeclient Pod '],
    ['GET', '/api/v1/pods?watch=true&resourceVersion=1', 'watch kubeclient Pod '],
    ['GET', '/api/v1/namespaces/shop', 'get kubeclient Namespace '],
    ['PUT', '/api/v1/namespaces/shop/finalize', 'update kubeclient Namespace '],
    ['PUT', '/apis/coordination.k8s.io/v1/namespaces/kymera/leases/kymera', 'update kubeclient Lease kymera'],
    ['PUT', '/apis/kyverno.io/v1/clusterpolicies/p/status', 'update_status kyverno ClusterPolicy '],
    ['POST', '/api/v1/namespaces/shop/pods', 'create kubeclient Pod '],
    ['PATCH', '/api/v1/namespaces/shop/pods/web', 'patch kubeclient Pod '],
    ['DELETE', '/api/v1/namespaces/shop/pods/web', 'delete kubeclient Pod '],
    ['DELETE', '/api/v1/namespaces/shop/pods', 'delete_collection kubeclient Pod '],
    [
      'GET',
      '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
      'list apiserver CustomResourceDefinition ',
    ],
    ['GET', '/apis/shop.example/v1/widgets/w', 'get dynamic Widget '],
    ['GET', '/apis/shop.example/v1/nothing/w', 'get dynamic - '],
    ['GET', '/apis', 'get kubeclient Discovery '],
    ['GET', '/api/v1', 'get kubeclient Discovery '],
    ['GET', '/version', 'get kubeclient - '],
  ])('%s %s as %s', (method, path, expected) => {
    expect(labelsOf({ method, path })).toBe(expected);
  });

  it('as one of the metadata client, if only metadata is requested', () => {
    const headers = { accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1' };
    expect(labelsOf({ method: 'GET', path: '/api/v1/pods', headers })).toBe('list metadata Pod ');
  });
});

describe('counts of queries', () => {
  it('add up over versions of a kind and over namespaces', () => {
    const counts = createQueryCounts('kymera');
    for (const path of ['/apis/shop.example/v1/widgets/w', '/apis/shop.example/v2/widgets/w'])
      counts.add({ method: 'GET', path });
    for (const namespace of ['a', 'b', 'c'])
      counts.add({ method: 'GET', path: `/api/v1/namespaces/${namespace}/pods/x` });
    expect(counts.all(kinds).map(({ value }) => value)).toEqual([2, 3]);
  });

  it('stay few, whatever paths policies name', () => {
    const counts = createQueryCounts('kymera');
    for (let index = 0; index < 5_000; index += 1)
      counts.add({ method: 'GET', path: `/apis/group-${index}.example/v1/things` });
    const all = counts.all(kinds);
    expect(all.map(({ labels }) => labels['operation']).sort()).toEqual(['list', 'other']);
    expect(all.reduce((total, { value }) => total + value, 0)).toBe(5_000);
  });
});
