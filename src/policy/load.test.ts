import { describe, expect, it } from 'vitest';
import { loadDocuments } from './load.ts';

const load = (text: string) => loadDocuments([{ file: 'p.yaml', text }]);

function loadOne(text: string) {
  const { policies, problems } = load(text);
  expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  const [policy] = policies;
  if (policy === undefined) throw new Error('no policy');
  return policy;
}

const rules = `
  rules:
  - name: r
    match: {any: [{resources: {kinds: [ConfigMap]}}]}
    mutate: {patchStrategicMerge: {metadata: {labels: {a: b}}}}
`;

describe('kinds of documents', () => {
  it.each([
    ['ClusterPolicy', 'kyverno.io/v1'],
    ['ClusterPolicy', 'kyverno.io/v2'],
    ['ClusterPolicy', 'kyverno.io/v2beta1'],
    ['ClusterPolicy', 'kymera.io/v1'],
    ['Policy', 'kyverno.io/v1'],
    ['Policy', 'kyverno.io/v2beta1'],
  ])('%s of %s', (kind, apiVersion) => {
    const policy = loadOne(`apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {name: p}\nspec:${rules}`);
    expect(policy).toMatchObject({ kind, apiVersion, name: 'p', key: kind === 'Policy' ? 'default/p' : 'p' });
  });

  it('others are ignored, and named', () => {
    const { ignored, problems, policies } = load(
      'apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n---\napiVersion: policies.kyverno.io/v1\nkind: MutatingPolicy\nmetadata: {name: b}\n---\nnot: kubernetes\n---\napiVersion: policy/v1\nkind: Policy\n',
    );
    expect({ problems, policies }).toEqual({ problems: [], policies: [] });
    expect(ignored).toEqual([
      { file: 'p.yaml', apiVersion: 'v1', kind: 'Pod', name: 'a' },
      { file: 'p.yaml', apiVersion: 'policies.kyverno.io/v1', kind: 'MutatingPolicy', name: 'b' },
      { file: 'p.yaml', apiVersion: '', kind: '', name: '' },
      { file: 'p.yaml', apiVersion: 'policy/v1', kind: 'Policy', name: '' },
    ]);
  });

  it('global context entries are kept as written', () => {
    const entry = { apiVersion: 'kyverno.io/v2beta1', kind: 'GlobalContextEntry', metadata: { name: 'g' } };
    expect(load(JSON.stringify(entry)).globalContext).toEqual([entry]);
  });

  it.each(['v2', 'v2beta1', 'v2alpha1', 'v1'])('PolicyException %s', (version) => {
    const { exceptions, problems } = load(`
apiVersion: kyverno.io/${version}
kind: PolicyException
metadata: {name: e, namespace: ns}
spec:
  match: {any: [{resources: {kinds: [Pod], names: ["x*"]}}]}
  conditions: {all: [{key: "{{ request.operation }}", operator: Equals, value: CREATE}]}
  exceptions:
  - {policyName: ns/p, ruleNames: ["autogen-*", r]}
`);
    expect(problems).toEqual([]);
    expect(exceptions).toMatchObject([
      { key: 'ns/e', name: 'e', namespace: 'ns', exceptions: [{ policyName: 'ns/p' }], source: { line: 2 } },
    ]);
    expect(exceptions[0]?.exceptions[0]?.ruleNames.map((name) => name.matches('autogen-r'))).toEqual([
      true,
      false,
    ]);
    expect(exceptions[0]?.match.any?.[0]?.names?.[0]?.matches('xyz')).toBe(true);
  });

  it.each([
    ['spec: {exceptions: [{policyName: p, ruleNames: [r]}]}', 'KYM_FIELD_MISSING /spec'],
    ['spec: {match: {}, exceptions: [{policyName: p, ruleNames: [r]}]}', 'KYM_MATCH_EMPTY /spec/match'],
    [
      'spec: {match: {any: [{resources: {kinds: [Pod]}}]}, exceptions: [{ruleNames: [r]}]}',
      'KYM_FIELD_MISSING /spec/exceptions/0',
    ],
    ['spec: {match: {resources: {kinds: [Pod]}}, exceptions: []}', 'KYM_FIELD_UNKNOWN /spec/match/resources'],
  ])('an exception without sense: %s', (spec, expected) => {
    const { exceptions, problems } = load(
      `apiVersion: kyverno.io/v2\nkind: PolicyException\nmetadata: {name: e}\n${spec}\n`,
    );
    expect(exceptions).toEqual([]);
    expect(problems.map(({ code, pointer }) => `${code} ${pointer}`)).toContain(expected);
  });
});

