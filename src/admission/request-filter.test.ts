import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../json/value.ts';
import { defaultRequestSettings, type RequestSettings } from './policy-provider.ts';
import { compileRequestFilter } from './request-filter.ts';
import { requestFor } from './resource-request.ts';

const user = {
  info: { username: 'system:node:a', groups: ['system:nodes', 'system:authenticated'] },
  roles: ['shop:editor'],
  clusterRoles: ['admin'],
};

function object(kind: string, namespace: string, name: string, apiVersion = 'v1'): JsonObject {
  return { apiVersion, kind, metadata: namespace === '' ? { name } : { name, namespace } };
}

function isFiltered(settings: Partial<RequestSettings>, target: JsonObject, subresource = ''): boolean {
  const filter = compileRequestFilter({ ...defaultRequestSettings, ...settings });
  return filter(requestFor(target, { user, subresource })) !== undefined;
}

describe('resourceFilters', () => {
  it.each([
    ['', object('Pod', 'shop', 'web'), '', false],
    ['[Event,*,*]', object('Event', 'shop', 'e'), '', true],
    ['[Event,*,*]', object('Event', '', 'e', 'events.k8s.io/v1'), '', true],
    ['[Event,*,*]', object('Pod', 'shop', 'e'), '', false],
    ['[*/*,kube-system,*]', object('Pod', 'kube-system', 'dns'), '', true],
    ['[*/*,kube-system,*]', object('Pod', 'kube-system', 'dns'), 'status', true],
    ['[*/*,kube-system,*]', object('Pod', 'kube-systems', 'dns'), '', false],
    ['[Node,*,*]', object('Node', '', 'a'), 'status', false],
    ['[Node/?*,*,*]', object('Node', '', 'a'), 'status', true],
    ['[Pod/binding,*,*]', object('Pod', 'shop', 'web'), 'binding', true],
    ['[Pod/binding,*,*]', object('Pod', 'shop', 'web'), '', false],
    ['[Pod,shop,w*] [Service,*,*]', object('Pod', 'shop', 'web'), '', true],
    ['[Pod,shop,w*][Service,*,*]', object('Service', 'shop', 'x'), '', true],
    ['[ Pod , shop , web ]', object('Pod', 'shop', 'web'), '', true],
    // A part that is left out fits only what is empty.
    ['[Node]', object('Node', '', 'a'), '', false],
    ['[Pod,shop]', object('Pod', 'shop', 'web'), '', false],
    // A filter for what is in a namespace holds for the Namespace itself.
    ['[*/*,kube-system,*]', object('Namespace', '', 'kube-system'), '', true],
    ['[*/*,kube-system,*]', object('Namespace', '', 'shop'), '', false],
  ])('%s: %o %s', (resourceFilters, target, subresource, expected) => {
    expect(isFiltered({ resourceFilters }, target, subresource)).toBe(expected);
  });
});

describe('exclusions', () => {
  const pod = object('Pod', 'shop', 'web');
  it.each<[Partial<RequestSettings>, boolean]>([
    [{ excludeGroups: ['system:nodes'] }, true],
    [{ excludeGroups: ['system:masters'] }, false],
    [{ excludeUsernames: ['system:node:*'] }, true],
    [{ excludeUsernames: ['jane', ' system:node:a '] }, true],
    [{ excludeRoles: ['shop:editor'] }, true],
    [{ excludeClusterRoles: ['adm?n'] }, true],
    [{ excludeClusterRoles: [''] }, false],
    // Whatever else says so, who is included is not let through.
    [{ excludeGroups: ['system:nodes'], excludeUsernames: ['!system:node:a'] }, false],
    [{ excludeGroups: ['system:nodes', '!system:auth*'] }, false],
    [{ excludeUsernames: ['!system:node:a'] }, false],
  ])('%o', (settings, expected) => {
    expect(isFiltered(settings, pod)).toBe(expected);
  });
});

it.each(['UpdateRequest', 'AdmissionReport', 'ClusterBackgroundScanReport'])(
  '%s is never mutated',
  (kind) => {
    expect(isFiltered({}, object(kind, 'kyverno', 'x', 'kyverno.io/v2'))).toBe(true);
  },
);
