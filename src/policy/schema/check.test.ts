import { describe, expect, it } from 'vitest';
import { loadDocuments } from '../load.ts';
import { check, configMapMatch, labelPatch, type Parts, policy } from '../policy.testing.ts';

describe('fields', () => {
  it.each<[string, string, string, string]>([
    ['in the policy', 'spec: {rules: []}\nspek: {}', '/spek', 'Did you mean spec?'],
    ['in the spec', 'spec: {rules: [], backgroud: true}', '/spec/backgroud', 'Did you mean background?'],
    [
      'in a rule',
      `spec: {rules: [{name: r, match: {${configMapMatch}}, mutate: {${labelPatch}}, excludes: {}}]}`,
      '/spec/rules/0/excludes',
      'Did you mean exclude?',
    ],
    [
      'in mutate',
      `spec: {rules: [{name: r, match: {${configMapMatch}}, mutate: {patchesStrategicMerge: {}}}]}`,
      '/spec/rules/0/mutate/patchesStrategicMerge',
      'Did you mean patchStrategicMerge?',
    ],
    [
      'in match',
      'spec: {rules: [{name: r, match: {any: [{resources: {kind: [Pod], kinds: [Pod]}}]}, mutate: {patchStrategicMerge: {a: 1}}}]}',
      '/spec/rules/0/match/any/0/resources/kind',
      'Did you mean kinds?',
    ],
  ])('unknown %s', (_, rest, pointer, hint) => {
    const text = `apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {name: p, annotations: {pod-policies.kyverno.io/autogen-controllers: none}}\n${rest}\n`;
    const { problems } = loadDocuments([{ file: 'p', text }]);
    expect(problems.filter(({ severity }) => severity === 'error')).toMatchObject([
      { code: 'KYM_FIELD_UNKNOWN', pointer, hint },
    ]);
  });

  it('free-form parts and metadata are free', () => {
    const mutate = 'patchStrategicMerge: {anything: {goes: [1, {here: true}]}}';
    expect(check(policy({ mutate, metadata: 'ownerReferences: [], finalizers: [x]' }))).toEqual([]);
  });

  it('null is the same as absent', () => {
    expect(check(policy({ rule: 'exclude:\n    context:\n    preconditions:' }))).toEqual([]);
  });

  it.each<[string, Parts, string]>([
    ['text for a list', { match: 'any: {resources: {}}' }, 'KYM_FIELD_TYPE /spec/rules/0/match/any'],
    [
      'a number for text',
      { match: 'any: [{resources: {kinds: [1]}}]' },
      'KYM_FIELD_TYPE /spec/rules/0/match/any/0/resources/kinds/0',
    ],
  ])('%s', (_, parts, expected) => {
    expect(check(policy(parts))).toEqual([`error ${expected}`]);
  });
});