describe('problems', () => {
  it('are all reported, each with its place', () => {
    const { policies, problems } = load(`apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata:
  name: first
spec:
  backgroud: false
  rules:
  - name: one
    match: {any: [{resources: {kinds: [ConfigMap]}}]}
    mutate:
      patchStrategicMerge:
        data:
          a: "{{ nothing }}"
  - name: two
    match: {any: [{resources: {}}]}
    mutate: {patchStrategicMerge: {metadata: {labels: {a: 1}}}}
---
broken: [
---
apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: second}
spec:${rules}`);
    expect(policies.map(({ name }) => name)).toEqual(['second']);
    expect(problems.map(({ hint, message, fix, ...place }) => place)).toEqual([
      {
        code: 'KYM_FIELD_UNKNOWN',
        severity: 'error',
        pointer: '/spec/backgroud',
        file: 'p.yaml',
        line: 6,
        column: 3,
        policy: 'first',
      },
      {
        code: 'KYM_VARIABLE_UNKNOWN',
        severity: 'error',
        pointer: '/spec/rules/0/mutate/patchStrategicMerge/data/a',
        file: 'p.yaml',
        line: 13,
        column: 11,
        policy: 'first',
        rule: 'one',
      },
      {
        code: 'KYM_MATCH_EMPTY',
        severity: 'error',
        pointer: '/spec/rules/1/match/any/0',
        file: 'p.yaml',
        line: 15,
        column: 19,
        policy: 'first',
        rule: 'two',
      },
      {
        code: 'KYM_LABEL_VALUE',
        severity: 'error',
        pointer: '/spec/rules/1/mutate/patchStrategicMerge/metadata/labels/a',
        file: 'p.yaml',
        line: 16,
        column: 56,
        policy: 'first',
        rule: 'two',
      },
      { code: 'KYM_YAML_SYNTAX', severity: 'error', pointer: '', file: 'p.yaml', line: 19, column: 1 },
    ]);
  });

  it.each([
    ['nothing but a kind', 'apiVersion: kyverno.io/v1\nkind: ClusterPolicy\n'],
    [
      'a spec that is a list',
      'apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {name: p}\nspec: []\n',
    ],
    [
      'rules that are text',
      'apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {name: p}\nspec: {rules: none}\n',
    ],
    [
      'a rule that is null',
      'apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {name: p}\nspec: {rules: [null]}\n',
    ],
    [
      'metadata that is text',
      'apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: p\nspec: {rules: []}\n',
    ],
    [
      'keys of the prototype',
      'apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {name: p}\nspec: {__proto__: {rules: []}, constructor: 1}\n',
    ],
    [
      'a list of kinds that is an object',
      'apiVersion: kyverno.io/v1\nkind: Policy\nmetadata: {name: p}\nspec: {rules: [{name: r, match: {any: [{resources: {kinds: {a: b}}}]}, mutate: {patchStrategicMerge: 5}}]}\n',
    ],
    [
      'a patch that is text',
      'apiVersion: kyverno.io/v1\nkind: Policy\nmetadata: {name: p}\nspec: {rules: [{name: r, match: {any: [{resources: {kinds: [A]}}]}, mutate: {patchStrategicMerge: text}}]}\n',
    ],
  ])('%s is an error, not a crash', (_, text) => {
    const { policies, problems } = load(text);
    expect(policies).toEqual([]);
    expect(problems.some(({ severity }) => severity === 'error')).toBe(true);
  });
});

