import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../json/value.ts';
import { loadCelCompilers } from '../cel-documents.ts';

const { compileAdmissionPolicy, compileBinding } = await loadCelCompilers();
const group = 'admissionregistration.k8s.io';
const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] };
const jsonPatch = { expression: '[JSONPatch{op: "remove", path: "/data"}]' };

function problemsOfPolicy(spec: JsonObject, name = 'p'): readonly string[] {
  const document = {
    apiVersion: `${group}/v1`,
    kind: 'MutatingAdmissionPolicy',
    metadata: { name },
    spec: {
      matchConstraints: { resourceRules: [rule] },
      reinvocationPolicy: 'Never',
      mutations: [{ patchType: 'JSONPatch', jsonPatch }],
      ...spec,
    },
  };
  return compileAdmissionPolicy(document, { file: 'p' }).problems.map(({ pointer }) => pointer);
}

function problemsOfBinding(spec: JsonObject, version = 'v1', name = 'b'): readonly string[] {
  const document = {
    apiVersion: `${group}/${version}`,
    kind: 'MutatingAdmissionPolicyBinding',
    metadata: { name },
    spec: { policyName: 'p', ...spec },
  };
  return compileBinding(document, { file: 'b' }).problems.map(({ pointer }) => pointer);
}

const withRule = (more: JsonObject) => ({ matchConstraints: { resourceRules: [{ ...rule, ...more }] } });
const withSelector = (objectSelector: JsonObject) => ({
  matchConstraints: { resourceRules: [rule], objectSelector },
});
const rulePath = '/spec/matchConstraints/resourceRules/0';
const selectorPath = '/spec/matchConstraints/objectSelector';

describe('a MutatingAdmissionPolicy that the API server refuses', () => {
  it.each<[string, JsonObject, string]>([
    ['a wildcard beside other groups', withRule({ apiGroups: ['*', 'apps'] }), `${rulePath}/apiGroups`],
    ['a wildcard beside other versions', withRule({ apiVersions: ['v1', '*'] }), `${rulePath}/apiVersions`],
    [
      'a wildcard beside other operations',
      withRule({ operations: ['*', 'UPDATE'] }),
      `${rulePath}/operations`,
    ],
    ['an empty version', withRule({ apiVersions: [''] }), `${rulePath}/apiVersions/0`],
    ['an empty resource', withRule({ resources: ['pods', ''] }), `${rulePath}/resources/1`],
    ['a resource after a wildcard', withRule({ resources: ['*', 'pods'] }), `${rulePath}/resources`],
    [
      'a subresource after a wildcard',
      withRule({ resources: ['pods/*', 'pods/log'] }),
      `${rulePath}/resources`,
    ],
    ['everything and more', withRule({ resources: ['*/*', 'pods'] }), `${rulePath}/resources`],
    ['a name twice', withRule({ resourceNames: ['a', 'a'] }), `${rulePath}/resourceNames/1`],
    ['a name that is no part of a URL', withRule({ resourceNames: ['a/b'] }), `${rulePath}/resourceNames/0`],
    ['DELETE', withRule({ operations: ['CREATE', 'DELETE'] }), `${rulePath}/operations/1`],
    [
      'a key that no label has',
      withSelector({ matchLabels: { 'a b': 'x' } }),
      `${selectorPath}/matchLabels/a b`,
    ],
    ['a wildcard in a selector', withSelector({ matchLabels: { a: 'x*' } }), `${selectorPath}/matchLabels/a`],
    [
      'a value that no label has',
      withSelector({ matchExpressions: [{ key: 'a', operator: 'In', values: ['x', 'y!'] }] }),
      `${selectorPath}/matchExpressions/0/values/1`,
    ],
    [
      'three parts of a version',
      { paramKind: { apiVersion: 'a/b/c', kind: 'X' } },
      '/spec/paramKind/apiVersion',
    ],
    [
      'an empty version of params',
      { paramKind: { apiVersion: '', kind: 'X' } },
      '/spec/paramKind/apiVersion',
    ],
    ['a kind with a space', { paramKind: { apiVersion: 'v1', kind: 'A B' } }, '/spec/paramKind/kind'],
    ['a reserved name', { variables: [{ name: 'package', expression: '1' }] }, '/spec/variables/0/name'],
    ['a keyword as a name', { variables: [{ name: 'in', expression: '1' }] }, '/spec/variables/0/name'],
    [
      'a long name of a condition',
      { matchConditions: [{ name: 'a'.repeat(64), expression: 'true' }] },
      '/spec/matchConditions/0/name',
    ],
    [
      'a name of a condition with a bad prefix',
      { matchConditions: [{ name: 'a..b/c', expression: 'true' }] },
      '/spec/matchConditions/0/name',
    ],
    [
      'both bodies',
      { mutations: [{ patchType: 'JSONPatch', jsonPatch, applyConfiguration: { expression: 'Object{}' } }] },
      '/spec/mutations/0/applyConfiguration',
    ],
    [
      'types of mutations in a condition',
      { matchConditions: [{ name: 'a', expression: 'Object{} == Object{}' }] },
      '/spec/matchConditions/0/expression',
    ],
    [
      'types of mutations in a variable',
      { variables: [{ name: 'patches', expression: '[JSONPatch{op: "remove", path: "/data"}]' }] },
      '/spec/variables/0/expression',
    ],
    [
      'jsonpatch.escapeKey in a variable',
      { variables: [{ name: 'key', expression: 'jsonpatch.escapeKey("a/b")' }] },
      '/spec/variables/0/expression',
    ],
  ])('%s', (_, spec, pointer) => {
    expect(new Set(problemsOfPolicy(spec))).toEqual(new Set([pointer]));
  });

  it('has no valid name', () => {
    expect(problemsOfPolicy({}, '')).toEqual(['/metadata/name']);
    expect(problemsOfPolicy({}, 'Upper_Case')).toEqual(['/metadata/name']);
  });
});

