import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { JsonObject } from '../json/value.ts';
import { celCompilers } from '../policy/cel/language.ts';
import { loadDocuments } from '../policy/load.ts';
import { checkConversion } from './checked-conversion.ts';
import { convertException, translateException } from './exceptions.ts';
import { convertPolicy } from './policy.ts';
import type { ConversionTarget } from './types.ts';

const label = (name: string, more = '', kind = 'Pod') => `  - name: ${name}
    match: {any: [{resources: {kinds: [${kind}]}}]}
${more}    mutate: {patchStrategicMerge: {metadata: {labels: {${name}: added}}}}
`;

function policy(rules: string, kind = 'ClusterPolicy', spec = ''): string {
  const namespace = kind === 'Policy' ? ', namespace: team' : '';
  return `apiVersion: kyverno.io/v1
kind: ${kind}
metadata: {name: labels${namespace}}
spec:
${spec}  rules:
${rules}`;
}

function exception(rules: string, match: string, more = '', policyName = 'labels'): string {
  return `apiVersion: kyverno.io/v2
kind: PolicyException
metadata: {name: batch, namespace: exceptions}
spec:
  exceptions: [{policyName: ${policyName}, ruleNames: [${rules}]}]
  match: ${match}
${more}`;
}

/** Converts and proves a policy with exceptions. */
async function checked(policyText: string, exceptions: readonly string[], to: ConversionTarget) {
  const loaded = loadDocuments([{ file: 'old.yaml', text: [policyText, ...exceptions].join('\n---\n') }], {
    cel: celCompilers,
  });
  expect(loaded.problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  const translated = exceptions.flatMap((text) => translateException(parse(text) as JsonObject, to) ?? []);
  const conversion = convertPolicy(parse(policyText) as JsonObject, { to, exceptions: translated });
  const [old] = loaded.policies;
  if (old === undefined) throw new Error('the policy does not load');
  const result = await checkConversion(old, conversion, {
    exceptions: loaded.exceptions,
    translated,
    limit: 400,
  });
  const converted = translated.flatMap((each) => convertException(each, conversion.exempted ?? []) ?? []);
  // The exceptions matter: without them, the new policies differ.
  const plain = await checkConversion(old, convertPolicy(parse(policyText) as JsonObject, { to }), {
    exceptions: loaded.exceptions,
    translated,
    limit: 400,
  });
  return { ...result, converted, isNeeded: plain.proof?.difference !== undefined };
}

const cases: readonly (readonly [string, string, readonly string[]])[] = [
  [
    'names, namespaces, labels and annotations',
    policy(label('a')),
    [
      exception(
        'a',
        '{any: [{resources: {kinds: [Pod], namespaces: [batch-*], names: [job-?, x]}}, {resources: {selector: {matchLabels: {free: "yes"}}}}, {resources: {annotations: {why: "*"}}}]}',
      ),
    ],
  ],
  [
    'blocks under all, and operations, which do not count',
    policy(label('a')),
    [
      exception(
        'a',
        '{all: [{resources: {kinds: [v1/Pod], operations: [DELETE]}}, {resources: {namespaces: [free]}}]}',
      ),
    ],
  ],
  [
    'users',
    policy(label('a'), 'ClusterPolicy', '  background: false\n'),
    [
      exception(
        'a',
        '{any: [{subjects: [{kind: User, name: root}, {kind: Group, name: "admins:*"}, {kind: ServiceAccount, name: ci, namespace: build}]}]}',
        '  background: false\n',
      ),
    ],
  ],
  [
    'conditions',
    policy(label('a')),
    [
      exception(
        'a',
        '{any: [{resources: {kinds: [Pod]}}]}',
        `  conditions:
    any:
    - {key: "{{ request.object.spec.hostNetwork || \`false\` }}", operator: Equals, value: true}
    - {key: "{{ request.object.metadata.labels.free || '' }}", operator: AnyIn, value: [a, b]}
`,
      ),
    ],
  ],
  [
    'one of two rules with the same match',
    policy(label('a') + label('b')),
    [exception('b', '{any: [{resources: {kinds: [Pod], namespaces: [free]}}]}')],
  ],
  [
    'a wildcard for two rules with the same match',
    policy(label('a') + label('b')),
    [exception('"*"', '{any: [{resources: {kinds: [Pod], selector: {matchLabels: {free: "yes"}}}}]}')],
  ],
  [
    'two exceptions',
    policy(label('a')),
    [
      exception('a', '{any: [{resources: {namespaces: [free]}}]}'),
      exception('a', '{any: [{resources: {names: [free]}}]}').replace('name: batch', 'name: second'),
    ],
  ],
  [
    'rules of autogen by name',
    policy(`  - name: a
    match: {any: [{resources: {kinds: [Pod]}}]}
    mutate: {patchStrategicMerge: {spec: {+(priorityClassName): low}}}
`),
    [exception('autogen-a', '{any: [{resources: {kinds: [Deployment, Pod], namespaces: [free]}}]}')],
  ],
  [
    'preconditions that may fail for exempted objects too',
    policy(
      label(
        'a',
        '    preconditions: {all: [{key: "{{ request.object.metadata.labels.app }}", operator: Equals, value: web}]}\n',
      ),
    ),
    [exception('a', '{any: [{resources: {kinds: [Pod], names: [free]}}]}')],
  ],
];

describe.each(['mutatingpolicy', 'map'] as const)(
  'exceptions converted to %s',
  { timeout: 120_000 },
  (to) => {
    it.each(cases)('%s', async (_title, policyText, exceptions) => {
      const { conversion, status, proof, problems, isNeeded } = await checked(policyText, exceptions, to);
      expect(conversion.refusals).toEqual([]);
      expect(problems).toEqual([]);
      expect(proof?.difference).toBeUndefined();
      expect(status).toBe('proven');
      expect(isNeeded).toBe(true);
    });
  },
);

describe('converted exceptions', { timeout: 120_000 }, () => {
  it('read labels of namespaces, which do not count for Namespaces; a MutatingAdmissionPolicy cannot', async () => {
    const old = policy(label('a', '', 'Pod, Namespace'));
    const own = exception('a', '{any: [{resources: {namespaceSelector: {matchLabels: {env: test}}}}]}');
    const { status, isNeeded } = await checked(old, [own], 'mutatingpolicy');
    expect({ status, isNeeded }).toEqual({ status: 'proven', isNeeded: true });
    const { conversion } = await checked(old, [own], 'map');
    expect(conversion.refusals).toMatchObject([
      { rule: 'a', reason: expect.stringContaining('labels of the namespace') },
    ]);
  });

  const free = '{any: [{resources: {kinds: [Pod], namespaces: [free]}}]}';

  it('name the converted policies', async () => {
    const { converted } = await checked(policy(label('a')), [exception('a', free)], 'mutatingpolicy');
    expect(converted.map(({ text }) => text)).toEqual([
      `# Converted from PolicyException exceptions/batch.
apiVersion: policies.kyverno.io/v1
kind: PolicyException
metadata:
  name: batch
  namespace: exceptions
spec:
  policyRefs:
  - name: labels-a
    kind: MutatingPolicy
  matchConditions:
    # spec.match
    - name: match
      expression: request.kind.kind == 'Pod' && request.namespace == 'free'
`,
    ]);
  });

  it('become a condition of a NamespacedMutatingPolicy, because they would count in all namespaces', async () => {
    const own = exception('a', '{any: [{resources: {kinds: [Pod], names: [free]}}]}', '', 'team/labels');
    const { converted, status, conversion, isNeeded } = await checked(
      policy(label('a'), 'Policy'),
      [own],
      'mutatingpolicy',
    );
    expect(converted).toEqual([]);
    expect(conversion.documents[0]?.text).toContain(
      '# PolicyException exceptions/batch\n    - name: exceptions',
    );
    expect({ status, isNeeded }).toEqual({ status: 'proven', isNeeded: true });
  });

  it.each([
    [
      'roles',
      label('a'),
      '{any: [{clusterRoles: [admin]}]}',
      '',
      'spec.match.any[0].clusterRoles of PolicyException exceptions/batch: CEL does not know the roles of the user',
    ],
    [
      'conditions that may fail',
      label('a'),
      free,
      '  conditions: {any: [{key: "{{ request.object.metadata.labels.app }}", operator: Equals, value: x}]}\n',
      'spec.conditions of PolicyException exceptions/batch: the conditions may fail: then the exception does not count, but in CEL the policy would fail',
    ],
    [
      'a rule that matches deletions',
      label('a').replace('[Pod]', '[Pod], operations: [CREATE, DELETE]'),
      free,
      '',
      'PolicyException exceptions/batch exempts from a rule that matches deletions',
    ],
  ])('are refused with a reason: %s', async (_title, rule, match, more, reason) => {
    const { conversion } = await checked(policy(rule), [exception('a', match, more)], 'mutatingpolicy');
    expect(conversion).toEqual({
      documents: [],
      differences: [],
      refusals: [{ rule: 'a', path: 'spec.rules[0]', reason }],
    });
  });

  const added = '{any: [{resources: {selector: {matchLabels: {a: added}}}}]}';

  it.each(['mutatingpolicy', 'map'] as const)(
    'are refused where an earlier policy may change what they read: %s',
    async (to) => {
      const { conversion } = await checked(policy(label('a') + label('b')), [exception('b', added)], to);
      expect(conversion.refusals).toEqual([
        {
          rule: 'b',
          path: 'spec.rules[1]',
          reason:
            'the exceptions exceptions/batch read the object before the first rule, which may change it',
        },
      ]);
    },
  );

  it.each(['mutatingpolicy', 'map'] as const)(
    'may read what an earlier policy changes in objects of other kinds: %s',
    async (to) => {
      const rules = label('a', '', 'Service') + label('b');
      const { status, isNeeded } = await checked(policy(rules), [exception('b', added)], to);
      expect({ status, isNeeded }).toEqual({ status: 'proven', isNeeded: true });
    },
  );

  it('from rules of autogen are refused where a written rule may change what they read', async () => {
    const rules = `${label('a', '', 'Deployment')}  - name: b
    match: {any: [{resources: {kinds: [Pod]}}]}
    mutate: {patchStrategicMerge: {spec: {priorityClassName: low}}}
`;
    const { conversion } = await checked(policy(rules), [exception('autogen-b', added)], 'mutatingpolicy');
    expect(conversion.refusals).toMatchObject([{ rule: 'autogen-b', path: 'spec.rules[1]' }]);
  });
});
