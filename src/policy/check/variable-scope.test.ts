import { describe, expect, it } from 'vitest';
import { loadDocuments } from '../load.ts';
import { check, labelPatch, type Parts, policy } from '../policy.testing.ts';

describe('variables', () => {
  const patch = (value: string): string => `patchStrategicMerge: {data: {a: "${value}"}}`;
  const at = '/spec/rules/0';
  it.each<[string, Parts, string]>([
    [
      'an unknown one',
      { mutate: patch('{{ reqest.object.a }}') },
      `KYM_VARIABLE_UNKNOWN ${at}/mutate/patchStrategicMerge/data/a`,
    ],
    [
      'an unknown one in a condition',
      { rule: 'preconditions: {all: [{key: "{{ nothing.a }}", operator: Equals, value: b}]}' },
      `KYM_VARIABLE_UNKNOWN ${at}/preconditions/all/0/key`,
    ],
    [
      'element outside foreach',
      { mutate: patch('{{ element.name }}') },
      `KYM_VARIABLE_OUTSIDE_FOREACH ${at}/mutate/patchStrategicMerge/data/a`,
    ],
    [
      'elementIndex0 outside foreach',
      { mutate: patch('{{ elementIndex0 }}') },
      `KYM_VARIABLE_OUTSIDE_FOREACH ${at}/mutate/patchStrategicMerge/data/a`,
    ],
    [
      'the element of a loop that is not there',
      { mutate: `foreach: [{list: request.object.a, ${patch('{{ element1 }}')}}]` },
      `KYM_VARIABLE_UNKNOWN ${at}/mutate/foreach/0/patchStrategicMerge/data/a`,
    ],
    [
      'element in its own list',
      { mutate: `foreach: [{list: element.a, ${patch('b')}}]` },
      `KYM_VARIABLE_OUTSIDE_FOREACH ${at}/mutate/foreach/0/list`,
    ],
    [
      'target without targets',
      { mutate: patch('{{ target.data.a }}') },
      `KYM_VARIABLE_UNKNOWN ${at}/mutate/patchStrategicMerge/data/a`,
    ],
    [
      'target in the selection of targets',
      { mutate: `targets: [{kind: Secret, name: "{{ target.a }}"}]\n      ${labelPatch}` },
      `KYM_VARIABLE_UNKNOWN ${at}/mutate/targets/0/name`,
    ],
    [
      'target in the conditions of the rule',
      {
        mutate: `targets: [{kind: Secret}]\n      ${labelPatch}`,
        rule: 'preconditions: {all: [{key: "{{ target.a }}", operator: Equals, value: b}]}',
      },
      `KYM_VARIABLE_UNKNOWN ${at}/preconditions/all/0/key`,
    ],
    [
      'the name of another loop',
      {
        mutate: `foreach: [{list: request.object.a, as: x, ${labelPatch}}, {list: request.object.b, ${patch('{{ x }}')}}]`,
      },
      `KYM_VARIABLE_UNKNOWN ${at}/mutate/foreach/1/patchStrategicMerge/data/a`,
    ],
  ])('%s', (_, parts, expected) => {
    expect(check(policy(parts))).toEqual([`error ${expected}`]);
  });

  it('the message names the variable, and the hint what was meant', () => {
    const { problems } = loadDocuments([
      { file: 'p', text: policy({ mutate: patch('{{ reqest.object.a }}') }) },
    ]);
    expect(problems[0]).toMatchObject({
      message: 'the variable reqest is not defined',
      hint: 'Did you mean request?',
    });
  });

  it.each([
    ['in a function call it reads as null', '{{ to_string(gone) }}', 'warning'],
    ['beside a call too', "{{ gone || to_upper('x') }}", 'warning'],
    ['once outside of calls is once too often', '{{ to_string(gone) }}{{ gone }}', 'error'],
    ['a group is no call', '{{ [(gone)] }}', 'error'],
  ])('an unknown one %s', (_, value, severity) => {
    const place = `${at}/mutate/patchStrategicMerge/data/a`;
    expect(check(policy({ mutate: patch(value) }))).toEqual([`${severity} KYM_VARIABLE_UNKNOWN ${place}`]);
  });

  it.each([
    '{{ request.object.a }}',
    '{{ serviceAccountName }}{{ serviceAccountNamespace }}',
    '{{ images.containers }}',
    '{{ to_string(@) }}',
    "{{ request.object.a || '' }}",
    '{{ request.object.a == null || request.object.b == true }}',
    '{{@}}',
  ])('%s is known', (value) => {
    expect(check(policy({ mutate: patch(value.replaceAll('"', '\\"')) }))).toEqual([]);
  });

  it('loops, targets and context define more', () => {
    const mutate = `targets: [{kind: Secret, context: [{name: c, variable: {value: "{{ target.a }}"}}], preconditions: {all: [{key: "{{ c }}{{ target.b }}", operator: Equals, value: x}]}}]
      foreach:
      - list: target.x
        foreach:
        - {list: element.y, ${patch('{{ element }}{{ element0 }}{{ element1 }}{{ elementIndex1 }}{{ c }}{{ r }}')}}`;
    const rule = 'context: [{name: r, variable: {value: 1}}]';
    expect(check(policy({ mutate, rule }))).toEqual([]);
  });
});
