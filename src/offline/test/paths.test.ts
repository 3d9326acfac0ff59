import { join } from 'node:path';
import { expect, it } from 'vitest';
import { pathNear } from './paths.ts';

it.each([
  ['kyverno-test.yaml', 'policy.yaml'],
  ['a/b/kyverno-test.yaml', './policy.yaml'],
  ['a/b/kyverno-test.yaml', '../../policy.yaml'],
  ['a/kyverno-test.yaml', '../../../policy.yaml'],
  ['../a/kyverno-test.yaml', '../policy.yaml'],
  ['/tmp/a/kyverno-test.yaml', '../x/policy.yaml'],
  ['a/kyverno-test.yaml', '.'],
  ['kyverno-test.yaml', '.'],
])('%s names %s', (file, path) => expect(pathNear(file, path)).toBe(join(file, '..', path)));

it('an absolute path stays', () =>
  expect(pathNear('a/kyverno-test.yaml', '/policy.yaml')).toBe('/policy.yaml'));
