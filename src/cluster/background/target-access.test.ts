import { describe, expect, it } from 'vitest';
import { neededAccess } from '../../background/access/needed-access.ts';
import type { JsonObject } from '../../json/value.ts';
import { smallCluster } from '../api/served-kinds.testing.ts';
import { serviceAccountIdentity } from './identity.ts';
import { describeAccess } from './target-access.ts';

function needs(target: JsonObject, namespace?: string): readonly string[] {
  const policy = {
    kind: namespace === undefined ? 'ClusterPolicy' : 'Policy',
    metadata: namespace === undefined ? {} : { namespace },
    spec: { rules: [{ mutate: { targets: [target] } }] },
  };
  return neededAccess(policy, smallCluster).map(describeAccess);
}

describe('targets of a rule need', () => {
  it('to be read, listed and patched', () => {
    expect(needs({ apiVersion: 'apps/v1', kind: 'Deployment' })).toEqual([
      'get deployments.apps',
      'list deployments.apps',
      'patch deployments.apps',
    ]);
  });

  it('this in their namespace, when it is known', () => {
    const target = { apiVersion: 'v1', kind: 'ConfigMap' };
    expect(needs({ ...target, namespace: 'team' })[0]).toBe('get configmaps in namespace team');
    expect(needs({ ...target, namespace: 'te*' })[0]).toBe('get configmaps');
    expect(needs({ ...target, namespace: '{{ request.namespace }}' })[0]).toBe('get configmaps');
    expect(needs(target, 'own')[0]).toBe('get configmaps in namespace own');
  });

  it('the subresource that they name', () => {
    expect(needs({ apiVersion: 'apps/v1', kind: 'Deployment/scale' })).toEqual([
      'get deployments.apps',
      'list deployments.apps',
      'get deployments/scale.apps',
      'patch deployments/scale.apps',
    ]);
  });

  it('nothing yet when the kind depends on variables or is not served', () => {
    expect(needs({ apiVersion: 'v1', kind: '{{ request.object.kind }}' })).toEqual([]);
    expect(needs({ apiVersion: 'v1', kind: 'Gadget' })).toEqual([]);
  });
});

it.each([
  [{}, ['get configmaps in namespace a', 'create configmaps in namespace a']],
  [
    { useServerSideApply: true },
    ['get configmaps in namespace a', 'create configmaps in namespace a', 'patch configmaps in namespace a'],
  ],
])('generated objects with %j need %j', (spec, expected) => {
  const generate = { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', namespace: 'a', data: {} };
  const policy = { kind: 'ClusterPolicy', spec: { ...spec, rules: [{ generate }] } };
  expect(neededAccess(policy, smallCluster).map(describeAccess)).toEqual(expected);
});

describe('a service account', () => {
  it('is in the groups of all service accounts', () => {
    expect(serviceAccountIdentity('system:serviceaccount:ns:name').groups).toEqual([
      'system:serviceaccounts',
      'system:serviceaccounts:ns',
      'system:authenticated',
    ]);
  });
});
