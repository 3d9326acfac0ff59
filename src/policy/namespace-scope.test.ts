import { describe, expect, it } from 'vitest';
import { check, labelPatch, type Parts, policy } from './policy.testing.ts';

describe('a namespaced Policy stays in its namespace', () => {
  const own = { kind: 'Policy', metadata: 'namespace: team' };
  it.each<[string, Parts, string]>([
    [
      'targets',
      { mutate: `targets: [{kind: Secret, namespace: else}]\n      ${labelPatch}` },
      '/mutate/targets/0/namespace',
    ],
    [
      'ConfigMaps',
      { rule: 'context: [{name: a, configMap: {name: c, namespace: else}}]' },
      '/context/0/configMap/namespace',
    ],
    [
      'API calls',
      { rule: 'context: [{name: a, apiCall: {urlPath: /api/v1/namespaces/else/pods}}]' },
      '/context/0/apiCall/urlPath',
    ],
    [
      'API calls by detour',
      { rule: 'context: [{name: a, apiCall: {urlPath: /api/v1/namespaces/team/../else/pods}}]' },
      '/context/0/apiCall/urlPath',
    ],
    [
      'replacement sources',
      {
        mutate:
          'replacements: [{source: {kind: ConfigMap, name: c, namespace: else}, targets: [{select: {kind: Pod}, fieldPaths: [a]}]}]',
      },
      '/mutate/replacements/0/source/namespace',
    ],
  ])('%s', (what, parts, pointer) => {
    expect(check(policy({ ...own, ...parts }))).toEqual([
      `error KYM_NAMESPACE_SCOPE /spec/rules/0${pointer}`,
    ]);
    // The namespace is not known before the policy is applied.
    const warnings = what === 'targets' ? [`warning KYM_NAMESPACE_SCOPE /spec/rules/0${pointer}`] : [];
    expect(check(policy({ kind: 'Policy', ...parts }))).toEqual(warnings);
  });

  it.each<[string, Parts]>([
    ['its own', { mutate: `targets: [{kind: Secret, namespace: team}]\n      ${labelPatch}` }],
    ['none', { rule: 'context: [{name: a, configMap: {name: c}}]' }],
    [
      'a variable',
      { rule: 'context: [{name: a, apiCall: {urlPath: "/api/v1/namespaces/{{ request.namespace }}/pods"}}]' },
    ],
    [
      'its own, in a path',
      { rule: 'context: [{name: a, apiCall: {urlPath: "/api/v1/namespaces/team/pods?labelSelector=a"}}]' },
    ],
  ])('%s is right', (_, parts) => {
    expect(check(policy({ ...own, ...parts }))).toEqual([]);
  });
});
