import { describe, expect, it } from 'vitest';
import { loadDocuments } from './load.ts';
import { check, configMapMatch, labelPatch } from './policy.testing.ts';

describe('the type of a rule', () => {
  const rule = (fields: string): string =>
    `apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {name: p}\nspec:\n  rules:\n  - {name: r, match: {${configMapMatch}}, ${fields}}\n`;
  it.each([
    ['none', 'context: []', ['error KYM_RULE_TYPE /spec/rules/0']],
    ['an empty one', 'mutate: {}', ['error KYM_RULE_TYPE /spec/rules/0']],
    ['two', `mutate: {${labelPatch}}, validate: {message: x}`, ['error KYM_RULE_TYPE /spec/rules/0']],
    [
      'imageExtractors',
      `mutate: {${labelPatch}}, imageExtractors: {Pod: []}`,
      ['error KYM_FIELD_CONFLICT /spec/rules/0/imageExtractors'],
    ],
    [
      'celPreconditions',
      `mutate: {${labelPatch}}, celPreconditions: [{name: a, expression: b}]`,
      ['error KYM_FIELD_CONFLICT /spec/rules/0/celPreconditions'],
    ],
    [
      'validate, whatever is in it',
      'validate: {nonsense: {x: "{{ nothing }}"}}',
      ['warning KYM_RULE_NOT_RUN /spec/rules/0'],
    ],
    ['verifyImages', 'verifyImages: [{nonsense: 1}]', ['warning KYM_RULE_NOT_RUN /spec/rules/0']],
  ])('%s', (_, fields, expected) => {
    expect(check(rule(fields))).toEqual(expected);
  });
});

describe('rules that are not run', () => {
  const load = (text: string) =>
    loadDocuments([{ file: 'p.yaml', text }]).problems.map(({ code, message }) => `${code} ${message}`);
  const policy = (version: string, ...types: string[]): string => {
    const rules = types.map((type, index) => `  - {name: r${index}, match: {${configMapMatch}}, ${type}}\n`);
    return `apiVersion: ${version}\nkind: ClusterPolicy\nmetadata: {name: p}\nspec:\n  rules:\n${rules.join('')}`;
  };
  const check = 'validate: {message: m}';
  const verify = 'verifyImages: [{}]';
  it.each([
    [
      [check],
      [
        'no rule of this policy is run here: r0 (validate); keep Kyverno or a ValidatingAdmissionPolicy for it',
      ],
    ],
    [[verify], ['no rule of this policy is run here: r0 (verifyImages); keep Kyverno for it']],
    [
      [`mutate: {${labelPatch}}`, check, verify],
      [
        '2 of 3 rules are not run here: r1 (validate), r2 (verifyImages); keep Kyverno or a ValidatingAdmissionPolicy for them',
      ],
    ],
    [
      [check, check, check, check, check],
      [
        'no rule of this policy is run here: r0 (validate), r1 (validate), r2 (validate) and 2 more; keep Kyverno or a ValidatingAdmissionPolicy for them',
      ],
    ],
    [[`mutate: {${labelPatch}}`], []],
  ])('%j', (types, messages) => {
    expect(load(policy('kyverno.io/v1', ...types))).toEqual(
      messages.map((text) => `KYM_RULE_NOT_RUN ${text}`),
    );
  });

  it.each([
    ['policies.kyverno.io/v1', 'ValidatingPolicy', 'Kyverno or a ValidatingAdmissionPolicy'],
    ['policies.kyverno.io/v1alpha1', 'NamespacedImageValidatingPolicy', 'Kyverno'],
    ['kyverno.io/v2', 'ClusterCleanupPolicy', 'Kyverno'],
  ])('%s %s', (version, kind, instead) => {
    expect(load(`apiVersion: ${version}\nkind: ${kind}\nmetadata: {name: p}\n`)).toEqual([
      `KYM_RULE_NOT_RUN a ${kind} is not run here: keep ${instead} for it`,
    ]);
  });

  it('other kinds are not mentioned', () => {
    expect(load('apiVersion: apps/v1\nkind: ValidatingPolicy\nmetadata: {name: p}\n')).toEqual([]);
    expect(load('apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: p}\n')).toEqual([]);
  });
});
