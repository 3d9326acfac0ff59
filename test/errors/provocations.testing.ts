import type { ErrorCode } from '../../src/errors.ts';
import type { JsonObject } from '../../src/json/value.ts';
import { policy } from '../../src/policy/policy.testing.ts';

/** The least that makes a code appear. */
export type Provocation =
  /** Policies that are checked. */
  | { readonly text: string }
  /** A policy that is run on an object. */
  | { readonly text: string; readonly object: JsonObject; readonly refusal?: string }
  /** A command line. */
  | { readonly argv: readonly string[]; readonly files?: Readonly<Record<string, string>> };

const configMap: JsonObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'c', namespace: 'ns' },
  data: { k: 'v' },
};
const pod: JsonObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', namespace: 'ns' },
  spec: { containers: [{ name: 'a', image: 'x' }] },
};
const podMatch = 'any: [{resources: {kinds: [Pod]}}]';
const label = (value: string) => ({ mutate: `patchStrategicMerge: {metadata: {labels: {a: ${value}}}}` });
const flip = (from: string, to: string) => ({
  ...label(to),
  match: `any: [{resources: {kinds: [ConfigMap], selector: {matchLabels: {a: ${from}}}}}]`,
});
const psm = (patch: string) => ({ mutate: `patchStrategicMerge: ${patch}` });
const operations = (text: string) => ({ mutate: `patchesJson6902: ${JSON.stringify(text)}` });
const loop = (body: string) => ({ mutate: `foreach: [{${body}}]` });
const replacement = (fields: string) => ({ mutate: `replacements: [{${fields}}]` });
const wrongConfigMap =
  'context: [{name: cm, configMap: {name: c, namespace: "{{ request.object.data.k }}"}}]';

const celPolicy = (kind: string, expression: string) => `
apiVersion: ${kind === 'MutatingPolicy' ? 'policies.kyverno.io/v1' : 'admissionregistration.k8s.io/v1'}
kind: ${kind}
metadata: {name: p}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
  reinvocationPolicy: Never
  mutations: [{patchType: ApplyConfiguration, applyConfiguration: {expression: '${expression}'}}]
`;

const kustomizeConfigMap = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n';
const build = (kustomization: string, files: Readonly<Record<string, string>> = {}): Provocation => ({
  argv: ['build', '.'],
  files: { 'kustomization.yaml': kustomization, ...files },
});

/** A function that is a command of the shell, named in a config under `field`. */
const shellFunction = (field: string, command: string, ...flags: string[]): Provocation => ({
  argv: ['build', '.', ...flags],
  files: {
    'kustomization.yaml': `resources: [a.yaml]\n${field}: [f.yaml]`,
    'a.yaml': kustomizeConfigMap,
    'f.yaml': JSON.stringify({
      apiVersion: 'example.com/v1',
      kind: 'Fn',
      metadata: {
        name: 'f',
        annotations: {
          'config.kubernetes.io/function': JSON.stringify({
            exec: { path: '/bin/sh', args: ['-c', command] },
          }),
        },
      },
    }),
  },
});

const existing = (target: string): Provocation => ({
  argv: ['existing', 'plan', 'p.yaml', '-r', 'r.yaml'],
  files: {
    'p.yaml': policy({
      mutate: `targets: [${target}]\n      patchStrategicMerge: {metadata: {labels: {a: b}}}`,
    }),
    'r.yaml': JSON.stringify(configMap),
  },
});
const generatePolicy = (fields: string) => `
apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: p}
spec:
  rules:
  - name: r
    match: {any: [{resources: {kinds: [ConfigMap]}}]}
    generate: {apiVersion: v1, kind: Secret, name: made, namespace: "{{ request.namespace }}", ${fields}}
`;

function nested(levels: number): JsonObject {
  let value: JsonObject = {};
  for (let level = 0; level < levels; level++) value = { a: value };
  return value;
}

