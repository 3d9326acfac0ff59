import { expect, it } from 'vitest';
import { didYouMean } from './did-you-mean.ts';

it.each([
  ['patchStrategicMege', 'patchStrategicMerge'],
  ['Match', 'match'],
  ['mtach', 'match'],
  ['contexts', 'context'],
  ['zebra', undefined],
  ['x'.repeat(5_000), undefined],
])('%s: %s', (text, expected) => {
  expect(didYouMean(text, ['match', 'mutate', 'context', 'patchStrategicMerge'])).toBe(expected);
});
