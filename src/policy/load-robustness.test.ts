import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isArray, isObject, type Json, type Path } from '../json/value.ts';
import { loadDocuments } from './load.ts';

/** Has every part that loading reads. */
const policy: Json = {
  apiVersion: 'kyverno.io/v1',
  kind: 'ClusterPolicy',
  metadata: { name: 'p', annotations: { 'pod-policies.kyverno.io/autogen-controllers': 'none' } },
  spec: {
    background: false,
    webhookConfiguration: { timeoutSeconds: 5, matchConditions: [{ name: 'a', expression: 'b' }] },
    rules: [
      {
        name: 'merge',
        match: {
          any: [
            {
              resources: {
                kinds: ['Pod'],
                namespaces: ['a*'],
                namespaceSelector: { matchExpressions: [{ key: 'k', operator: 'In', values: ['v'] }] },
                operations: ['CREATE'],
              },
              subjects: [{ kind: 'ServiceAccount', name: 'n', namespace: 's' }],
              roles: ['a:b'],
            },
          ],
        },
        exclude: { all: [{ resources: { kinds: ['Pod'] }, clusterRoles: ['c'] }] },
        context: [
          { name: 'v', variable: { value: { a: 1 }, jmesPath: 'a', default: 2 } },
          { name: 'm', configMap: { name: 'c', namespace: '{{ request.namespace }}' } },
          {
            name: 'c',
            apiCall: {
              service: { url: 'https://x', headers: [{ key: 'k', value: 'v' }] },
              method: 'POST',
              data: [{ key: 'k', value: 'v' }],
            },
          },
          { name: 'i', imageRegistry: { reference: '{{ v }}', jmesPath: 'manifest' } },
          { name: 'g', globalReference: { name: 'g' } },
        ],
        preconditions: { any: [{ key: '{{ v }}', operator: 'Equals', value: 'x', message: 'm' }] },
        mutate: {
          patchStrategicMerge: {
            metadata: { labels: { '+(a)': '{{ v }}' } },
            spec: { containers: [{ '(name)': '*', image: '{{@}}' }] },
          },
        },
      },
      {
        name: 'loop',
        match: { resources: { kinds: ['Pod'] } },
        preconditions: [{ key: 'a', operator: 'Equals', value: 'b' }],
        mutate: {
          foreach: [
            {
              list: 'request.object.spec.containers',
              as: 'c',
              order: 'Ascending',
              context: [{ name: 'l', variable: { value: '{{ element.name }}' } }],
              preconditions: { all: [{ key: '{{ l }}', operator: 'NotEquals', value: '' }] },
              patchStrategicMerge: { spec: { containers: [{ name: '{{ c.name }}', tty: true }] } },
            },
            {
              list: 'request.object.a',
              foreach: [{ list: 'element.b', patchesJson6902: '- op: remove\n  path: /a/{{elementIndex1}}' }],
            },
          ],
        },
      },
      {
        name: 'existing',
        match: { any: [{ resources: { kinds: ['ConfigMap'] } }] },
        mutate: {
          mutateExistingOnPolicyUpdate: true,
          targets: [
            {
              apiVersion: 'v1',
              kind: 'Secret',
              name: '{{ request.name }}',
              selector: { matchLabels: { a: 'b' } },
            },
          ],
          patchesJson6902: '[{"op": "add", "path": "/metadata/labels/a", "value": "{{ target.x }}"}]',
        },
      },
      {
        name: 'replace',
        match: { any: [{ resources: { kinds: ['ConfigMap'] } }] },
        mutate: {
          replacements: [
            {
              source: { kind: 'ConfigMap', fieldPath: 'data.a' },
              targets: [{ select: { kind: 'ConfigMap' }, fieldPaths: ['data.b'] }],
            },
          ],
        },
      },
    ],
  },
};

function pathsOf(value: Json, path: Path = []): Path[] {
  const entries = isArray(value) ? [...value.entries()] : isObject(value) ? Object.entries(value) : [];
  return [path, ...entries.flatMap(([token, item]) => pathsOf(item, [...path, token]))];
}

function replaceAt(value: Json, path: Path, replacement: Json): Json {
  const [token, ...rest] = path;
  if (token === undefined) return replacement;
  if (isArray(value))
    return value.map((item, index) => (index === token ? replaceAt(item, rest, replacement) : item));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      key === token ? replaceAt(item, rest, replacement) : item,
    ]),
  );
}

const hostileText = fc.constantFrom(
  '{{',
  '}}',
  '{{ }}',
  '{{ request',
  '{{ a.[ }}',
  '$(../a)',
  '$(',
  '\\{{',
  '(x)',
  '+()',
  '*',
  '/',
  '',
  '__proto__',
  '{{@}}',
  '"',
);
const hostileValue: fc.Arbitrary<Json> = fc.oneof(
  hostileText,
  fc.json().map((text) => JSON.parse(text) as Json),
  fc.dictionary(hostileText, hostileText),
  fc.array(hostileText),
);

describe('loading never throws', () => {
  it('the policy is sound to begin with', () => {
    expect(loadDocuments([{ file: 'p', text: JSON.stringify(policy) }]).problems).toEqual([]);
  });

  it('any value at any path results in a policy or an error', () => {
    const paths = pathsOf(policy).filter((path) => path.length > 1);
    fc.assert(
      fc.property(fc.constantFrom(...paths), hostileValue, (path, value) => {
        const text = JSON.stringify(replaceAt(policy, path, value));
        const { policies, problems } = loadDocuments([{ file: 'p', text }]);
        const errors = problems.filter(({ severity }) => severity === 'error');
        expect(policies.length === 1).toBe(errors.length === 0);
      }),
      { numRuns: 300 },
    );
  });

  it('whatever text a file holds', () => {
    const line = fc.constantFrom(
      'a:',
      '- ',
      '  b: c',
      '---',
      '"x',
      '[',
      '{',
      '&a',
      '*a',
      '<<: *a',
      '? ',
      '|',
      '>-',
      '\t',
      '#',
      '%YAML 1.2',
      '...',
      '!!int x',
      'a: b: c',
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(line, fc.string()), { maxLength: 30 }), (lines) => {
        loadDocuments([{ file: 'p', text: lines.join('\n') }]);
      }),
      { numRuns: 400 },
    );
  });
});
