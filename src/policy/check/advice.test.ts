import { describe, expect, it } from 'vitest';
import { loadDocuments } from '../load.ts';
import { check, type Parts, policy } from '../policy.testing.ts';

describe('what Kyverno refuses though the result does not depend on it is a warning', () => {
  const background = 'background: true';
  it.each<[string, Parts, string]>([
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

  it.each([
    'patchStrategicMerge: {spec: {+(replicas): 1}}',
    'patchesJson6902: "[{op: replace, path: /spec/replicas, value: 1}]"',
    'patchStrategicMerge: {metadata: {labels: {size: "{{ request.object.spec.replicas }}"}}}',
    'foreach: [{list: "request.object.spec.a", patchStrategicMerge: {status: {a: b}}}]',
  ])('%s changes or reads a field of a subresource', (mutate) => {
    expect(check(policy({ mutate }))).toEqual(['warning KYM_SUBRESOURCE_MISSING /spec/rules/0/mutate']);
  });

  it.each([
    'patchStrategicMerge: {data: {replicas: "3", status: open}}',
    'patchesJson6902: "[{op: add, path: /data/replicas, value: x}]"',
    'patchStrategicMerge: {metadata: {labels: {replicas: "3", a: "{{ request.object.data.status }}"}}}',
    'patchStrategicMerge: {spec: {template: {metadata: {annotations: {status: ok}}}}}',
  ])('%s uses only the word', (mutate) => {
    expect(check(policy({ mutate }))).toEqual([]);
  });

  it('matching the subresource quietens them', () => {
    const match = 'any: [{resources: {kinds: [Deployment, Deployment/scale]}}]';
    expect(check(policy({ match, mutate: 'patchStrategicMerge: {spec: {replicas: 1}}' }))).toEqual([]);
  });
});
