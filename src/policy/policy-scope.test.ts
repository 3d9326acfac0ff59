import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../json/value.ts';
import { type PolicyAccess, scopeViolation } from './policy-scope.ts';

const violation = (access: PolicyAccess) => scopeViolation('team', access);

describe('paths of the API', () => {
  it.each([
    '/api/v1/namespaces/team',
    '/api/v1/namespaces/team/pods',
    '/api/v1/namespaces/team/pods/',
    '/api/v1/namespaces/team/pods?labelSelector=a%3D..%2F',
    '/apis/apps/v1/namespaces/team/deployments/web/scale',
    '/apis/rbac.authorization.k8s.io/v1/namespaces/team/roles/system:x',
  ])('%s is inside the namespace', (urlPath) => {
    expect(violation({ type: 'path', urlPath })).toBeUndefined();
  });

  it.each([
    '',
    '/',
    'api/v1/namespaces/team/pods',
    '/api/v1/pods',
    '/api/v1/namespaces',
    '/api/v1/namespaces/other/pods',
    '/api/v1/namespaces/team2/pods',
    '/api/v1/namespaces/*/pods',
    '/api/v1/nodes/namespaces/team',
    '/apis/apps/v1/deployments?x=/namespaces/team/',
    '/version',
    '/apis/x/namespaces/team/pods',
    '/api/v1/watch/namespaces/team/pods',
    '/api/v1/namespaces/team/../other/pods',
    '/api/v1/namespaces/team/./pods',
    '/api/v1/namespaces/team/%2e%2e/other/pods',
    '/api/v1/namespaces/team/%2E./other/pods',
    '/api/v1/namespaces/team/..%2fother/pods',
    '/api/v1/namespaces/team/%252e%252e/other',
    '/api/v1/namespaces/%74eam/pods',
    '/api/v1/namespaces/team%2f..%2fother/pods',
    '//api/v1/namespaces/team/pods',
    '/api/v1//namespaces/team/pods',
    '/api/v1/namespaces/team//pods',
    '/api/v1/namespaces/team/pods//',
    '/api/v1/namespaces/team\\..\\other',
    '/api/v1/namespaces/team/pods#/x',
    '/api/v1/namespaces/team/pods\n',
    '/api/v1/namespaces/team/\u2024\u2024/other',
    'https://other.example/api/v1/namespaces/team/pods',
  ])('%j is refused', (urlPath) => {
    expect(violation({ type: 'path', urlPath })).toMatch(/^a Policy in namespace team can call only/);
  });
});

describe('objects', () => {
  const object = (namespaced: boolean | undefined, namespace: string): PolicyAccess => ({
    type: 'object',
    kind: 'Bee',
    namespaced,
    namespace,
  });
  it.each(['', 'team', '*', 'te?m', 't*'])('in namespace %j are inside', (namespace) => {
    expect(violation(object(true, namespace))).toBeUndefined();
  });
  it.each([
    [true, 'other', 'a Policy in namespace team cannot access Bee objects in namespace other'],
    [true, 'o*', 'a Policy in namespace team cannot access Bee objects in namespace o*'],
    [false, '', 'a Policy in namespace team cannot access Bee, which is cluster-scoped'],
    [false, 'team', 'a Policy in namespace team cannot access Bee, which is cluster-scoped'],
    [
      undefined,
      'team',
      'a Policy in namespace team cannot access Bee: it is unknown whether the kind is namespaced',
    ],
  ])('namespaced %s in %j are refused', (namespaced, namespace, expected) => {
    expect(violation(object(namespaced, namespace))).toBe(expected);
  });
});

describe('Services', () => {
  const call = (host: string, allowedHosts: readonly string[] = []): PolicyAccess => ({
    type: 'service',
    host,
    allowedHosts,
  });
  it.each(['a.team.svc', 'a.team.svc.cluster.local', 'a.team.svc.', 'A.TEAM.svc'])('%s is inside', (host) => {
    expect(violation(call(host))).toBeUndefined();
  });
  it.each([
    'a.other.svc',
    'a.team.svc.other.svc',
    'team.svc',
    'a.b.team.svc',
    'a.team.svc.example.com',
    'a.team',
    'localhost',
    '10.0.0.1',
    '[::1]',
    'example.com',
  ])('%s is refused', (host) => {
    expect(violation(call(host))).toContain(`cannot call ${host}`);
    expect(violation(call(host, [host]))).toBeUndefined();
  });
});

it('GlobalContextEntries need an annotation', () => {
  const entry = (annotations: JsonObject): PolicyAccess => ({
    type: 'globalContextEntry',
    name: 'g',
    annotations,
  });
  expect(violation(entry({ 'kymera.io/allow-namespaced': 'true' }))).toBeUndefined();
  for (const annotations of [
    {},
    { 'kymera.io/allow-namespaced': 'false' },
    { 'kymera.io/allow-namespaced': true },
  ]) {
    expect(violation(entry(annotations))).toContain('cannot read GlobalContextEntry g');
  }
});

it('a ClusterPolicy is not limited', () => {
  expect(scopeViolation(undefined, { type: 'path', urlPath: '/api/v1/nodes' })).toBeUndefined();
});
