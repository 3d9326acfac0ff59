import { describe, expect, it } from 'vitest';
import { loadCelCompilers } from '../cel-documents.ts';
import { loadDocuments } from '../load.ts';
import { indexedSubject } from '../policy.testing.ts';
import { createSnapshot } from '../registry/registry.ts';

const { compileMutatingPolicy } = await loadCelCompilers();
const policy = (expression: string, spec: object = {}, kind = 'MutatingPolicy') => ({
  apiVersion: 'policies.kyverno.io/v1',
  kind,
  metadata: { name: 'p', ...(kind === 'MutatingPolicy' ? {} : { namespace: 'team' }) },
  spec: {
    matchConstraints: {
      resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
    },
    mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression } }],
    ...spec,
  },
});
const messages = (...args: Parameters<typeof policy>) =>
  compileMutatingPolicy(policy(...args), { file: 'p' }, { strict: false }).problems.map(
    ({ message }) => message,
  );

describe('a CEL policy', () => {
  it('without source has the position in the expression', () => {
    expect(messages('Object{metadata: nope}')).toEqual([
      "undeclared reference to 'nope' (in container '') (at character 18)",
    ]);
  });

  it.each<[string, object]>([
    ['kinds and operations', {}],
    ['names', { resourceNames: ['web'] }],
    ['the scope', { scope: 'Namespaced' }],
  ])('that restricts %s is matched by the index, and its program compares the rest', (_, more) => {
    const resourceRules = [
      { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'], ...more },
    ];
    const document = policy('Object{}', { matchConstraints: { resourceRules } });
    const { policy: compiled } = compileMutatingPolicy(document, { file: 'p' }, { strict: false });
    const [rule] = compiled?.rules ?? [];
    const [candidate] = createSnapshot(compiled === undefined ? [] : [compiled]).candidates({
      group: '',
      version: 'v1',
      kind: 'Pod',
      resource: 'pods',
      subresource: '',
      operation: 'CREATE',
      subject: indexedSubject(),
    });
    expect(rule !== undefined && candidate?.matched?.has(rule)).toBe(true);
  });

  it.each<[object, readonly string[]]>([
    [{}, ['mutations', 'autogen-defaults', 'autogen-cronjobs']],
    [{ matchLabels: {}, matchExpressions: [] }, ['mutations', 'autogen-defaults', 'autogen-cronjobs']],
    [{ matchLabels: { app: 'web' } }, ['mutations']],
    [{ matchExpressions: [{ key: 'app', operator: 'Exists' }] }, ['mutations']],
  ])('for Pods with the object selector %j has the rules %j', (objectSelector, names) => {
    const resourceRules = [
      { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] },
    ];
    const document = policy('Object{}', { matchConstraints: { resourceRules, objectSelector } });
    const { policy: compiled } = compileMutatingPolicy(document, { file: 'p' }, { strict: false });
    expect(compiled?.rules.map(({ name }) => name)).toEqual(names);
  });

  it('is ignored where the language is not loaded', () => {
    const text = JSON.stringify(policy('Object{}'));
    const { policies, ignored, problems } = loadDocuments([{ file: 'p', text }]);
    expect([policies, problems]).toEqual([[], []]);
    expect(ignored).toMatchObject([{ kind: 'MutatingPolicy' }]);
  });

  it.each<[string, Parameters<typeof policy>, string]>([
    [
      'http in a namespaced policy',
      [
        'Object{metadata: Object.metadata{name: string(http.Get("http://a").x)}}',
        {},
        'NamespacedMutatingPolicy',
      ],
      'http.* is not allowed in namespaced policies',
    ],
    [
      'http in a target condition of a namespaced policy',
      [
        'Object{}',
        { targetMatchConditions: [{ name: 'a', expression: 'http.Get("http://a").x == 1' }] },
        'NamespacedMutatingPolicy',
      ],
      'http.* is not allowed in namespaced policies',
    ],
    [
      'globalContext in the target expression of a namespaced policy',
      [
        'Object{}',
        {
          targetMatchConstraints: {
            expression: 'resource.Get("v1", "secrets", string(globalContext.Get("a", "")))',
          },
          evaluation: { mutateExisting: { enabled: true } },
        },
        'NamespacedMutatingPolicy',
      ],
      'globalContext.* is not allowed in namespaced policies',
    ],
    [
      'both modes disabled',
      ['Object{}', { evaluation: { admission: { enabled: false } } }],
      'disabling both admission and mutateExisting',
    ],
    [
      'no resource rule',
      ['Object{}', { matchConstraints: { resourceRules: [] } }],
      'at least one resource rule',
    ],
    [
      'a comparison of oldObject with null',
      ['oldObject == null ? Object{} : Object{}'],
      'oldObject is never null',
    ],
    [
      'a target condition of another type',
      ['Object{}', { targetMatchConditions: [{ name: 'a', expression: '1' }] }],
      'expected to be of type bool',
    ],
    [
      'a rule that combines to too many resources',
      [
        'Object{}',
        {
          matchConstraints: {
            resourceRules: [
              {
                apiGroups: Array(50).fill('a'),
                apiVersions: Array(50).fill('v1'),
                operations: ['CREATE'],
                resources: Array(50).fill('x'),
              },
            ],
          },
        },
      ],
      'more than 10000 resources',
    ],
  ])('reports %s', (_, args, message) => {
    expect(messages(...args)).toEqual([expect.stringContaining(message)]);
  });
});
