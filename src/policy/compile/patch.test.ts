import { expect, it } from 'vitest';
import { selfReference } from './patch.ts';

const base = ['mutate', 'patchStrategicMerge'];

it.each([
  [['data', 'key'], 'request.object.data.key'],
  [['metadata', 'annotations', 'a.b/c'], 'request.object.metadata.annotations."a.b/c"'],
  [['metadata', '+(annotations)', '+(x-y)'], 'request.object.metadata.annotations."x-y"'],
  [['spec', 'containers', 0, '(image)'], 'request.object.spec.containers[0].image'],
  [[], 'request.object'],
  [['data', '{{@}}'], 'request.object.data'],
  [['data', '{{ @ }}', 'a'], 'request.object.data'],
])('{{@}} at %j is %s', (steps, expected) => {
  expect(selfReference(base, 'request.object').self?.([...base, ...steps])).toBe(expected);
});

it('is about the target in rules with targets', () => {
  expect(selfReference(base, 'target').self?.([...base, 'data', 'k'])).toBe('target.data.k');
});

it('counts from the patch, in loops too', () => {
  const loop = ['mutate', 'foreach', 0, 'foreach', 1, 'patchStrategicMerge'];
  expect(selfReference(loop, 'request.object').self?.([...loop, 'data'])).toBe('request.object.data');
});
