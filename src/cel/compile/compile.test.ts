import { expect, test } from 'vitest';
import { admissionPolicyEnvironment, mutatingPolicyEnvironment } from '../environments.ts';
import { compileCel } from '../expression.ts';
import { formatType } from '../types/type.ts';
import type { Value } from '../value/value.ts';

const mutatingPolicy = mutatingPolicyEnvironment();
const object = { kind: 'Pod', list: [2, 1], words: ['bc', 'a'] };
const scope = {
  lookup: (name: string): Value | undefined => (name === 'object' ? object : undefined),
  effects: { now: () => new Date(0), random: () => 0 },
};

function evaluate(source: string, environment = mutatingPolicy): Value | undefined {
  const { expression, problems } = compileCel(source, environment);
  expect(problems).toEqual([]);
  return expression?.evaluate(scope);
}

test.each([
  ['{"a": 1, "b": 2, "a": 3}', { a: 3, b: 2 }],
  ['{"a": 1, ?"a": optional.none()}', {}],
  ['{1.5: "x"}[1.5]', 'x'],
  ['[,] == [] && {,} == {}', true],
  ['has(Object{,}.spec)', false],
  ['cel.bind(x, 1 / 0, true || x > 1)', true],
  ['cel.bind(x, object.nope, has(object.nope) ? x : 1)', 1],
  ['Object{a: 1}.b == null && !has(Object{a: 1}.b)', true],
  ['has(Object{}.spec.replicas)', false],
  ['JSONPatch{op: "add"}.value == null', true],
  ['object.?kind.orValue("none")', 'Pod'],
  ['object.words.reverse()[0].size() + size(object.words.first().value())', 3],
  ['object.words.distinct().sort()', ['a', 'bc']],
  ['object.?kind[0].hasValue() || object.kind[?0].hasValue() || object.?list[0][0].hasValue()', false],
])('%s is %j', (source, value) => {
  expect(evaluate(source)).toEqual(value);
});

test('only Kyverno evaluates the argument of orValue when there is a value', () => {
  const source = 'object.?kind.orValue(object.nope)';
  expect(evaluate(source, admissionPolicyEnvironment())).toBe('Pod');
  expect(() => evaluate(source)).toThrow('no such key: nope');
  expect(() => evaluate('optional.of(1).orValue(1 / 0)')).toThrow('division by zero');
});

test.each([
  ['cel.bind(x, 1 / 0, [1].map(y, x))', 'division by zero'],
  ['Object{}.spec.replicas', 'no such key: replicas'],
])('%s fails', (source, message) => {
  expect(() => evaluate(source)).toThrow(message);
});

test.each([
  ['true ? JSONPatch{op: "add"} : null', 'JSONPatch'],
  ['true ? null : JSONPatch{op: "add"}', 'null'],
  ['true ? null : object', 'dyn'],
  ['object.list.sortBy(item, item)', 'dyn'],
  ['object.list.sortBy(item, item % 2)', 'list(dyn)'],
  ['[1, 2].sortBy(item, -item)', 'list(int)'],
  ['true ? object.list.sortBy(item, 1) : [1]', 'list(int)'],
  ['math.greatest(object.list.reverse())', 'double'],
  ['namespaceObject.status.conditions[0].lastTransitionTime', 'timestamp'],
])('the type of %s is %s', (source, type) => {
  const { expression, problems } = compileCel(source, mutatingPolicy);
  expect(problems).toEqual([]);
  expect(expression && formatType(expression.type)).toBe(type);
});

test.each([
  ['(Object){a: 1}', "Syntax error: mismatched input '{'"],
  ['type(1) == Object', 'reference to undefined type: Object'],
  ['[Object.spec]', 'reference to undefined type: Object.spec'],
  ['type(1) == kubernetes.URL', "undeclared reference to 'kubernetes' (in container '')"],
  ['object.kind.find("[")', 'invalid find argument'],
  ['object.kind.findAll("(", 1)', 'invalid findAll argument'],
])('%s is refused', (source, message) => {
  expect(compileCel(source, mutatingPolicy).problems[0]?.message).toBe(message);
});
