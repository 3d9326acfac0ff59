import { describe, expect, it, test } from 'vitest';
import { loadDocuments } from '../load.ts';

interface Parts {
  readonly kind?: string;
  readonly metadata?: string;
  readonly rule?: string;
  readonly generate: string;
}

function load({ kind = 'ClusterPolicy', metadata = '', rule = '', generate }: Parts) {
  const text = `apiVersion: kyverno.io/v1
kind: ${kind}
metadata: {name: p${metadata}}
spec:
  rules:
  - name: r
    match: {any: [{resources: {kinds: [ConfigMap]}}]}
    ${rule}
    generate: {${generate}}
`;
  const { policies, problems } = loadDocuments([{ file: 'p.yaml', text }]);
  return {
    policy: policies[0],
    problems: problems.map(({ severity, code, pointer }) => `${severity} ${code} ${pointer}`),
  };
}

const secret = 'apiVersion: v1, kind: Secret, name: s, namespace: ns';
const at = '/spec/rules/0/generate';

describe('generate rules', () => {
  it('are compiled, with what the policy says of existing triggers', () => {
    const { policy, problems } = load({
      rule: 'skipBackgroundRequests: false',
      generate: `${secret}, synchronize: true, generateExisting: true, data: {data: {a: "{{ request.name }}"}}`,
    });
    expect(problems).toEqual([]);
    expect(policy?.otherRules).toEqual([]);
    expect(policy?.generateRules).toMatchObject([
      {
        name: 'r',
        path: ['spec', 'rules', 0],
        synchronize: true,
        generateExisting: true,
        orphanDownstreamOnPolicyDelete: false,
        skipBackgroundRequests: false,
        generation: { type: 'pattern', pattern: { path: ['generate'], content: { type: 'data' } } },
      },
    ]);
  });

  test.each([
    ['clone', 'clone: {name: a, namespace: b}'],
    [
      'cloneList',
      'namespace: ns, cloneList: {namespace: b, kinds: [v1/Secret], selector: {matchLabels: {a: b}}}',
    ],
  ])('%s', (type, form) => {
    const { policy, problems } = load({ generate: type === 'clone' ? `${secret}, ${form}` : form });
    expect(problems).toEqual([]);
    expect(policy?.generateRules[0]?.generation).toMatchObject({ pattern: { content: { type } } });
  });

  it('loop over a list, with context and preconditions of their own', () => {
    const loop = `list: request.object.data.names, context: [{name: c, variable: {value: "{{ element }}"}}], preconditions: {all: [{key: "{{ c }}", operator: NotEquals, value: x}]}`;
    const { policy, problems } = load({
      generate: `foreach: [{${loop}, ${secret}, data: {data: {a: "{{ c }}-{{ elementIndex }}"}}}]`,
    });
    expect(problems).toEqual([]);
    expect(policy?.generateRules[0]?.generation).toMatchObject({
      type: 'foreach',
      entries: [{ path: ['generate', 'foreach', 0], context: [{ name: 'c' }] }],
    });
  });
});

describe('what Kyverno refuses', () => {
  test.each<[string, Parts, string[]]>([
    [
      'two forms',
      { generate: `${secret}, data: {}, clone: {name: a, namespace: b}` },
      [`error KYM_GENERATE_FORM ${at}`],
    ],
    [
      'anchors in data',
      { generate: `${secret}, data: {data: {+(a): b}}` },
      [`error KYM_GENERATE_FORM ${at}/data/data/+(a)`],
    ],
    [
      'a namespaced kind without a namespace',
      { generate: 'apiVersion: v1, kind: Secret, name: s, data: {data: {}}' },
      [`error KYM_FIELD_MISSING ${at}`],
    ],
    [
      'a cluster-wide kind with one',
      { generate: 'apiVersion: v1, kind: Namespace, name: s, namespace: ns, data: {data: {}}' },
      [`error KYM_NAMESPACE_SCOPE ${at}/namespace`],
    ],
    [
      'a Policy that makes objects elsewhere',
      { kind: 'Policy', metadata: ', namespace: a', generate: `${secret}, data: {}` },
      [`error KYM_NAMESPACE_SCOPE ${at}/namespace`],
    ],
    [
      'a Policy that copies from elsewhere',
      {
        kind: 'Policy',
        metadata: ', namespace: ns',
        generate: `${secret}, clone: {name: a, namespace: b}`,
      },
      [`error KYM_NAMESPACE_SCOPE ${at}/clone/namespace`],
    ],
    [
      'kinds with and without a namespace in one list',
      { generate: 'cloneList: {namespace: b, kinds: [v1/Secret, v1/Namespace]}' },
      [`error KYM_NAMESPACE_SCOPE ${at}/cloneList/kinds`],
    ],
    [
      'wildcards in the selector of cloneList',
      {
        generate:
          'namespace: ns, cloneList: {namespace: b, kinds: [v1/Secret], selector: {matchLabels: {a: "*"}}}',
      },
      [`error KYM_LABEL_SELECTOR ${at}/cloneList/selector`],
    ],
    [
      'CEL',
      { rule: 'celPreconditions: [{name: a, expression: b}]', generate: `${secret}, data: {}` },
      ['error KYM_FIELD_CONFLICT /spec/rules/0/celPreconditions'],
    ],
    [
      'a name that nothing defines',
      { generate: `${secret}, data: {data: {a: "{{ none.b }}"}}` },
      [`error KYM_VARIABLE_UNKNOWN ${at}/data/data/a`],
    ],
    [
      'a misspelt field',
      { generate: `${secret}, syncronize: true, data: {}` },
      [`error KYM_FIELD_UNKNOWN ${at}/syncronize`],
    ],
  ])('%s', (_, parts, problems) => {
    expect(load(parts).problems).toEqual(problems);
  });
});

describe('what is said, and no more', () => {
  it('a rule that does not say what it makes is passed over', () => {
    const { policy, problems } = load({ generate: 'kind: Secret' });
    expect(problems).toEqual([`warning KYM_FIELD_MISSING ${at}`]);
    expect(policy?.otherRules).toEqual([{ name: 'r', type: 'generate' }]);
  });

  it('a source that depends on the trigger is not synchronized reliably', () => {
    const clone = `clone: {name: "{{ request.name }}", namespace: b}`;
    expect(load({ generate: `${secret}, synchronize: true, ${clone}` }).problems).toEqual([
      `warning KYM_GENERATE_SYNCHRONIZE ${at}/clone`,
    ]);
    expect(load({ generate: `${secret}, ${clone}` }).problems).toEqual([]);
  });

  it('$(…) that leads nowhere is text: data often holds scripts', () => {
    const { policy, problems } = load({ generate: `${secret}, data: {stringData: {run: "x=$(date)"}}` });
    expect(problems).toEqual([`warning KYM_REFERENCE_UNRESOLVED ${at}/data/stringData/run`]);
    expect(policy?.generateRules).toHaveLength(1);
  });
});