describe('a compiled policy', () => {
  it('has its settings, with defaults', () => {
    const text = (spec: string) =>
      `apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {name: p, labels: {l: m}}\nspec:\n  ${spec}${rules}`;
    expect(loadOne(text('background: false'))).toMatchObject({
      applyRules: 'All',
      failurePolicy: 'Fail',
      emitWarning: false,
      matchConditions: [],
      labels: { l: 'm' },
      source: { file: 'p.yaml', line: 1 },
      rules: [
        { skipBackgroundRequests: true, mutateExistingOnPolicyUpdate: false, path: ['spec', 'rules', 0] },
      ],
    });
    const conditions = '[{name: a, expression: b}]';
    const webhook = `webhookConfiguration: {failurePolicy: Ignore, timeoutSeconds: 7, matchConditions: ${conditions}}`;
    expect(loadOne(text(`applyRules: One\n  emitWarning: true\n  ${webhook}`))).toMatchObject({
      applyRules: 'One',
      emitWarning: true,
      failurePolicy: 'Ignore',
      timeoutSeconds: 7,
      matchConditions: [{ name: 'a', expression: 'b' }],
    });
    expect(loadOne(text('failurePolicy: Ignore\n  webhookTimeoutSeconds: 3'))).toMatchObject({
      failurePolicy: 'Ignore',
      timeoutSeconds: 3,
    });
  });

  it('notes rules of other types, and passes over them', () => {
    const policy = loadOne(`apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: p}
spec:
  rules:
  - {name: v, match: {any: [{resources: {kinds: [Pod]}}]}, validate: {pattern: {"=(a)": "{{ x }}"}}}
  - {name: g, match: {any: [{resources: {kinds: [Pod]}}]}, generate: {kind: Secret}}
  - {name: i, match: {any: [{resources: {kinds: [Pod]}}]}, verifyImages: [{imageReferences: ["*"]}]}
`);
    expect(policy.rules).toEqual([]);
    expect(policy.otherRules).toEqual([
      { name: 'v', type: 'validate' },
      { name: 'g', type: 'generate' },
      { name: 'i', type: 'verifyImages' },
    ]);
  });

  it('runs generated rules after all of its own; they know where they come from', () => {
    const pod = (name: string) =>
      `- {name: ${name}, match: {any: [{resources: {kinds: [Pod]}}]}, mutate: {patchStrategicMerge: {metadata: {labels: {a: b}}}}}`;
    const text = `apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {name: p}\nspec:\n  rules:\n  ${pod('one')}\n  ${pod('two')}\n  ${pod('autogen-mine')}\n`;
    expect(loadOne(text).rules.map(({ name, autogenOf, path }) => [name, autogenOf, path[2]])).toEqual([
      ['one', undefined, 0],
      ['two', undefined, 1],
      ['autogen-one', 'one', 0],
      ['autogen-cronjob-one', 'one', 0],
      ['autogen-two', 'two', 1],
      ['autogen-cronjob-two', 'two', 1],
    ]);
  });

  it('has the flat form of match as one block of any', () => {
    const text = `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: p}
spec:
  background: false
  rules:
  - name: r
    match: {resources: {kinds: [v1/ConfigMap], name: "a*", operations: [CREATE]}, roles: ["ns:role"], subjects: [{kind: ServiceAccount, name: "s*", namespace: ns}]}
    exclude: {any: [{}]}
    mutate: {patchStrategicMerge: {metadata: {labels: {a: b}}}}
`;
    const [rule] = loadOne(text).rules;
    const block = rule?.match.any?.[0];
    expect(rule?.exclude).toBeUndefined();
    expect(block?.path).toEqual(['match']);
    expect(block?.kinds?.map((kind) => kind.version.pattern)).toEqual(['v1']);
    expect(block?.names?.[0]?.matches('abc')).toBe(true);
    expect([...(block?.operations ?? [])]).toEqual(['CREATE']);
    expect([...(block?.roles ?? [])]).toEqual(['ns:role']);
    expect(block?.subjects?.[0]?.matches.matches('system:serviceaccount:ns:sa')).toBe(true);
    expect(block).not.toHaveProperty('namespaces');
  });

  it('has foreach with its default order: backwards for merges, forwards otherwise', () => {
    const text = `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: p}
spec:
  rules:
  - name: r
    match: {any: [{resources: {kinds: [ConfigMap]}}]}
    mutate:
      foreach:
      - {list: request.object.a, patchStrategicMerge: {a: b}}
      - {list: request.object.a, order: Ascending, patchStrategicMerge: {a: b}}
      - {list: request.object.a, patchesJson6902: "[{op: remove, path: /a}]"}
      - {list: request.object.a, as: outer, foreach: [{list: element.b, order: Descending, patchesJson6902: "[{op: remove, path: /a}]"}]}
`;
    const mutation = loadOne(text).rules[0]?.mutation;
    const entries = mutation?.type === 'foreach' ? mutation.entries : [];
    expect(entries.map(({ order }) => order)).toEqual(['Descending', 'Ascending', 'Ascending', 'Ascending']);
    expect(entries[3]).toMatchObject({
      as: 'outer',
      path: ['mutate', 'foreach', 3],
      body: {
        type: 'foreach',
        entries: [{ order: 'Descending', path: ['mutate', 'foreach', 3, 'foreach', 0] }],
      },
    });
  });

  it('has targets, even an empty list of them, when it mutates existing objects', () => {
    const text = (mutate: string) =>
      `apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {name: p}\nspec:\n  mutateExistingOnPolicyUpdate: ${mutate.includes('kind')}\n  rules:\n  - {name: r, skipBackgroundRequests: false, match: {any: [{resources: {kinds: [ConfigMap]}}]}, mutate: {${mutate}, patchStrategicMerge: {metadata: {labels: {a: b}}}}}\n`;
    expect(loadOne(text('targets: []')).rules[0]).toMatchObject({
      targets: [],
      skipBackgroundRequests: false,
    });
    const [rule] = loadOne(text('targets: [{apiVersion: v1, kind: Secret, namespace: ""}]')).rules;
    expect(rule?.mutateExistingOnPolicyUpdate).toBe(true);
    expect(Object.keys(rule?.targets?.[0] ?? {})).toEqual(['path', 'apiVersion', 'kind', 'context']);
    const [plain] = loadOne(text('mutateExistingOnPolicyUpdate: false')).rules;
    expect(plain).toMatchObject({ name: 'r', targets: undefined });
  });
});
