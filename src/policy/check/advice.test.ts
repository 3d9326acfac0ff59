import { describe, expect, it } from 'vitest';
import { loadDocuments } from '../load.ts';
import { check, type Parts, policy } from '../policy.testing.ts';

describe('what Kyverno refuses though the result does not depend on it is a warning', () => {
  const background = 'background: true';
  it.each<[string, Parts, string]>([
    [
      'users in match',
      { spec: background, match: 'any: [{resources: {kinds: [ConfigMap]}, roles: ["a:b"]}]' },
      'KYM_BACKGROUND_USER_INFO /spec/rules/0/match/any/0/roles',
    ],
    [
      'users in exclude',
      { spec: background, rule: 'exclude: {any: [{clusterRoles: [x]}]}' },
      'KYM_BACKGROUND_USER_INFO /spec/rules/0/exclude/any/0/clusterRoles',
    ],
    [
      'variables about users',
      { spec: background, mutate: 'patchStrategicMerge: {data: {a: "{{ request.userInfo.username }}"}}' },
      'KYM_BACKGROUND_USER_INFO /spec/rules/0/mutate/patchStrategicMerge/data/a',
    ],
    [
      'the kind *',
      { spec: background, match: 'any: [{resources: {kinds: ["*"]}}]' },
      'KYM_MATCH_KIND /spec/rules/0/match/any/0/resources/kinds',
    ],
    [
      'the annotation all',
      { metadata: 'annotations: {pod-policies.kyverno.io/autogen-controllers: all}' },
      'KYM_FIELD_VALUE /metadata/annotations/pod-policies.kyverno.io~1autogen-controllers',
    ],
  ])('%s', (_, parts, expected) => {
    expect(check(policy(parts))).toEqual([`warning ${expected}`]);
    expect(loadDocuments([{ file: 'p', text: policy(parts) }]).policies).toHaveLength(1);
  });

  it('but user variables are right where existing objects are mutated, and without background', () => {
    const mutate =
      'targets: [{apiVersion: v1, kind: Secret}]\n      patchStrategicMerge: {data: {a: "{{ request.roles }}"}}';
    expect(check(policy({ spec: background, mutate }))).toEqual([]);
    expect(check(policy({ mutate: 'patchStrategicMerge: {data: {a: "{{ serviceAccountName }}"}}' }))).toEqual(
      [],
    );
  });
});

describe('warnings of Kyverno', () => {
  it.each<[string, Parts, string]>([
    [
      'patchesJson6902 on Pods (flat form)',
      { match: 'resources: {kinds: [Pod]}', mutate: 'patchesJson6902: "[{op: remove, path: /a}]"' },
      'KYM_POD_PATCHED_DIRECTLY /spec/rules/0/mutate/patchesJson6902',
    ],
    [
      'a narrowed annotation',
      {
        match: 'any: [{resources: {kinds: [Pod]}}]',
        metadata: 'annotations: {pod-policies.kyverno.io/autogen-controllers: Deployment}',
      },
      'KYM_AUTOGEN_NARROWED /spec/rules/0/match',
    ],
    [
      'replicas',
      { mutate: 'patchStrategicMerge: {spec: {replicas: 1}}' },
      'KYM_SUBRESOURCE_MISSING /spec/rules/0/mutate',
    ],
    [
      'status',
      { mutate: 'patchStrategicMerge: {status: {a: b}}' },
      'KYM_SUBRESOURCE_MISSING /spec/rules/0/mutate',
    ],
    [
      'no patch at all',
      { mutate: 'targets: [{apiVersion: v1, kind: Secret}]' },
      'KYM_MUTATE_FORM /spec/rules/0/mutate',
    ],
  ])('%s', (_, parts, expected) => {
    expect(check(policy(parts))).toEqual([`warning ${expected}`]);
  });

  it.each(['none', 'DaemonSet,Deployment,Job,StatefulSet,CronJob'])(
    'the annotation %s is not narrowed',
    (value) => {
      const metadata = `annotations: {pod-policies.kyverno.io/autogen-controllers: "${value}"}`;
      expect(check(policy({ match: 'any: [{resources: {kinds: [Pod]}}]', metadata }))).toEqual([]);
    },
  );

  it('matching the subresource quietens them', () => {
    const match = 'any: [{resources: {kinds: [Deployment, Deployment/scale]}}]';
    expect(check(policy({ match, mutate: 'patchStrategicMerge: {spec: {replicas: 1}}' }))).toEqual([]);
  });
});
