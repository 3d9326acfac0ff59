import { describe, expect, it } from 'vitest';
import { check, labelPatch, policy } from '../policy.testing.ts';

describe('mutate', () => {
  const at = '/spec/rules/0/mutate';
  it.each<[string, string, string]>([
    [
      'two forms',
      `${labelPatch}\n      patchesJson6902: "[{op: remove, path: /a}]"`,
      `KYM_MUTATE_FORM ${at}`,
    ],
    [
      'foreach beside a patch',
      `${labelPatch}\n      foreach: [{list: request.object.a, ${labelPatch}}]`,
      `KYM_MUTATE_FORM ${at}`,
    ],
    ['replacements beside a patch', `${labelPatch}\n      replacements: [{}]`, `KYM_MUTATE_FORM ${at}`],
    ['a loop without a patch', 'foreach: [{list: request.object.a}]', `KYM_MUTATE_FORM ${at}/foreach/0`],
    [
      'a loop with both patches',
      `foreach: [{list: request.object.a, ${labelPatch}, patchesJson6902: "[]"}]`,
      `KYM_MUTATE_FORM ${at}/foreach/0`,
    ],
    ['a loop without a list', `foreach: [{${labelPatch}}]`, `KYM_FIELD_MISSING ${at}/foreach/0`],
    [
      'a list in braces',
      `foreach: [{list: "{{ request.object.a }}", ${labelPatch}}]`,
      `KYM_EXPRESSION_SYNTAX ${at}/foreach/0/list`,
    ],
    [
      'a list that does not parse',
      `foreach: [{list: "request.object.[", ${labelPatch}}]`,
      `KYM_EXPRESSION_SYNTAX ${at}/foreach/0/list`,
    ],
    [
      'declarations beside a nested loop',
      `foreach: [{list: request.object.a, preconditions: {all: []}, foreach: [{list: element, ${labelPatch}}]}]`,
      `KYM_MUTATE_FORM ${at}/foreach/0/preconditions`,
    ],
    [
      'as: with a blank',
      `foreach: [{list: request.object.a, as: "my element", ${labelPatch}}]`,
      `KYM_FIELD_VALUE ${at}/foreach/0/as`,
    ],
    [
      'as: with a built-in name',
      `foreach: [{list: request.object.a, as: request, ${labelPatch}}]`,
      `KYM_FIELD_VALUE ${at}/foreach/0/as`,
    ],
    [
      'an unknown order',
      `foreach: [{list: request.object.a, order: Upwards, ${labelPatch}}]`,
      `KYM_FIELD_VALUE ${at}/foreach/0/order`,
    ],
    [
      'a label that is no text',
      'patchStrategicMerge: {metadata: {labels: {a: true}}}',
      `KYM_LABEL_VALUE ${at}/patchStrategicMerge/metadata/labels/a`,
    ],
    [
      'an annotation set to null',
      'patchStrategicMerge: {metadata: {annotations: {a: null}}}',
      `KYM_LABEL_VALUE ${at}/patchStrategicMerge/metadata/annotations/a`,
    ],
    [
      'a label of the pod template',
      'patchStrategicMerge: {spec: {template: {metadata: {labels: {a: 1}}}}}',
      `KYM_LABEL_VALUE ${at}/patchStrategicMerge/spec/template/metadata/labels/a`,
    ],
    [
      'a label in a loop',
      'foreach: [{list: request.object.a, patchStrategicMerge: {metadata: {labels: {a: 1}}}}]',
      `KYM_LABEL_VALUE ${at}/foreach/0/patchStrategicMerge/metadata/labels/a`,
    ],
    [
      'targets of two kinds',
      'targets: [{apiVersion: v1, kind: Pod}, {apiVersion: apps/v1, kind: Deployment}]\n      patchStrategicMerge: {spec: {a: 1}}',
      `KYM_TARGET_KINDS ${at}/targets`,
    ],
    [
      'targets of two kinds with a template, beside it',
      'targets: [{kind: DaemonSet}, {kind: Deployment}]\n      patchStrategicMerge: {spec: {paused: true, template: {spec: {a: 1}}}}',
      `KYM_TARGET_KINDS ${at}/targets`,
    ],
    [
      'the template of targets that have none',
      'targets: [{kind: Pod}, {kind: Deployment}]\n      patchStrategicMerge: {spec: {template: {spec: {a: 1}}}}',
      `KYM_TARGET_KINDS ${at}/targets`,
    ],
    [
      'targets of two kinds, operations',
      'targets: [{kind: Pod}, {kind: Secret}]\n      patchesJson6902: "[{op: add, path: /spec/a, value: 1}]"',
      `KYM_TARGET_KINDS ${at}/targets`,
    ],
    [
      'an operation path without slash',
      'patchesJson6902: "[{op: remove, path: a}]"',
      `KYM_JSON_PATCH_INVALID ${at}/patchesJson6902`,
    ],
    [
      'an unknown operation',
      'patchesJson6902: "[{op: delete, path: /a}]"',
      `KYM_JSON_PATCH_INVALID ${at}/patchesJson6902`,
    ],
    [
      'an operation without value',
      'patchesJson6902: "[{op: add, path: /a}]"',
      `KYM_JSON_PATCH_INVALID ${at}/patchesJson6902`,
    ],
    [
      'an object instead of operations',
      'patchesJson6902: "op: remove"',
      `KYM_JSON_PATCH_INVALID ${at}/patchesJson6902`,
    ],
    [
      'patchesJson6902 as a list',
      'patchesJson6902: [{op: remove, path: /a}]',
      `KYM_FIELD_TYPE ${at}/patchesJson6902`,
    ],
  ])('%s', (_, mutate, expected) => {
    expect(check(policy({ mutate }))).toEqual([`error ${expected}`]);
  });

  it('a computed path outside foreach', () => {
    const mutate = 'patchesJson6902: "[{op: remove, path: \'/a/{{ request.name }}\'}]"';
    expect(check(policy({ mutate }))).toEqual([`error KYM_VARIABLE_FORBIDDEN ${at}/patchesJson6902`]);
  });

  it.each([
    [
      'targets of two kinds, metadata only',
      'targets: [{kind: Pod}, {kind: Secret}]\n      patchStrategicMerge: {metadata: {labels: {a: b}}}',
    ],
    [
      'the template of targets that all have one',
      'targets: [{kind: DaemonSet}, {kind: Deployment}]\n      patchStrategicMerge: {metadata: {labels: {a: b}}, spec: {template: {metadata: {annotations: {a: b}}}}}',
    ],
    [
      'operations on the template of targets that all have one',
      'targets: [{kind: Job}, {kind: StatefulSet}]\n      patchesJson6902: "[{op: add, path: /spec/template/spec/a, value: 1}]"',
    ],
    [
      'a computed path in a loop',
      'foreach: [{list: request.object.a, patchesJson6902: "[{op: remove, path: \'/a/{{elementIndex}}\'}]"}]',
    ],
    ['labels that are variables', 'patchStrategicMerge: {metadata: {labels: {a: "{{ request.name }}"}}}'],
    [
      'as: with a name',
      `foreach: [{list: request.object.a, as: item, patchStrategicMerge: {data: {a: "{{ item.b }}{{ itemIndex }}"}}}]`,
    ],
  ])('but %s is right', (_, mutate) => {
    expect(check(policy({ mutate }))).toEqual([]);
  });
});
