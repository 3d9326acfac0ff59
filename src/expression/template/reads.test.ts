import { expect, test } from 'vitest';
import { expressionReads, templateReads } from './reads.ts';

const pathsOf = (text: string) => expressionReads(text).paths.map((path) => path.join('.'));

test.each([
  ['request.object.metadata.name', ['request.object.metadata.name']],
  ['request.object.metadata.labels."a.b/c"', ['request.object.metadata.labels.a.b/c']],
  ["a.b || c.d || 'x'", ['a.b', 'c.d']],
  ['request.object.spec.containers[0].image', ['request.object.spec.containers']],
  ['request.object.spec.containers[].image', ['request.object.spec.containers']],
  ["request.object.spec.containers[?name == 'x'].image | [0]", ['request.object.spec.containers']],
  ['length(request.object.data) > `3` && !other', ['request.object.data', 'other']],
  ['{a: request.name, b: [request.namespace]}', ['request.name', 'request.namespace']],
  ['sort_by(request.object.items, &name)', ['request.object.items']],
  ['request.object.*.name', ['request.object']],
  ['a.b | c.d', ['a.b']],
  ['`{"a": 1}`.a', []],
  ['@', ['']],
  ['keys(@)', ['']],
  ["request.object.metadata.labels.'{{ element }}'", ['element', '']],
  ['not an expression', ['']],
])('%s reads %j', (text, paths) => {
  expect(pathsOf(text)).toEqual(paths);
});

test('what functions are called is known, in projections and behind pipes too', () => {
  const { calls } = expressionReads("a[?b > time_now()] | [0].{c: random('[a-z]')}");
  expect([...calls]).toEqual(['time_now', 'random']);
  expect([...expressionReads("random('{{ length }}')").calls]).toEqual(['random']);
});

test('of a template, keys count as leaves do; {{@}} in a patch is a place of the patched object', () => {
  const template = { 'a-{{ request.name }}': ['{{ b.c }}', 1, '{{@}}', '\\{{ d }}'] };
  expect(templateReads(template).paths).toEqual([['request', 'name'], ['b', 'c'], []]);
  expect(templateReads(template, { selfIsField: true }).paths).toEqual([
    ['request', 'name'],
    ['b', 'c'],
  ]);
});
