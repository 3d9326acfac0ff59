import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../json/value.ts';
import { createKindTable } from '../api/discovery.ts';
import { generateProblems, staleWarnings } from './generate-review.ts';

const served = (group: string, kind: string, namespaced: boolean) => ({
  group,
  version: 'v1',
  kind,
  resource: `${kind.toLowerCase()}s`,
  namespaced,
  verbs: ['create'],
  subresources: [],
});
const kinds = createKindTable([
  served('', 'ConfigMap', true),
  served('example.com', 'Widget', true),
  served('example.com', 'Planet', false),
]);
const policy = (generate: JsonObject, kind = 'ClusterPolicy'): JsonObject => ({
  kind,
  spec: { rules: [{ name: 'other' }, { name: 'r', generate }] },
});
const target = (text: string, more: JsonObject = {}): JsonObject => {
  const slash = text.lastIndexOf('/');
  return { apiVersion: text.slice(0, slash), kind: text.slice(slash + 1), name: 'x', ...more };
};

describe('the target of a generate rule', () => {
  it.each<[string, JsonObject, readonly RegExp[]]>([
    ['is served', target('v1/ConfigMap', { namespace: 'a' }), []],
    ['is a served custom resource', target('example.com/v1/Widget', { namespace: '{{ x }}' }), []],
    ['is cluster-scoped', target('example.com/v1/Planet'), []],
    ['is known at run time', target('{{ x }}/{{ y }}', { namespace: 'a' }), []],
    ['is copied', { cloneList: { kinds: ['v1/ConfigMap', 'Widget'] } }, []],
    ['is unknown', target('example.com/v1/Moon'), [/^\/spec\/rules\/1\/generate: .*example.com\/v1\/Moon/]],
    ['has an unknown version', target('example.com/v2/Widget'), [/does not serve/]],
    ['has no group', target('v1/Widget'), [/does not serve v1\/Widget/]],
    [
      'is unknown in a list',
      { cloneList: { kinds: ['v1/ConfigMap', 'v1/Moon'] } },
      [/cloneList\/kinds: .*v1\/Moon/],
    ],
    [
      'is cluster-scoped with a namespace',
      target('example.com/v1/Planet', { namespace: 'a' }),
      [/generate\/namespace: Planet has no namespace/],
    ],
    ['is namespaced without a namespace', target('example.com/v1/Widget'), [/must set the namespace/]],
    ['of a loop is unknown', { foreach: [target('example.com/v1/Moon')] }, [/generate\/foreach\/0: /]],
  ])('%s', (_, generate, expected) => {
    const problems = generateProblems(policy(generate), kinds);
    expect(problems).toEqual(expected.map((each) => expect.stringMatching(each)));
  });

  it('of a namespaced Policy is namespaced', () => {
    expect(generateProblems(policy(target('example.com/v1/Widget'), 'Policy'), kinds)).toEqual([]);
    expect(generateProblems(policy(target('example.com/v1/Planet'), 'Policy'), kinds)).toEqual([
      expect.stringContaining('cluster-scoped'),
    ]);
  });
});

describe('a changed policy', () => {
  const before = target('v1/ConfigMap', { namespace: 'a', synchronize: true, data: { x: 1 } });
  it.each<[string, JsonObject, number]>([
    ['with other data', { ...before, data: { x: 2 }, synchronize: false }, 0],
    ['with another name', { ...before, name: 'y' }, 1],
    ['with another namespace', { ...before, namespace: 'b' }, 1],
    ['with another source', { ...before, clone: { name: 'z' } }, 1],
  ])('%s', (_, after, count) => {
    const warnings = staleWarnings(policy(before), policy(after));
    expect(warnings).toHaveLength(count);
    for (const warning of warnings) expect(warning).toContain('rule r generates other objects');
  });

  it('without the rule says nothing', () => {
    expect(staleWarnings(policy(before), { spec: { rules: [] } })).toEqual([]);
  });
});
