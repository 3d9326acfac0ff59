import { describe, expect, it } from 'vitest';
import { check, labelPatch, type Parts, policy } from '../policy.testing.ts';

describe('conditions', () => {
  const at = '/spec/rules/0/preconditions';
  const all = (condition: string): Parts => ({ rule: `preconditions: {all: [${condition}]}` });
  it.each<[string, Parts, string]>([
    ['no key', all('{operator: Equals, value: a}'), `KYM_CONDITION_INVALID ${at}/all/0`],
    ['no value', all('{key: a, operator: Equals}'), `KYM_CONDITION_INVALID ${at}/all/0`],
    ['a null value', all('{key: a, operator: Equals, value: null}'), `KYM_CONDITION_INVALID ${at}/all/0`],
    ['no operator', all('{key: a, value: b}'), `KYM_CONDITION_INVALID ${at}/all/0`],
    [
      'an unknown field',
      all('{key: a, operator: Equals, value: b, vlaue: c}'),
      `KYM_FIELD_UNKNOWN ${at}/all/0/vlaue`,
    ],
    ['an unknown group', { rule: 'preconditions: {some: []}' }, `KYM_FIELD_UNKNOWN ${at}/some`],
    [
      'an operation that is none',
      all('{key: "{{ request.operation }}", operator: Equals, value: CREATED}'),
      `KYM_CONDITION_INVALID ${at}/all/0/value`,
    ],
    [
      'one of several',
      all('{key: "{{request.operation}}", operator: AnyIn, value: [CREATE, Update]}'),
      `KYM_CONDITION_INVALID ${at}/all/0/value`,
    ],
    ['text', { rule: 'preconditions: yes please' }, `KYM_FIELD_TYPE ${at}`],
    [
      'a plain list in a loop',
      {
        mutate: `foreach: [{list: request.object.a, preconditions: [{key: a, operator: Equals, value: b}], ${labelPatch}}]`,
      },
      'KYM_FIELD_TYPE /spec/rules/0/mutate/foreach/0/preconditions',
    ],
  ])('%s', (_, parts, expected) => {
    expect(check(policy(parts))).toEqual([`error ${expected}`]);
  });

  it.each([
    ['a plain list', 'preconditions: [{key: a, operator: Equals, value: b}]', 'KYM_FIELD_TYPE', ''],
    [
      'In',
      'preconditions: {any: [{key: a, operator: In, value: [b]}]}',
      'KYM_CONDITION_INVALID',
      '/any/0/operator',
    ],
  ])('v2beta1 no longer has %s', (_, rule, code, pointer) => {
    expect(check(policy({ rule, version: 'kyverno.io/v2beta1' }))).toEqual([`error ${code} ${at}${pointer}`]);
    expect(check(policy({ rule }))).toEqual([]);
  });

  it('an unknown operator', () => {
    expect(check(policy(all('{key: a, operator: Matches, value: b}')))).toEqual([
      expect.stringMatching(/^error KYM_CONDITION_INVALID \/spec\/rules\/0\/preconditions\/all\/0/),
    ]);
  });

  it.each([
    ['the old list', 'preconditions: [{key: a, operator: Equals, value: b}]'],
    [
      'an operation from elsewhere',
      'preconditions: {all: [{key: "{{ request.operation }}", operator: Equals, value: "{{ request.object.a }}"}]}',
    ],
    [
      'an operation with a default',
      `preconditions: {all: [{key: "{{ request.operation || 'BACKGROUND' }}", operator: NotEquals, value: BACKGROUND}]}`,
    ],
  ])('%s is right', (_, rule) => {
    expect(check(policy({ rule }))).toEqual([]);
  });
});
