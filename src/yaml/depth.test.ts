import { expect, it } from 'vitest';
import { yamlDepthBound } from './depth.ts';

it.each([
  ['a: 1', 0],
  ['[[1], {"a": [2]}]', 3],
  ['- a:\n    - b: [1]\n', 7],
  ['- - - x', 6],
  ['[1]\n'.repeat(1000), 1],
  [']'.repeat(10), 0],
  ['['.repeat(20_000), 20_000],
  ['- '.repeat(20_000), 40_000],
])('%#: nests at most %s levels', (text, bound) => {
  expect(yamlDepthBound(text)).toBe(bound);
});
