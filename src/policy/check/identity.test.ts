import { describe, expect, it } from 'vitest';
import { check, policy } from '../policy.testing.ts';

describe('B36: what an object is cannot be changed', () => {
  const kinds = 'any: [{resources: {kinds: [Pod]}}]';
  const none = 'annotations: {pod-policies.kyverno.io/autogen-controllers: none}';
  const psm = (overlay: string): string => `patchStrategicMerge: {${overlay}}`;
  const operations = (text: string): string => `patchesJson6902: "[${text}]"`;
  it.each([
    ['another kind', kinds, psm('kind: Deployment'), '/patchStrategicMerge/kind'],
    [
      'another apiVersion',
      'any: [{resources: {kinds: [apps/v1/Deployment]}}]',
      psm('apiVersion: v1'),
      '/patchStrategicMerge/apiVersion',
    ],
    [
      'another name',
      'any: [{resources: {kinds: [Pod], names: [a, "b*"]}}]',
      psm('metadata: {name: c}'),
      '/patchStrategicMerge/metadata/name',
    ],
    [
      'another namespace',
      'all: [{resources: {kinds: [Pod]}}, {resources: {kinds: [Pod], namespaces: [a]}}]',
      psm('metadata: {namespace: b}'),
      '/patchStrategicMerge/metadata/namespace',
    ],
    ['no kind', kinds, psm('kind: null'), '/patchStrategicMerge/kind'],
    ['a name that is no text', kinds, psm('metadata: {name: 5}'), '/patchStrategicMerge/metadata/name'],
    ['by operation', kinds, operations('{op: replace, path: /kind, value: Service}'), '/patchesJson6902/0'],
    ['by removal', kinds, operations('{op: remove, path: /metadata/name}'), '/patchesJson6902/0'],
    [
      'of a target',
      kinds,
      `targets: [{apiVersion: v1, kind: Secret, name: s}]\n      ${psm('metadata: {name: other}')}`,
      '/patchStrategicMerge/metadata/name',
    ],
    [
      'in a loop',
      kinds,
      `foreach: [{list: request.object.a, ${psm('kind: Service')}}]`,
      '/foreach/0/patchStrategicMerge/kind',
    ],
  ])('%s is refused', (_, match, mutate, pointer) => {
    expect(check(policy({ match, mutate, metadata: none }))).toEqual([
      `error KYM_IDENTITY_WRITE /spec/rules/0/mutate${pointer}`,
    ]);
  });

  it('a namespaced Policy writes its own namespace only', () => {
    const parts = { kind: 'Policy', metadata: `namespace: team, ${none}`, match: kinds };
    expect(check(policy({ ...parts, mutate: psm('metadata: {namespace: team}') }))).toEqual([]);
    expect(check(policy({ ...parts, mutate: psm('metadata: {namespace: else}') }))).toHaveLength(1);
  });

  it.each([
    ['the same kind', kinds, psm('kind: Pod, apiVersion: v1')],
    ['what may be the same', kinds, psm('metadata: {name: a, namespace: b, uid: c}')],
    [
      'one of several kinds',
      'any: [{resources: {kinds: [Pod]}}, {resources: {kinds: [Service]}}]',
      psm('kind: Service'),
    ],
    ['a wildcard kind', 'any: [{resources: {kinds: ["P*"]}}]', psm('kind: PodTemplate')],
    ['a condition', kinds, psm('(kind): Deployment')],
    ['a variable', kinds, psm('kind: "{{ request.object.kind }}"')],
    [
      'a name that fits a pattern',
      'any: [{resources: {kinds: [Pod], names: ["b*"]}}]',
      psm('metadata: {name: bc}'),
    ],
  ])('%s is left to the run', (_, match, mutate) => {
    expect(check(policy({ match, mutate, metadata: none }))).toEqual([]);
  });
});
