import { describe, expect, it } from 'vitest';
import { compileKind, matchesKind, parseKind } from './kind-selector.ts';

describe('the grammar of kinds', () => {
  it.each([
    ['Pod', '*', '*', 'Pod', ''],
    ['v1/Pod', '*', 'v1', 'Pod', ''],
    ['v1beta12/Pod', '*', 'v1beta12', 'Pod', ''],
    ['*/Pod', '*', '*', 'Pod', ''],
    ['apps/v1/Deployment', 'apps', 'v1', 'Deployment', ''],
    ['Pod/status', '*', '*', 'Pod', 'status'],
    ['Pod.status', '*', '*', 'Pod', 'status'],
    ['v1/Pod/status', '*', 'v1', 'Pod', 'status'],
    ['v1/Pod.status', '*', 'v1', 'Pod', 'status'],
    ['apps/v1/Deployment/scale', 'apps', 'v1', 'Deployment', 'scale'],
    ['apps/v1/Deployment.scale', 'apps', 'v1', 'Deployment', 'scale'],
    ['*/*/Deployment/scale', '*', '*', 'Deployment', 'scale'],
    ['*', '*', '*', '*', ''],
    ['*/*', '*', '*', '*', '*'],
    ['*/scale', '*', '*', '*', 'scale'],
    ['networking.k8s.io/v1/Ingress', 'networking.k8s.io', 'v1', 'Ingress', ''],
    ['apps*/v1/*', 'apps*', 'v1', '*', ''],
  ])('%s', (text, group, version, kind, subresource) => {
    expect(parseKind(text)).toEqual({ group, version, kind, subresource });
  });

  it('more than four parts mean nothing', () => {
    expect(parseKind('a/b/c/d/e')).toBeUndefined();
    expect(compileKind('a/v1/c/d.e')).toBeUndefined();
  });
});

describe('matching a kind', () => {
  const pod = { group: '', version: 'v1', kind: 'Pod', subresource: '' };
  const deployment = { group: 'apps', version: 'v1', kind: 'Deployment', subresource: '' };

  it.each([
    ['Pod', pod, true],
    ['pod', pod, false],
    ['P?d', pod, true],
    ['Deploy*', deployment, true],
    ['v1/Pod', pod, true],
    ['apps/v1/Deployment', deployment, true],
    ['extensions/v1/Deployment', deployment, false],
    ['apps/v1beta1/Deployment', deployment, false],
    ['Pod', { ...pod, subresource: 'status' }, false],
    ['Pod/status', { ...pod, subresource: 'status' }, true],
    ['Pod/*', { ...pod, subresource: 'exec' }, true],
    ['*', { ...pod, subresource: 'exec' }, false],
    ['*/*', { ...pod, subresource: 'exec' }, true],
    ['*/*', pod, true],
    ['*/scale', { ...deployment, subresource: 'scale' }, true],
    ['*/scale', deployment, false],
    ['Pod', { ...pod, subresource: 'ephemeralcontainers' }, true],
    ['*', { ...pod, subresource: 'ephemeralcontainers' }, true],
    ['Pod/status', { ...pod, subresource: 'ephemeralcontainers' }, false],
    ['Pod', { ...pod, group: 'other', subresource: 'ephemeralcontainers' }, false],
  ])('%s against %j: %s', (text, key, expected) => {
    const selector = compileKind(text);
    expect(selector !== undefined && matchesKind(selector, key)).toBe(expected);
  });
});