export const provocations: Readonly<Record<ErrorCode, Provocation>> = {
  KYM_YAML_SYNTAX: { text: 'a: [' },
  KYM_EXPRESSION_SYNTAX: { text: policy(label('"{{ request..name }}"')) },
  KYM_EXPRESSION_FAILED: { text: policy(label('"{{ to_upper(request.object.data) }}"')), object: configMap },
  KYM_ALWAYS_FAILS: {
    argv: ['validate', 'p.yaml'],
    files: { 'p.yaml': policy({ ...label('"{{ request.object.metadata.name }}"'), match: podMatch }) },
  },
  KYM_CALL_NOT_MADE: {
    argv: ['apply', 'p.yaml', '-r', 'c.yaml'],
    files: {
      'p.yaml': policy({
        rule: 'context: [{name: pods, apiCall: {urlPath: /api/v1/pods, jmesPath: "items | length(@)"}}]',
        ...label('"{{ pods }}"'),
      }),
      'c.yaml': kustomizeConfigMap,
    },
  },
  KYM_ANCHOR_SYNTAX: { text: policy(psm('{metadata: {labels: {"+(a": b}}}')) },
  KYM_BRACES_UNCLOSED: { text: policy(label('"{{ request.name }"')) },
  KYM_LITERAL_WILDCARD: { text: policy(psm('{spec: {ports: [{name: "*", port: 1}]}}')) },
  KYM_RULE_NOT_RUN: { text: policy({}).replace(/mutate:/, 'validate:') },
  KYM_RULE_STUCK: { text: policy(label('b')), object: configMap, refusal: 'it has blocked the server twice' },
  KYM_CEL_INVALID: { argv: ['cel', 'check', '1 + "a"'] },
  KYM_CEL_FAILED: { argv: ['cel', 'eval', 'object.nope'] },
  KYM_APPLY_CONFIGURATION: {
    text: celPolicy('MutatingPolicy', 'Object{data: Object.data{k: 1}}'),
    object: configMap,
  },
  KYM_BINDING_MISSING: { text: celPolicy('MutatingAdmissionPolicy', 'Object{}') },
  KYM_BUDGET_EXHAUSTED: {
    text: policy(label('"{{ pattern_match(request.object.data.pattern, request.object.data.text) }}"')),
    object: { ...configMap, data: { pattern: '?*'.repeat(5_001), text: 'a'.repeat(100_000) } },
  },
  KYM_RULE_CRASHED: {
    text: policy({
      ...label('b'),
      rule: 'preconditions: {all: [{key: "{{ [parse_json(request.object.data.deep)] }}", operator: AnyIn, value: [a]}]}',
    }),
    object: { ...configMap, data: { deep: `${'['.repeat(4_900)}${']'.repeat(4_900)}` } },
  },
  KYM_VARIABLE_UNRESOLVED: { text: policy(label('"{{ request.object.data.none }}"')), object: configMap },
  KYM_REFERENCE_UNRESOLVED: { text: policy(label('"$(/none)"')) },
  KYM_LABEL_SELECTOR: {
    text: policy({
      match: 'any: [{resources: {kinds: [Pod], selector: {matchExpressions: [{key: a, operator: In}]}}}]',
    }),
  },
  KYM_CONTEXT_FAILED: {
    text: policy({
      ...label('"{{ cm.data.k }}"'),
      rule: 'context: [{name: cm, configMap: {name: none, namespace: ns}}]',
    }),
    object: configMap,
  },
  KYM_NAMESPACE_BOUNDARY: {
    text: policy({
      kind: 'Policy',
      metadata: 'namespace: ns',
      ...label('"{{ cm.data.k }}"'),
      rule: wrongConfigMap,
    }),
    object: configMap,
  },
  KYM_LIST_FAILED: {
    text: policy(loop('list: request.object.data.none, patchStrategicMerge: {metadata: {labels: {a: b}}}')),
    object: configMap,
  },
  KYM_IDENTITY_CHANGED: {
    text: policy(psm('{metadata: {name: "{{ request.operation }}"}}')),
    object: configMap,
  },
  KYM_INPUT_NOT_FOUND: { argv: ['validate', 'none.yaml'] },
  KYM_INPUT_UNREADABLE: { argv: ['jp', 'query', '-i', 'none.yaml', 'a'] },
  KYM_INPUT_TOO_LARGE: { text: `a: ${'x'.repeat(11 * 1024 * 1024)}` },
  KYM_INPUT_TOO_DEEP: { text: '['.repeat(300) },
  KYM_YAML_ALIASES: { text: 'a: &a {b: *a}' },
  KYM_NOT_AN_OBJECT: {
    argv: ['apply', 'p.yaml', '-r', 'r.yaml'],
    files: { 'p.yaml': policy(), 'r.yaml': 'a: b\n' },
  },
  KYM_USAGE: { argv: ['validate', '-', '--watch'] },
  KYM_VALUES_INVALID: {
    argv: ['apply', 'p.yaml', '-r', 'p.yaml', '-f', 'v.yaml'],
    files: { 'p.yaml': policy(), 'v.yaml': 'kind: Wrong\n' },
  },
  KYM_TEST_INVALID: { argv: ['test', 't.yaml'], files: { 't.yaml': 'kind: Test\n' } },
  KYM_PATCH_INVALID: { text: policy(psm('[]')) },
  KYM_JSON_PATCH_INVALID: { text: policy(operations('a: b')) },
  KYM_JSON_PATCH_FAILED: {
    text: policy(operations('- {op: replace, path: /data/none, value: a}')),
    object: configMap,
  },
  KYM_PATCH_MISMATCH: { text: policy(psm('{data: {k: {a: b}}}')), object: configMap },
  KYM_PATCH_KEY_MISSING: {
    text: policy({ match: podMatch, ...psm('{spec: {containers: [{tty: true}]}}') }),
    object: pod,
  },
  KYM_PATCH_DIRECTIVE: { text: policy(psm('{data: {$patch: none}}')) },
  KYM_PATCH_TOO_DEEP: {
    text: policy(psm('{data: {k: "{{ request.object.deep }}"}}')),
    object: { ...configMap, data: {}, deep: nested(600) },
  },
  KYM_ANCHOR_UNSUPPORTED: { text: policy(psm('{data: {X(k): a}}')) },
  KYM_REPLACEMENT_INVALID: { text: policy(replacement('sourceValue: a')) },
  KYM_REPLACEMENT_FAILED: {
    text: policy(
      replacement('sourceValue: a, targets: [{select: {kind: ConfigMap}, fieldPaths: [data.none]}]'),
    ),
    object: configMap,
  },
  KYM_FIELD_UNKNOWN: { text: policy({ spec: 'unknown: 1' }) },
  KYM_FIELD_TYPE: { text: policy({ spec: 'background: "no"' }) },
  KYM_FIELD_VALUE: { text: policy({ spec: 'applyRules: Two' }) },
  KYM_FIELD_MISSING: { text: 'apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {name: p}\n' },
  KYM_FIELD_CONFLICT: { text: policy({ match: 'any: [{resources: {kinds: [Pod], name: a, names: [b]}}]' }) },
  KYM_POLICY_SCOPE: { text: policy({ metadata: 'namespace: ns' }) },
  KYM_RULE_NAME: {
    text: policy({ rule: '\n  - {name: r, match: {any: [{resources: {kinds: [Pod]}}]}, validate: {}}' }),
  },
  KYM_RULE_TYPE: { text: policy({ rule: 'validate: {message: a}' }) },
  KYM_MATCH_EMPTY: { text: policy({ match: 'any: [{resources: {}}]' }) },
  KYM_MATCH_KIND: { text: policy({ match: 'any: [{resources: {names: [a]}}]' }) },
  KYM_NAMESPACE_SCOPE: { text: policy({ kind: 'Policy', match: 'any: [{resources: {kinds: [Node]}}]' }) },
  KYM_BACKGROUND_USER_INFO: {
    text: policy({ spec: 'background: true', ...label('"{{ serviceAccountName }}"') }),
  },
  KYM_VARIABLE_FORBIDDEN: { text: policy({ match: 'any: [{resources: {kinds: ["{{ a }}"]}}]' }) },
  KYM_VARIABLE_UNKNOWN: { text: policy(label('"{{ none }}"')) },
  KYM_VARIABLE_OUTSIDE_FOREACH: { text: policy(label('"{{ element }}"')) },
  KYM_CONTEXT_ENTRY: { text: policy({ rule: 'context: [{name: a}]' }) },
  KYM_CONTEXT_CYCLE: { text: policy({ rule: 'context: [{name: a, variable: {value: "{{ a }}"}}]' }) },
  KYM_CONDITION_INVALID: {
    text: policy({ rule: 'preconditions: {all: [{key: a, operator: Near, value: b}]}' }),
  },
  KYM_MUTATE_FORM: { text: policy({ mutate: 'foreach: []' }) },
  KYM_METADATA_ONLY: {
    text: policy({ match: 'any: [{resources: {kinds: ["*"]}}]', ...psm('{spec: {a: b}}') }),
  },
  KYM_LABEL_VALUE: { text: policy(label('1')) },
  KYM_IDENTITY_WRITE: { text: policy(psm('{kind: Secret}')) },
  KYM_TARGET_KINDS: {
    text: policy({
      mutate:
        'targets: [{apiVersion: v1, kind: Secret, name: a, namespace: b}, {apiVersion: v1, kind: Pod, name: a, namespace: b}]\n      patchStrategicMerge: {spec: {a: b}}',
    }),
  },
  KYM_TARGETS_MISSING: {
    text: policy({ mutate: 'mutateExistingOnPolicyUpdate: true\n      patchStrategicMerge: {data: {a: b}}' }),
  },
  KYM_NOT_RECONCILED: {
    text: policy({
      mutate: `targets: [{apiVersion: v1, kind: Secret}]
      patchStrategicMerge: {metadata: {labels: {a: "{{ random('[a-z]{8}') }}"}}}`,
    }),
  },
  KYM_TARGET_NOT_FOUND: existing('{apiVersion: v1, kind: Secret, namespace: ns, name: none}'),
  KYM_TARGET_SELECTOR: existing('{apiVersion: v1, kind: "{{ request.object.data }}"}'),
  KYM_GENERATE_FORM: { text: generatePolicy('data: {data: {a: b}}, clone: {name: a, namespace: b}') },
  KYM_GENERATE_SYNCHRONIZE: {
    text: generatePolicy('synchronize: true, clone: {name: "{{ request.name }}", namespace: b}'),
  },
  KYM_SOURCE_NOT_FOUND: {
    argv: ['existing', 'plan', 'p.yaml', '-r', 'r.yaml', '--operation', 'CREATE'],
    files: {
      'p.yaml': generatePolicy('clone: {name: none, namespace: b}'),
      'r.yaml': JSON.stringify(configMap),
    },
  },
  KYM_EXISTING_ENDLESS: {
    argv: ['existing', 'plan', 'p.yaml', '-r', 'r.yaml'],
    files: {
      'p.yaml': policy({
        rule: 'skipBackgroundRequests: false',
        mutate: `targets: [{apiVersion: v1, kind: ConfigMap}]
      patchStrategicMerge: {data: {k: "{{ target.data.k }}x"}}`,
      }),
      'r.yaml': JSON.stringify(configMap),
    },
  },
  KYM_SUBRESOURCE_MISSING: {
    text: policy({ match: 'any: [{resources: {kinds: [Deployment]}}]', ...psm('{spec: {replicas: 1}}') }),
  },
  KYM_AUTOGEN_NARROWED: {
    text: policy({
      match: podMatch,
      metadata: 'annotations: {pod-policies.kyverno.io/autogen-controllers: Job}',
    }),
  },
  KYM_POD_PATCHED_DIRECTLY: {
    text: policy({ match: 'resources: {kinds: [Pod]}', ...operations('[{op: remove, path: /spec/a}]') }),
  },
  KYM_DEPRECATED: { text: policy({ spec: 'failurePolicy: Ignore' }) },
  KYM_NEVER_APPLIES: { text: policy({ match: 'any: [{resources: {kinds: [Pod], operations: [DELETE]}}]' }) },
  KYM_CONFLICT: {
    argv: ['validate', 'a.yaml', 'b.yaml'],
    files: { 'a.yaml': policy(label('x')), 'b.yaml': policy(label('w')).replace('name: p', 'name: q') },
  },
  KYM_ENDLESS: {
    argv: ['validate', 'a.yaml', 'b.yaml'],
    files: {
      'a.yaml': policy(flip('x', 'w')),
      'b.yaml': policy(flip('w', 'x')).replace('name: p', 'name: q'),
    },
  },
  KYM_NOT_IDEMPOTENT: {
    argv: ['validate', 'a.yaml'],
    files: { 'a.yaml': policy(label('"{{ request.object.metadata.labels.a || \'\' }}x"')) },
  },
  KYM_DIFFERS_FROM_KYVERNO: { text: policy({ match: podMatch, ...psm('{spec: {securityContext: {}}}') }) },
  KYM_NOT_CONVERTED: {
    argv: ['convert', 'p.yaml'],
    files: {
      'p.yaml':
        'apiVersion: kyverno.io/v1alpha1\nkind: Policy\nmetadata: {name: p}\nspec: {rules: [{resource: {kind: Pod}, mutate: {overlay: {spec: {tolerations: [{key: a}]}}}}]}\n',
    },
  },
  KYM_FILE_NOT_WRITTEN: {
    argv: ['create', 'policy', 'p', '-o', 'file/p.yaml'],
    files: { file: '' },
  },
  KYM_FILE_EXISTS: { argv: ['create', 'policy', 'p', '-o', 'p.yaml'], files: { 'p.yaml': '' } },
  KYM_CERTIFICATE: {
    argv: ['serve', '--policies', 'p.yaml', '--tls-cert', 'tls.crt', '--tls-key', 'tls.key'],
    files: { 'p.yaml': policy(label('b')), 'tls.crt': 'no certificate', 'tls.key': 'no key' },
  },
  KYM_CLUSTER: {
    argv: ['apply', 'p.yaml', '--cluster', '--kubeconfig', 'none'],
    files: { 'p.yaml': policy(label('b')) },
  },
  // An address set aside for documentation: no machine has it.
  KYM_LISTEN: {
    argv: ['serve', '--policies', 'p.yaml', '--host', '192.0.2.1', '--port', '0', '--state-dir', 'state'],
    files: { 'p.yaml': policy(label('b')) },
  },
  KYM_KUSTOMIZATION_INVALID: build('resource: [a.yaml]'),
  KYM_KUSTOMIZE_NOT_FOUND: build('resources: [none.yaml]'),
  KYM_KUSTOMIZE_OUTSIDE: {
    argv: ['build', 'inner'],
    files: { 'inner/kustomization.yaml': 'resources: [../a.yaml]', 'a.yaml': kustomizeConfigMap },
  },
  KYM_KUSTOMIZE_REMOTE: build('resources: ["https://example.com/a.yaml"]'),
  KYM_KUSTOMIZE_CYCLE: build('resources: [b]', { 'b/kustomization.yaml': 'resources: [..]' }),
  KYM_KUSTOMIZE_RESOURCE: build('resources: [a.yaml]', { 'a.yaml': 'kind: ConfigMap' }),
  KYM_KUSTOMIZE_DUPLICATE: build('resources: [a.yaml, b.yaml]', {
    'a.yaml': kustomizeConfigMap,
    'b.yaml': kustomizeConfigMap,
  }),
  KYM_KUSTOMIZE_GENERATOR: build('configMapGenerator: [{name: a, literals: [oops]}]'),
  KYM_KUSTOMIZE_NO_TARGET: build('resources: [a.yaml]\nreplicas: [{name: none, count: 1}]', {
    'a.yaml': kustomizeConfigMap,
  }),
  KYM_KUSTOMIZE_PATCH: build('resources: [a.yaml]\npatches: [{patch: hello}]', {
    'a.yaml': kustomizeConfigMap,
  }),
  KYM_PLUGIN_DISABLED: shellFunction('transformers', 'cat'),
  KYM_PLUGIN_NOT_FOUND: {
    argv: ['build', '.', '--enable-plugins'],
    files: {
      'kustomization.yaml': 'generators: [g.yaml]',
      'g.yaml': 'apiVersion: none.example.com/v1\nkind: None\nmetadata: {name: n}\n',
    },
  },
  KYM_PLUGIN_FAILED: shellFunction('transformers', 'exit 3', '--enable-plugins'),
  KYM_PLUGIN_OUTPUT: shellFunction('transformers', 'echo "{["', '--enable-plugins'),
  KYM_PLUGIN_CHANGED: shellFunction('validators', 'sed s/ConfigMap/Secret/', '--enable-plugins'),
};
