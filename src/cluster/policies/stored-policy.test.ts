import { expect, it } from 'vitest';
import { authoredPolicy } from './stored-policy.ts';

it('a v1alpha1 policy has none of the defaults that the API server adds', () => {
  const rule = {
    name: 'r',
    resource: { kinds: ['Pod'] },
    mutate: { overlay: { metadata: { labels: { a: 'b' } } } },
  };
  const stored = {
    apiVersion: 'kyverno.io/v1',
    kind: 'Policy',
    metadata: { name: 'p' },
    spec: {
      admission: true,
      background: true,
      emitWarning: false,
      rules: [{ ...rule, skipBackgroundRequests: true }],
    },
    status: {},
  };
  expect(authoredPolicy(stored)).toEqual({
    apiVersion: 'kyverno.io/v1alpha1',
    kind: 'Policy',
    metadata: { name: 'p' },
    spec: { rules: [rule] },
  });
});
