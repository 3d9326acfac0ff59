import { describe, expect, it } from 'vitest';
import { evaluateOperator } from '../../src/expression/conditions/operators.ts';
import { compilePattern } from '../../src/expression/conditions/pattern.ts';
import { scopeOf } from '../../src/expression/expression.testing.ts';
import { compileWildcard, matchesWildcard } from '../../src/expression/wildcard.ts';
import { Budget, generousLimits, withBudget } from '../../src/json/budget.ts';
import { diff } from '../../src/json/diff/diff.ts';
import { applyPatch } from '../../src/json/patch/apply-patch.ts';
import type { Json, JsonObject } from '../../src/json/value.ts';
import type { CompiledPatch } from '../../src/patch/compiled-patch.ts';
import { compileStrategicMerge } from '../../src/patch/strategic/compile.ts';
import { compileOverlay } from '../../src/patch/v1alpha1/overlay.ts';

/** Steps are counted instead of time: the same on every machine. */
function stepsOf(run: () => unknown): number {
  const budget = new Budget({ ...generousLimits, steps: Number.MAX_SAFE_INTEGER });
  withBudget(budget, run);
  return budget.steps;
}

/** Twice the input takes at most two and a half times the steps. */
function expectNearLinear(run: (size: number) => unknown, size = 2_000): void {
  const single = stepsOf(() => run(size));
  const double = stepsOf(() => run(2 * size));
  expect(single).toBeGreaterThan(size / 64);
  expect(double / single).toBeLessThan(2.5);
}

const reporter = {
  error: (_path: unknown, code: string, message: string) => {
    throw new Error(`${code}: ${message}`);
  },
  warn: () => {},
};

const letters = (count: number) => 'ab'.repeat(count / 2);
const names = (count: number) => Array.from({ length: count }, (_, index) => `n${index}`);
const podOf = (count: number): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', finalizers: names(count) },
  spec: { containers: names(count).map((name) => ({ name, image: `${name}:latest` })) },
});

describe('wildcards', () => {
  it.each(['a*b', '*aab*', '*a?b*c', '*?a*?b*?c', `*${'?'.repeat(40)}c*`, `*${'a?'.repeat(20)}c*`, '?*'])(
    '%s takes steps in proportion to the text',
    (pattern) => {
      const { matches } = compileWildcard(pattern);
      expectNearLinear((size) => matches(letters(size * 8)));
      expectNearLinear((size) => matchesWildcard(pattern, letters(size * 8)));
    },
  );

  it('a text of one letter against question marks', () => {
    expectNearLinear((size) => matchesWildcard(`*${'?'.repeat(200)}b*`, 'a'.repeat(size)));
  });

  it('a pattern that comes from an object has a length limit', () => {
    const pattern = `*${'?'.repeat(10_000)}b*`;
    expect(() => matchesWildcard(pattern, 'a'.repeat(20_000))).toThrow('longer than 10000 characters');
  });
});

describe('operators and patterns', () => {
  it.each(['AnyIn', 'AllIn', 'AnyNotIn', 'AllNotIn', 'In', 'NotIn'])('%s, a long key', (operator) => {
    expectNearLinear((size) => evaluateOperator(operator, names(size), ['x*', '?y', 'n1']));
  });

  it.each(['AnyIn', 'AllNotIn', 'In', 'NotIn'])('%s, a long value', (operator) => {
    expectNearLinear((size) => evaluateOperator(operator, 'x?y', names(size)));
  });

  it.each(['Equals', 'NotEquals'])('%s of long texts', (operator) => {
    expectNearLinear((size) => evaluateOperator(operator, letters(size * 64), '*a?c*'));
  });

  it.each(['Equals', 'NotEquals'])('%s of long lists', (operator) => {
    expectNearLinear((size) => evaluateOperator(operator, names(size), names(size)));
  });

  it('a pattern on a long list', () => {
    const test = compilePattern({ list: [{ name: 'n*|x' }] });
    expectNearLinear((size) => test({ list: names(size).map((name) => ({ name })) }));
  });

  it('a pattern with blanks inside', () => {
    expectNearLinear((size) => compilePattern(`a|${' '.repeat(size * 16)}b&c`)('c'));
  });
});

describe('patches', () => {
  const apply = (patch: CompiledPatch | undefined, object: JsonObject, bindings: JsonObject = {}) =>
    patch?.apply(object, scopeOf(bindings));

  it.each<[string, JsonObject]>([
    ['by key', { spec: { containers: [{ name: 'n7', tty: true }] } }],
    ['a new item', { spec: { containers: [{ name: 'new', tty: true }] } }],
    ['with an anchor', { spec: { containers: [{ '(image)': '*:latest', tty: true }] } }],
    ['in each item', { spec: { containers: [{ '(name)': '*', '+(tty)': true }] } }],
    ['into a set', { metadata: { finalizers: ['a', 'n3'] } }],
  ])('a strategic merge into a long list: %s', (_name, overlay) => {
    const patch = compileStrategicMerge(overlay, [], reporter);
    expectNearLinear((size) => apply(patch, podOf(size)));
  });

  it('a v1alpha1 overlay on a long list', () => {
    const overlay = { spec: { containers: [{ '(name)': 'n*1', tty: true }] } };
    const patch = compileOverlay(overlay, [], reporter);
    expectNearLinear((size) => apply(patch, podOf(size)));
  });

  it.each<[string, JsonObject]>([
    ['add', { op: 'add', path: '/spec/containers/1', value: 1 }],
    ['remove', { op: 'remove', path: '/spec/containers/1' }],
    ['replace', { op: 'replace', path: '/spec/containers/1/name', value: 'x' }],
    ['copy', { op: 'copy', from: '/spec', path: '/status' }],
  ])('a JSON patch of a long list: %s', (_name, operation) => {
    expectNearLinear((size) => applyPatch(podOf(size), [operation as never]), 4_000);
  });
});

describe('the diff', () => {
  const items = (count: number) => names(count).map((name) => ({ name, value: 'x' }));

  it.each<[string, (list: readonly Json[]) => readonly Json[]]>([
    ['an item in front', (list) => [{ name: 'new' }, ...list]],
    ['one item less', (list) => list.slice(1)],
    ['all items changed', (list) => list.map((item) => ({ ...(item as JsonObject), value: 'y' }))],
    ['every second item removed', (list) => list.filter((_item, index) => index % 2 === 0)],
    ['other items', (list) => list.map((_item, index) => ({ other: index }))],
    ['the items reversed', (list) => list.toReversed()],
  ])('%s', (_name, change) => {
    expectNearLinear((size) => diff(items(size), structuredClone(change(items(size))) as Json), 1_000);
  });

  it('many members', () => {
    const members = (size: number, value: string) =>
      Object.fromEntries(names(size).map((key) => [key, value]));
    expectNearLinear((size) => diff(members(size, 'a'), members(size, 'b')));
  });
});