describe('a MutatingAdmissionPolicy that the API server takes', () => {
  it.each<[string, JsonObject]>([
    ['a wildcard after a resource', withRule({ resources: ['pods', '*'] })],
    ['a wildcard after a subresource', withRule({ resources: ['pods/log', 'pods/*'] })],
    [
      'DELETE in an excluded rule',
      {
        matchConstraints: {
          resourceRules: [rule],
          excludeResourceRules: [{ ...rule, operations: ['DELETE'] }],
        },
      },
    ],
    ['a group in the kind of params', { paramKind: { apiVersion: 'example.com/v1beta1', kind: 'Team' } }],
    [
      'variables in mutations',
      {
        variables: [{ name: 'path', expression: '"/data"' }],
        mutations: [
          {
            patchType: 'JSONPatch',
            jsonPatch: { expression: '[JSONPatch{op: "remove", path: variables.path}]' },
          },
        ],
      },
    ],
  ])('%s', (_, spec) => {
    expect(problemsOfPolicy(spec)).toEqual([]);
  });
});

describe('a MutatingAdmissionPolicyBinding', () => {
  it.each<[string, JsonObject, string]>([
    ['no policy', { policyName: '' }, '/spec/policyName'],
    ['a name that no policy has', { policyName: 'P_' }, '/spec/policyName'],
    [
      'DELETE',
      { matchResources: { resourceRules: [{ ...rule, operations: ['DELETE'] }] } },
      '/spec/matchResources/resourceRules/0/operations/0',
    ],
    ['no action', { paramRef: { name: 'x' } }, '/spec/paramRef'],
    [
      'name and selector',
      { paramRef: { name: 'x', selector: {}, parameterNotFoundAction: 'Deny' } },
      '/spec/paramRef',
    ],
    ['neither name nor selector', { paramRef: { parameterNotFoundAction: 'Deny' } }, '/spec/paramRef'],
    [
      'a name that is no part of a URL',
      { paramRef: { name: '..', parameterNotFoundAction: 'Deny' } },
      '/spec/paramRef/name',
    ],
  ])('is refused: %s', (_, spec, pointer) => {
    expect(problemsOfBinding(spec)).toEqual([pointer]);
  });

  it('has a name', () => {
    expect(problemsOfBinding({}, 'v1', '')).toEqual(['/metadata/name']);
  });

  it('of v1alpha1 has a default action', () => {
    expect(problemsOfBinding({ paramRef: { name: 'x' } }, 'v1alpha1')).toEqual([]);
    expect(problemsOfBinding({ paramRef: { name: 'x' } }, 'v1beta1')).toEqual(['/spec/paramRef']);
  });
});
