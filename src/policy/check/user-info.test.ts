import { describe, expect, it } from 'vitest';
import { loadDocuments } from '../load.ts';
import { check, type Parts, policy } from '../policy.testing.ts';

const variable = 'patchStrategicMerge: {data: {a: "{{ request.userInfo.username }}"}}';

describe('data of the requester in a policy with background processing is an error, as in Kyverno', () => {
  it.each<[string, Parts, string]>([
    ['a variable', { mutate: variable }, 'mutate/patchStrategicMerge/data/a'],
    [
      'a variable in a precondition',
      { rule: 'preconditions: {all: [{key: "{{ serviceAccountName }}", operator: Equals, value: a}]}' },
      'preconditions/all/0/key',
    ],
    [
      'roles in match',
      { match: 'any: [{resources: {kinds: [ConfigMap]}, roles: ["a:b"]}]' },
      'match/any/0/roles',
    ],
    [
      'clusterRoles in exclude',
      { rule: 'exclude: {any: [{clusterRoles: [x]}]}' },
      'exclude/any/0/clusterRoles',
    ],
    [
      'subjects in the old flat form',
      { match: 'resources: {kinds: [ConfigMap]}, subjects: [{kind: User, name: jane}]' },
      'match/subjects',
    ],
  ])('%s', (_, parts, path) => {
    const expected = [`error KYM_BACKGROUND_USER_INFO /spec/rules/0/${path}`];
    expect(check(policy({ ...parts, spec: 'background: true' }))).toEqual(expected);
    // True is the default.
    expect(check(policy({ ...parts, spec: 'failurePolicy: Fail' }))).toEqual(expected);
    expect(check(policy(parts))).toEqual([]);
  });

  it('a rule of another type counts', () => {
    const validate = `
  - name: v
    match: {any: [{resources: {kinds: [Pod]}}]}
    validate: {message: "{{ request.userInfo.username }}", pattern: {metadata: {name: a}}}`;
    expect(check(policy({ spec: 'background: true', rule: validate }))).toEqual([
      'error KYM_BACKGROUND_USER_INFO /spec/rules/1/validate/message',
    ]);
  });

  it('names the rule and says what to do', () => {
    const { problems } = loadDocuments([
      { file: 'p.yaml', text: policy({ spec: 'background: true', mutate: variable }) },
    ]);
    expect(problems).toMatchObject([
      {
        rule: 'r',
        message: 'request.userInfo identifies the requester, and background processing has no request',
        hint: 'Set spec.background to false.',
      },
    ]);
  });
});

it('variables of the requester are allowed where existing objects are mutated', () => {
  const mutate =
    'targets: [{apiVersion: v1, kind: Secret}]\n      patchStrategicMerge: {data: {a: "{{ request.roles }}"}}';
  expect(check(policy({ spec: 'background: true', mutate }))).toEqual([]);
});

it('a field with such a name is no variable', () => {
  const mutate = 'patchStrategicMerge: {data: {a: "{{ request.object.spec.serviceAccountName }}"}}';
  expect(check(policy({ spec: 'background: true', mutate }))).toEqual([]);
});
