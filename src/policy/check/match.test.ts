import { describe, expect, it } from 'vitest';
import { check, configMapMatch, type Parts, policy } from '../policy.testing.ts';

describe('match and exclude', () => {
  const resources = (fields: string): Parts => ({
    match: `any: [{resources: {kinds: [ConfigMap], ${fields}}}]`,
  });
  const at = '/spec/rules/0/match';
  const block = `${at}/any/0/resources`;
  it.each<[string, Parts, string]>([
    [
      'any and all',
      { match: `${configMapMatch}, all: [{resources: {kinds: [Secret]}}]` },
      `KYM_FIELD_CONFLICT ${at}`,
    ],
    [
      'any beside resources',
      { match: `${configMapMatch}, resources: {kinds: [Secret]}` },
      `KYM_FIELD_CONFLICT ${at}/resources`,
    ],
    ['name and names', resources('name: a, names: [b]'), `KYM_FIELD_CONFLICT ${block}/name`],
    ['an empty selector', resources('selector: {}'), `KYM_MATCH_EMPTY ${block}/selector`],
    [
      'a selector without sense',
      resources('selector: {matchExpressions: [{key: a, operator: In}]}'),
      `KYM_LABEL_SELECTOR ${block}/selector/matchExpressions/0/values`,
    ],
    ['an empty match', { match: '' }, `KYM_MATCH_EMPTY ${at}`],
    ['an empty block', { match: 'any: [{}]' }, `KYM_MATCH_EMPTY ${at}/any/0`],
    ['only subjects', { match: 'any: [{subjects: [{kind: User, name: u}]}]' }, `KYM_MATCH_EMPTY ${at}/any/0`],
    ['no kinds', { match: 'any: [{resources: {names: [a]}}]' }, `KYM_MATCH_KIND ${block}`],
    [
      '* beside other kinds',
      { match: 'any: [{resources: {kinds: ["*", Pod]}}]' },
      `KYM_MATCH_KIND ${block}/kinds`,
    ],
    [
      'a kind of five parts',
      { match: 'any: [{resources: {kinds: [a/v1/B/c/d]}}]' },
      `KYM_MATCH_KIND ${block}/kinds/0`,
    ],
    [
      'a variable in match',
      resources('names: ["{{ request.name }}"]'),
      `KYM_VARIABLE_FORBIDDEN ${block}/names/0`,
    ],
    [
      'a variable in exclude',
      { rule: 'exclude: {any: [{resources: {names: ["{{ request.name }}"]}}]}' },
      'KYM_VARIABLE_FORBIDDEN /spec/rules/0/exclude/any/0/resources/names/0',
    ],
    [
      'exclude takes all away',
      { rule: `exclude: {${configMapMatch}}` },
      'KYM_MATCH_EMPTY /spec/rules/0/exclude/any/0',
    ],
    [
      'a ServiceAccount without namespace',
      { match: 'any: [{resources: {kinds: [Pod]}, subjects: [{kind: ServiceAccount, name: a}]}]' },
      `KYM_FIELD_MISSING ${at}/any/0/subjects/0`,
    ],
    [
      'an unknown kind of subject',
      { match: 'any: [{resources: {kinds: [Pod]}, subjects: [{kind: Robot, name: a}]}]' },
      `KYM_FIELD_VALUE ${at}/any/0/subjects/0/kind`,
    ],
    [
      'a role without namespace',
      { match: 'any: [{resources: {kinds: [Pod]}, roles: [admin]}]' },
      `KYM_FIELD_VALUE ${at}/any/0/roles/0`,
    ],
    ['an unknown operation', resources('operations: [CREATED]'), `KYM_FIELD_VALUE ${block}/operations/0`],
    [
      'namespaces in a Policy',
      { kind: 'Policy', metadata: 'namespace: team', ...resources('namespaces: [team]') },
      `KYM_NAMESPACE_SCOPE ${block}/namespaces`,
    ],
    [
      'a cluster-wide kind in a Policy',
      { kind: 'Policy', match: 'any: [{resources: {kinds: [v1/Namespace]}}]' },
      `KYM_NAMESPACE_SCOPE ${block}/kinds/0`,
    ],
    [
      '* and more than metadata',
      { match: 'any: [{resources: {kinds: ["*"]}}]', mutate: 'patchStrategicMerge: {spec: {a: 1}}' },
      'KYM_METADATA_ONLY /spec/rules/0/mutate/patchStrategicMerge',
    ],
    [
      'the flat form in v2beta1',
      { version: 'kyverno.io/v2beta1', match: 'resources: {kinds: [Pod]}' },
      `KYM_FIELD_UNKNOWN ${at}/resources`,
    ],
    [
      'name in v2beta1',
      { version: 'kyverno.io/v2beta1', ...resources('name: a') },
      `KYM_FIELD_UNKNOWN ${block}/name`,
    ],
  ])('%s', (_, parts, expected) => {
    expect(check(policy(parts))).toEqual([`error ${expected}`]);
  });

  it('a JSON patch for * may change more than metadata, as in Kyverno', () => {
    const match = 'any: [{resources: {kinds: ["*"]}}]';
    expect(
      check(policy({ match, mutate: 'patchesJson6902: "[{op: add, path: /spec/a, value: 1}]"' })),
    ).toEqual([]);
  });

  it('wildcards may stand in a selector', () => {
    expect(check(policy(resources('selector: {matchLabels: {"app*": "?*"}}')))).toEqual([]);
  });
});
