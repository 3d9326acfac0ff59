import { describe, expect, it } from 'vitest';
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
    ['validate, whatever is in it', 'validate: {nonsense: {x: "{{ nothing }}"}}', []],
    ['verifyImages', 'verifyImages: [{nonsense: 1}]', []],
  ])('%s', (_, fields, expected) => {
    expect(check(rule(fields))).toEqual(expected);
  });
});
