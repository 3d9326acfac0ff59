import { describe, expect, it } from 'vitest';
import { check, configMapMatch, labelPatch, type Parts, policy } from '../policy.testing.ts';

it('a sound policy has no problems', () => {
  expect(check(policy())).toEqual([]);
});

describe('the policy as a whole', () => {
  it.each<[string, Parts, string]>([
    [
      'a ClusterPolicy with a namespace',
      { metadata: 'namespace: team' },
      'KYM_POLICY_SCOPE /metadata/namespace',
    ],
    [
      'annotations that are not text',
      { metadata: 'annotations: {a: 1}' },
      'KYM_FIELD_TYPE /metadata/annotations/a',
    ],
    [
      'both timeouts',
      { spec: 'webhookTimeoutSeconds: 5\n  webhookConfiguration: {timeoutSeconds: 5}' },
      'KYM_FIELD_CONFLICT /spec/webhookTimeoutSeconds',
    ],
    [
      'both failure policies',
      { spec: 'failurePolicy: Fail\n  webhookConfiguration: {failurePolicy: Fail}' },
      'KYM_FIELD_CONFLICT /spec/failurePolicy',
    ],
    ['a timeout of 0', { spec: 'webhookTimeoutSeconds: 0' }, 'KYM_FIELD_VALUE /spec/webhookTimeoutSeconds'],
    [
      'a timeout of 31',
      { spec: 'webhookConfiguration: {timeoutSeconds: 31}' },
      'KYM_FIELD_VALUE /spec/webhookConfiguration/timeoutSeconds',
    ],
    [
      'generateExistingOnPolicyUpdate',
      { spec: 'generateExistingOnPolicyUpdate: false' },
      'KYM_FIELD_CONFLICT /spec/generateExistingOnPolicyUpdate',
    ],
    [
      'neither admission nor background',
      { spec: 'admission: false\n  background: false' },
      'KYM_POLICY_SCOPE /spec/admission',
    ],
    ['mutate without admission', { spec: 'admission: false' }, 'KYM_POLICY_SCOPE /spec/admission'],
    [
      'overrides on a Policy',
      { kind: 'Policy', spec: 'background: false\n  validationFailureActionOverrides: [{action: Audit}]' },
      'KYM_FIELD_CONFLICT /spec/validationFailureActionOverrides',
    ],
    [
      'mutateExistingOnPolicyUpdate without targets',
      { spec: 'background: false\n  mutateExistingOnPolicyUpdate: true' },
      'KYM_TARGETS_MISSING /spec/rules/0/mutate',
    ],
    [
      'the same on the rule',
      { mutate: `${labelPatch}\n      mutateExistingOnPolicyUpdate: true` },
      'KYM_TARGETS_MISSING /spec/rules/0/mutate',
    ],
    ['an unknown applyRules', { spec: 'applyRules: Some' }, 'KYM_FIELD_VALUE /spec/applyRules'],
    ['an unknown failure policy', { spec: 'failurePolicy: ignore' }, 'KYM_FIELD_VALUE /spec/failurePolicy'],
  ])('%s', (_, parts, expected) => {
    expect(check(policy(parts))).toEqual([`error ${expected}`]);
  });

  it('an annotation without a value is only doubtful', () => {
    expect(check(policy({ metadata: 'annotations: {a: }' }))).toEqual([
      'warning KYM_FIELD_TYPE /metadata/annotations/a',
    ]);
  });

  it('names have at most 63 characters', () => {
    const long = 'a'.repeat(64);
    expect(check(policy().replace('{name: p}', `{name: ${long}}`))).toEqual([
      'error KYM_FIELD_VALUE /metadata/name',
    ]);
    expect(check(policy().replace('name: r', `name: ${long}`))).toEqual([
      'error KYM_FIELD_VALUE /spec/rules/0/name',
    ]);
  });

  it('names are unique', () => {
    const second = `- name: r\n    match: {${configMapMatch}}\n    mutate: {${labelPatch}}`;
    expect(check(`${policy()}\n  ${second}`)).toEqual(['error KYM_RULE_NAME /spec/rules/1/name']);
  });
});
