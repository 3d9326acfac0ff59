import { describe, expect, it } from 'vitest';
import { loadDocuments } from './load.ts';

/** Problems of a policy written as YAML, as `severity code pointer`. */
function check(text: string): string[] {
  const { problems } = loadDocuments([{ file: 'p.yaml', text }]);
  return problems.map(({ severity, code, pointer }) => `${severity} ${code} ${pointer}`);
}

interface Parts {
  readonly kind?: string;
  readonly version?: string;
  readonly metadata?: string;
  readonly spec?: string;
  readonly rule?: string;
  readonly match?: string;
  readonly mutate?: string;
}

const labelPatch = 'patchStrategicMerge: {metadata: {labels: {a: b}}}';
const configMapMatch = 'any: [{resources: {kinds: [ConfigMap]}}]';

/** A sound policy, but for the parts given (flow YAML). */
function policy(parts: Parts = {}): string {
  return `
apiVersion: ${parts.version ?? 'kyverno.io/v1'}
kind: ${parts.kind ?? 'ClusterPolicy'}
metadata: {name: p${parts.metadata === undefined ? '' : `, ${parts.metadata}`}}
spec:
  ${parts.spec ?? 'background: false'}
  rules:
  - name: r
    match: {${parts.match ?? configMapMatch}}
    mutate:
      ${parts.mutate ?? labelPatch}
    ${parts.rule ?? ''}
`;
}

it('a sound policy has no problems', () => {
  expect(check(policy())).toEqual([]);
});

describe('the policy as a whole', () => {
  it.each<[string, Parts, string]>([
    [
      'a ClusterPolicy with a namespace',
      { metadata: 'namespace: team' },
      'KYM_POLICY_SCOPE /metadata/namespace',
    ],
    [
      'annotations that are not text',
      { metadata: 'annotations: {a: 1}' },
      'KYM_FIELD_TYPE /metadata/annotations/a',
    ],
    [
      'both timeouts',
      { spec: 'webhookTimeoutSeconds: 5\n  webhookConfiguration: {timeoutSeconds: 5}' },
      'KYM_FIELD_CONFLICT /spec/webhookTimeoutSeconds',
    ],
    [
      'both failure policies',
      { spec: 'failurePolicy: Fail\n  webhookConfiguration: {failurePolicy: Fail}' },
      'KYM_FIELD_CONFLICT /spec/failurePolicy',
    ],
    ['a timeout of 0', { spec: 'webhookTimeoutSeconds: 0' }, 'KYM_FIELD_VALUE /spec/webhookTimeoutSeconds'],
    [
      'a timeout of 31',
      { spec: 'webhookConfiguration: {timeoutSeconds: 31}' },
      'KYM_FIELD_VALUE /spec/webhookConfiguration/timeoutSeconds',
    ],
    [
      'generateExistingOnPolicyUpdate',
      { spec: 'generateExistingOnPolicyUpdate: false' },
      'KYM_FIELD_CONFLICT /spec/generateExistingOnPolicyUpdate',
    ],
    [
      'neither admission nor background',
      { spec: 'admission: false\n  background: false' },
      'KYM_POLICY_SCOPE /spec/admission',
    ],
    ['mutate without admission', { spec: 'admission: false' }, 'KYM_POLICY_SCOPE /spec/admission'],
    [
      'overrides on a Policy',
      { kind: 'Policy', spec: 'background: false\n  validationFailureActionOverrides: [{action: Audit}]' },
      'KYM_FIELD_CONFLICT /spec/validationFailureActionOverrides',
    ],
    [
      'mutateExistingOnPolicyUpdate without targets',
      { spec: 'background: false\n  mutateExistingOnPolicyUpdate: true' },
      'KYM_TARGETS_MISSING /spec/rules/0/mutate',
    ],
    [
      'the same on the rule',
      { mutate: `${labelPatch}\n      mutateExistingOnPolicyUpdate: true` },
      'KYM_TARGETS_MISSING /spec/rules/0/mutate',
    ],
    ['an unknown applyRules', { spec: 'applyRules: Some' }, 'KYM_FIELD_VALUE /spec/applyRules'],
    ['an unknown failure policy', { spec: 'failurePolicy: ignore' }, 'KYM_FIELD_VALUE /spec/failurePolicy'],
  ])('%s', (_, parts, expected) => {
    expect(check(policy(parts))).toEqual([`error ${expected}`]);
  });

  it('names have at most 63 characters', () => {
    const long = 'a'.repeat(64);
    expect(check(policy().replace('{name: p}', `{name: ${long}}`))).toEqual([
      'error KYM_FIELD_VALUE /metadata/name',
    ]);
    expect(check(policy().replace('name: r', `name: ${long}`))).toEqual([
      'error KYM_FIELD_VALUE /spec/rules/0/name',
    ]);
  });

  it('names are unique', () => {
    const second = `- name: r\n    match: {${configMapMatch}}\n    mutate: {${labelPatch}}`;
    expect(check(`${policy()}\n  ${second}`)).toEqual(['error KYM_RULE_NAME /spec/rules/1/name']);
  });
});

describe('the type of a rule', () => {
  const rule = (fields: string): string =>
    `apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {name: p}\nspec:\n  rules:\n  - {name: r, match: {${configMapMatch}}, ${fields}}\n`;
  it.each([
    ['none', 'context: []', ['error KYM_RULE_TYPE /spec/rules/0']],
    ['an empty one', 'mutate: {}', ['error KYM_RULE_TYPE /spec/rules/0']],
    ['two', `mutate: {${labelPatch}}, validate: {message: x}`, ['error KYM_RULE_TYPE /spec/rules/0']],
    [
      'imageExtractors',
      `mutate: {${labelPatch}}, imageExtractors: {Pod: []}`,
      ['error KYM_FIELD_CONFLICT /spec/rules/0/imageExtractors'],
    ],
    [
      'celPreconditions',
      `mutate: {${labelPatch}}, celPreconditions: [{name: a, expression: b}]`,
      ['error KYM_FIELD_CONFLICT /spec/rules/0/celPreconditions'],
    ],
    ['validate, whatever is in it', 'validate: {nonsense: {x: "{{ nothing }}"}}', []],
    ['verifyImages', 'verifyImages: [{nonsense: 1}]', []],
  ])('%s', (_, fields, expected) => {
    expect(check(rule(fields))).toEqual(expected);
  });
});

describe('match and exclude', () => {
  const resources = (fields: string): Parts => ({
    match: `any: [{resources: {kinds: [ConfigMap], ${fields}}}]`,
  });
  const at = '/spec/rules/0/match';
  const block = `${at}/any/0/resources`;
  it.each<[string, Parts, string]>([
    [
      'any and all',
      { match: `${configMapMatch}, all: [{resources: {kinds: [Secret]}}]` },
      `KYM_FIELD_CONFLICT ${at}`,
    ],
    [
      'any beside resources',
      { match: `${configMapMatch}, resources: {kinds: [Secret]}` },
      `KYM_FIELD_CONFLICT ${at}/resources`,
    ],
    ['name and names', resources('name: a, names: [b]'), `KYM_FIELD_CONFLICT ${block}/name`],
    ['an empty selector', resources('selector: {}'), `KYM_MATCH_EMPTY ${block}/selector`],
    [
      'a selector without sense',
      resources('selector: {matchExpressions: [{key: a, operator: In}]}'),
      `KYM_LABEL_SELECTOR ${block}/selector/matchExpressions/0/values`,
    ],
    ['an empty match', { match: '' }, `KYM_MATCH_EMPTY ${at}`],
    ['an empty block', { match: 'any: [{}]' }, `KYM_MATCH_EMPTY ${at}/any/0`],
    ['only subjects', { match: 'any: [{subjects: [{kind: User, name: u}]}]' }, `KYM_MATCH_EMPTY ${at}/any/0`],
    ['no kinds', { match: 'any: [{resources: {names: [a]}}]' }, `KYM_MATCH_KIND ${block}`],
    [
      '* beside other kinds',
      { match: 'any: [{resources: {kinds: ["*", Pod]}}]' },
      `KYM_MATCH_KIND ${block}/kinds`,
    ],
    [
      'a kind of five parts',
      { match: 'any: [{resources: {kinds: [a/v1/B/c/d]}}]' },
      `KYM_MATCH_KIND ${block}/kinds/0`,
    ],
    [
      'a variable in match',
      resources('names: ["{{ request.name }}"]'),
      `KYM_VARIABLE_FORBIDDEN ${block}/names/0`,
    ],
    [
      'a variable in exclude',
      { rule: 'exclude: {any: [{resources: {names: ["{{ request.name }}"]}}]}' },
      'KYM_VARIABLE_FORBIDDEN /spec/rules/0/exclude/any/0/resources/names/0',
    ],
    [
      'exclude takes all away',
      { rule: `exclude: {${configMapMatch}}` },
      'KYM_MATCH_EMPTY /spec/rules/0/exclude/any/0',
    ],
    [
      'a ServiceAccount without namespace',
      { match: 'any: [{resources: {kinds: [Pod]}, subjects: [{kind: ServiceAccount, name: a}]}]' },
      `KYM_FIELD_MISSING ${at}/any/0/subjects/0`,
    ],
    [
      'an unknown kind of subject',
      { match: 'any: [{resources: {kinds: [Pod]}, subjects: [{kind: Robot, name: a}]}]' },
      `KYM_FIELD_VALUE ${at}/any/0/subjects/0/kind`,
    ],
    [
      'a role without namespace',
      { match: 'any: [{resources: {kinds: [Pod]}, roles: [admin]}]' },
      `KYM_FIELD_VALUE ${at}/any/0/roles/0`,
    ],
    ['an unknown operation', resources('operations: [CREATED]'), `KYM_FIELD_VALUE ${block}/operations/0`],
    [
      'namespaces in a Policy',
      { kind: 'Policy', metadata: 'namespace: team', ...resources('namespaces: [team]') },
      `KYM_NAMESPACE_SCOPE ${block}/namespaces`,
    ],
    [
      'a cluster-wide kind in a Policy',
      { kind: 'Policy', match: 'any: [{resources: {kinds: [v1/Namespace]}}]' },
      `KYM_NAMESPACE_SCOPE ${block}/kinds/0`,
    ],
    [
      '* and more than metadata',
      { match: 'any: [{resources: {kinds: ["*"]}}]', mutate: 'patchStrategicMerge: {spec: {a: 1}}' },
      'KYM_METADATA_ONLY /spec/rules/0/mutate/patchStrategicMerge',
    ],
    [
      'the flat form in v2beta1',
      { version: 'kyverno.io/v2beta1', match: 'resources: {kinds: [Pod]}' },
      `KYM_FIELD_UNKNOWN ${at}/resources`,
    ],
    [
      'name in v2beta1',
      { version: 'kyverno.io/v2beta1', ...resources('name: a') },
      `KYM_FIELD_UNKNOWN ${block}/name`,
    ],
  ])('%s', (_, parts, expected) => {
    expect(check(policy(parts))).toEqual([`error ${expected}`]);
  });

  it('wildcards may stand in a selector', () => {
    expect(check(policy(resources('selector: {matchLabels: {"app*": "?*"}}')))).toEqual([]);
  });
});

describe('what Kyverno refuses though the result does not depend on it is a warning', () => {
  const background = 'background: true';
  it.each<[string, Parts, string]>([
    [
      'users in match',
      { spec: background, match: 'any: [{resources: {kinds: [ConfigMap]}, roles: ["a:b"]}]' },
      'KYM_BACKGROUND_USER_INFO /spec/rules/0/match/any/0/roles',
    ],
    [
      'users in exclude',
      { spec: background, rule: 'exclude: {any: [{clusterRoles: [x]}]}' },
      'KYM_BACKGROUND_USER_INFO /spec/rules/0/exclude/any/0/clusterRoles',
    ],
    [
      'variables about users',
      { spec: background, mutate: 'patchStrategicMerge: {data: {a: "{{ request.userInfo.username }}"}}' },
      'KYM_BACKGROUND_USER_INFO /spec/rules/0/mutate/patchStrategicMerge/data/a',
    ],
    [
      'the kind *',
      { spec: background, match: 'any: [{resources: {kinds: ["*"]}}]' },
      'KYM_MATCH_KIND /spec/rules/0/match/any/0/resources/kinds',
    ],
    [
      'the annotation all',
      { metadata: 'annotations: {pod-policies.kyverno.io/autogen-controllers: all}' },
      'KYM_FIELD_VALUE /metadata/annotations/pod-policies.kyverno.io~1autogen-controllers',
    ],
  ])('%s', (_, parts, expected) => {
    expect(check(policy(parts))).toEqual([`warning ${expected}`]);
    expect(loadDocuments([{ file: 'p', text: policy(parts) }]).policies).toHaveLength(1);
  });

  it('but user variables are right where existing objects are mutated, and without background', () => {
    const mutate =
      'targets: [{apiVersion: v1, kind: Secret}]\n      patchStrategicMerge: {data: {a: "{{ request.roles }}"}}';
    expect(check(policy({ spec: background, mutate }))).toEqual([]);
    expect(check(policy({ mutate: 'patchStrategicMerge: {data: {a: "{{ serviceAccountName }}"}}' }))).toEqual(
      [],
    );
  });
});

describe('warnings of Kyverno', () => {
  it.each<[string, Parts, string]>([
    [
      'patchesJson6902 on Pods (flat form)',
      { match: 'resources: {kinds: [Pod]}', mutate: 'patchesJson6902: "[{op: remove, path: /a}]"' },
      'KYM_POD_PATCHED_DIRECTLY /spec/rules/0/mutate/patchesJson6902',
    ],
    [
      'a narrowed annotation',
      {
        match: 'any: [{resources: {kinds: [Pod]}}]',
        metadata: 'annotations: {pod-policies.kyverno.io/autogen-controllers: Deployment}',
      },
      'KYM_AUTOGEN_NARROWED /spec/rules/0/match',
    ],
    [
      'replicas',
      { mutate: 'patchStrategicMerge: {spec: {replicas: 1}}' },
      'KYM_SUBRESOURCE_MISSING /spec/rules/0/mutate',
    ],
    [
      'status',
      { mutate: 'patchStrategicMerge: {status: {a: b}}' },
      'KYM_SUBRESOURCE_MISSING /spec/rules/0/mutate',
    ],
    [
      'no patch at all',
      { mutate: 'targets: [{apiVersion: v1, kind: Secret}]' },
      'KYM_MUTATE_FORM /spec/rules/0/mutate',
    ],
  ])('%s', (_, parts, expected) => {
    expect(check(policy(parts))).toEqual([`warning ${expected}`]);
  });

  it.each(['none', 'DaemonSet,Deployment,Job,StatefulSet,CronJob'])(
    'the annotation %s is not narrowed',
    (value) => {
      const metadata = `annotations: {pod-policies.kyverno.io/autogen-controllers: "${value}"}`;
      expect(check(policy({ match: 'any: [{resources: {kinds: [Pod]}}]', metadata }))).toEqual([]);
    },
  );

  it('matching the subresource quietens them', () => {
    const match = 'any: [{resources: {kinds: [Deployment, Deployment/scale]}}]';
    expect(check(policy({ match, mutate: 'patchStrategicMerge: {spec: {replicas: 1}}' }))).toEqual([]);
  });
});

describe('mutate', () => {
  const at = '/spec/rules/0/mutate';
  it.each<[string, string, string]>([
    [
      'two forms',
      `${labelPatch}\n      patchesJson6902: "[{op: remove, path: /a}]"`,
      `KYM_MUTATE_FORM ${at}`,
    ],
    [
      'foreach beside a patch',
      `${labelPatch}\n      foreach: [{list: request.object.a, ${labelPatch}}]`,
      `KYM_MUTATE_FORM ${at}`,
    ],
    ['replacements beside a patch', `${labelPatch}\n      replacements: [{}]`, `KYM_MUTATE_FORM ${at}`],
    ['a loop without a patch', 'foreach: [{list: request.object.a}]', `KYM_MUTATE_FORM ${at}/foreach/0`],
    [
      'a loop with both patches',
      `foreach: [{list: request.object.a, ${labelPatch}, patchesJson6902: "[]"}]`,
      `KYM_MUTATE_FORM ${at}/foreach/0`,
    ],
    ['a loop without a list', `foreach: [{${labelPatch}}]`, `KYM_FIELD_MISSING ${at}/foreach/0`],
    [
      'a list in braces',
      `foreach: [{list: "{{ request.object.a }}", ${labelPatch}}]`,
      `KYM_EXPRESSION_SYNTAX ${at}/foreach/0/list`,
    ],
    [
      'a list that does not parse',
      `foreach: [{list: "request.object.[", ${labelPatch}}]`,
      `KYM_EXPRESSION_SYNTAX ${at}/foreach/0/list`,
    ],
    [
      'declarations beside a nested loop',
      `foreach: [{list: request.object.a, preconditions: {all: []}, foreach: [{list: element, ${labelPatch}}]}]`,
      `KYM_MUTATE_FORM ${at}/foreach/0/preconditions`,
    ],
    [
      'as: with a blank',
      `foreach: [{list: request.object.a, as: "my element", ${labelPatch}}]`,
      `KYM_FIELD_VALUE ${at}/foreach/0/as`,
    ],
    [
      'as: with a built-in name',
      `foreach: [{list: request.object.a, as: request, ${labelPatch}}]`,
      `KYM_FIELD_VALUE ${at}/foreach/0/as`,
    ],
    [
      'an unknown order',
      `foreach: [{list: request.object.a, order: Upwards, ${labelPatch}}]`,
      `KYM_FIELD_VALUE ${at}/foreach/0/order`,
    ],
    [
      'a label that is no text',
      'patchStrategicMerge: {metadata: {labels: {a: true}}}',
      `KYM_LABEL_VALUE ${at}/patchStrategicMerge/metadata/labels/a`,
    ],
    [
      'an annotation set to null',
      'patchStrategicMerge: {metadata: {annotations: {a: null}}}',
      `KYM_LABEL_VALUE ${at}/patchStrategicMerge/metadata/annotations/a`,
    ],
    [
      'a label of the pod template',
      'patchStrategicMerge: {spec: {template: {metadata: {labels: {a: 1}}}}}',
      `KYM_LABEL_VALUE ${at}/patchStrategicMerge/spec/template/metadata/labels/a`,
    ],
    [
      'a label in a loop',
      'foreach: [{list: request.object.a, patchStrategicMerge: {metadata: {labels: {a: 1}}}}]',
      `KYM_LABEL_VALUE ${at}/foreach/0/patchStrategicMerge/metadata/labels/a`,
    ],
    [
      'targets of two kinds',
      'targets: [{apiVersion: v1, kind: Pod}, {apiVersion: apps/v1, kind: Deployment}]\n      patchStrategicMerge: {spec: {a: 1}}',
      `KYM_TARGET_KINDS ${at}/targets`,
    ],
    [
      'targets of two kinds, operations',
      'targets: [{kind: Pod}, {kind: Secret}]\n      patchesJson6902: "[{op: add, path: /spec/a, value: 1}]"',
      `KYM_TARGET_KINDS ${at}/targets`,
    ],
    [
      'an operation path without slash',
      'patchesJson6902: "[{op: remove, path: a}]"',
      `KYM_JSON_PATCH_INVALID ${at}/patchesJson6902`,
    ],
    [
      'an unknown operation',
      'patchesJson6902: "[{op: delete, path: /a}]"',
      `KYM_JSON_PATCH_INVALID ${at}/patchesJson6902`,
    ],
    [
      'an operation without value',
      'patchesJson6902: "[{op: add, path: /a}]"',
      `KYM_JSON_PATCH_INVALID ${at}/patchesJson6902`,
    ],
    [
      'an object instead of operations',
      'patchesJson6902: "op: remove"',
      `KYM_JSON_PATCH_INVALID ${at}/patchesJson6902`,
    ],
    [
      'patchesJson6902 as a list',
      'patchesJson6902: [{op: remove, path: /a}]',
      `KYM_FIELD_TYPE ${at}/patchesJson6902`,
    ],
  ])('%s', (_, mutate, expected) => {
    expect(check(policy({ mutate }))).toEqual([`error ${expected}`]);
  });

  it('a computed path outside foreach', () => {
    const mutate = 'patchesJson6902: "[{op: remove, path: \'/a/{{ request.name }}\'}]"';
    expect(check(policy({ mutate }))).toEqual([`error KYM_VARIABLE_FORBIDDEN ${at}/patchesJson6902`]);
  });

  it.each([
    [
      'targets of two kinds, metadata only',
      'targets: [{kind: Pod}, {kind: Secret}]\n      patchStrategicMerge: {metadata: {labels: {a: b}}}',
    ],
    [
      'a computed path in a loop',
      'foreach: [{list: request.object.a, patchesJson6902: "[{op: remove, path: \'/a/{{elementIndex}}\'}]"}]',
    ],
    ['labels that are variables', 'patchStrategicMerge: {metadata: {labels: {a: "{{ request.name }}"}}}'],
    [
      'as: with a name',
      `foreach: [{list: request.object.a, as: item, patchStrategicMerge: {data: {a: "{{ item.b }}{{ itemIndex }}"}}}]`,
    ],
  ])('but %s is right', (_, mutate) => {
    expect(check(policy({ mutate }))).toEqual([]);
  });
});

describe('B36: what an object is cannot be changed', () => {
  const kinds = 'any: [{resources: {kinds: [Pod]}}]';
  const none = 'annotations: {pod-policies.kyverno.io/autogen-controllers: none}';
  const psm = (overlay: string): string => `patchStrategicMerge: {${overlay}}`;
  const operations = (text: string): string => `patchesJson6902: "[${text}]"`;
  it.each([
    ['another kind', kinds, psm('kind: Deployment'), '/patchStrategicMerge/kind'],
    [
      'another apiVersion',
      'any: [{resources: {kinds: [apps/v1/Deployment]}}]',
      psm('apiVersion: v1'),
      '/patchStrategicMerge/apiVersion',
    ],
    [
      'another name',
      'any: [{resources: {kinds: [Pod], names: [a, "b*"]}}]',
      psm('metadata: {name: c}'),
      '/patchStrategicMerge/metadata/name',
    ],
    [
      'another namespace',
      'all: [{resources: {kinds: [Pod]}}, {resources: {kinds: [Pod], namespaces: [a]}}]',
      psm('metadata: {namespace: b}'),
      '/patchStrategicMerge/metadata/namespace',
    ],
    ['no kind', kinds, psm('kind: null'), '/patchStrategicMerge/kind'],
    ['a name that is no text', kinds, psm('metadata: {name: 5}'), '/patchStrategicMerge/metadata/name'],
    ['by operation', kinds, operations('{op: replace, path: /kind, value: Service}'), '/patchesJson6902/0'],
    ['by removal', kinds, operations('{op: remove, path: /metadata/name}'), '/patchesJson6902/0'],
    [
      'of a target',
      kinds,
      `targets: [{apiVersion: v1, kind: Secret, name: s}]\n      ${psm('metadata: {name: other}')}`,
      '/patchStrategicMerge/metadata/name',
    ],
    [
      'in a loop',
      kinds,
      `foreach: [{list: request.object.a, ${psm('kind: Service')}}]`,
      '/foreach/0/patchStrategicMerge/kind',
    ],
  ])('%s is refused', (_, match, mutate, pointer) => {
    expect(check(policy({ match, mutate, metadata: none }))).toEqual([
      `error KYM_IDENTITY_WRITE /spec/rules/0/mutate${pointer}`,
    ]);
  });

  it('a namespaced Policy writes its own namespace only', () => {
    const parts = { kind: 'Policy', metadata: `namespace: team, ${none}`, match: kinds };
    expect(check(policy({ ...parts, mutate: psm('metadata: {namespace: team}') }))).toEqual([]);
    expect(check(policy({ ...parts, mutate: psm('metadata: {namespace: else}') }))).toHaveLength(1);
  });

  it.each([
    ['the same kind', kinds, psm('kind: Pod, apiVersion: v1')],
    ['what may be the same', kinds, psm('metadata: {name: a, namespace: b, uid: c}')],
    [
      'one of several kinds',
      'any: [{resources: {kinds: [Pod]}}, {resources: {kinds: [Service]}}]',
      psm('kind: Service'),
    ],
    ['a wildcard kind', 'any: [{resources: {kinds: ["P*"]}}]', psm('kind: PodTemplate')],
    ['a condition', kinds, psm('(kind): Deployment')],
    ['a variable', kinds, psm('kind: "{{ request.object.kind }}"')],
    [
      'a name that fits a pattern',
      'any: [{resources: {kinds: [Pod], names: ["b*"]}}]',
      psm('metadata: {name: bc}'),
    ],
  ])('%s is left to the run', (_, match, mutate) => {
    expect(check(policy({ match, mutate, metadata: none }))).toEqual([]);
  });
});

describe('variables', () => {
  const patch = (value: string): string => `patchStrategicMerge: {data: {a: "${value}"}}`;
  const at = '/spec/rules/0';
  it.each<[string, Parts, string]>([
    [
      'an unknown one',
      { mutate: patch('{{ reqest.object.a }}') },
      `KYM_VARIABLE_UNKNOWN ${at}/mutate/patchStrategicMerge/data/a`,
    ],
    [
      'an unknown one in a condition',
      { rule: 'preconditions: {all: [{key: "{{ nothing.a }}", operator: Equals, value: b}]}' },
      `KYM_VARIABLE_UNKNOWN ${at}/preconditions/all/0/key`,
    ],
    [
      'element outside foreach',
      { mutate: patch('{{ element.name }}') },
      `KYM_VARIABLE_OUTSIDE_FOREACH ${at}/mutate/patchStrategicMerge/data/a`,
    ],
    [
      'elementIndex0 outside foreach',
      { mutate: patch('{{ elementIndex0 }}') },
      `KYM_VARIABLE_OUTSIDE_FOREACH ${at}/mutate/patchStrategicMerge/data/a`,
    ],
    [
      'the element of a loop that is not there',
      { mutate: `foreach: [{list: request.object.a, ${patch('{{ element1 }}')}}]` },
      `KYM_VARIABLE_UNKNOWN ${at}/mutate/foreach/0/patchStrategicMerge/data/a`,
    ],
    [
      'element in its own list',
      { mutate: `foreach: [{list: element.a, ${patch('b')}}]` },
      `KYM_VARIABLE_OUTSIDE_FOREACH ${at}/mutate/foreach/0/list`,
    ],
    [
      'target without targets',
      { mutate: patch('{{ target.data.a }}') },
      `KYM_VARIABLE_UNKNOWN ${at}/mutate/patchStrategicMerge/data/a`,
    ],
    [
      'target in the selection of targets',
      { mutate: `targets: [{kind: Secret, name: "{{ target.a }}"}]\n      ${labelPatch}` },
      `KYM_VARIABLE_UNKNOWN ${at}/mutate/targets/0/name`,
    ],
    [
      'target in the conditions of the rule',
      {
        mutate: `targets: [{kind: Secret}]\n      ${labelPatch}`,
        rule: 'preconditions: {all: [{key: "{{ target.a }}", operator: Equals, value: b}]}',
      },
      `KYM_VARIABLE_UNKNOWN ${at}/preconditions/all/0/key`,
    ],
    [
      'the name of another loop',
      {
        mutate: `foreach: [{list: request.object.a, as: x, ${labelPatch}}, {list: request.object.b, ${patch('{{ x }}')}}]`,
      },
      `KYM_VARIABLE_UNKNOWN ${at}/mutate/foreach/1/patchStrategicMerge/data/a`,
    ],
  ])('%s', (_, parts, expected) => {
    expect(check(policy(parts))).toEqual([`error ${expected}`]);
  });

  it('the message names the variable, and the hint what was meant', () => {
    const { problems } = loadDocuments([
      { file: 'p', text: policy({ mutate: patch('{{ reqest.object.a }}') }) },
    ]);
    expect(problems[0]).toMatchObject({
      message: 'nothing defines the variable reqest',
      hint: 'Did you mean request?',
    });
  });

  it.each([
    '{{ request.object.a }}',
    '{{ serviceAccountName }}{{ serviceAccountNamespace }}',
    '{{ images.containers }}',
    '{{ to_string(@) }}',
    "{{ request.object.a || '' }}",
    '{{ request.object.a == null || request.object.b == true }}',
    '{{@}}',
  ])('%s is known', (value) => {
    expect(check(policy({ mutate: patch(value.replaceAll('"', '\\"')) }))).toEqual([]);
  });

  it('loops, targets and context define more', () => {
    const mutate = `targets: [{kind: Secret, context: [{name: c, variable: {value: "{{ target.a }}"}}], preconditions: {all: [{key: "{{ c }}{{ target.b }}", operator: Equals, value: x}]}}]
      foreach:
      - list: target.x
        foreach:
        - {list: element.y, ${patch('{{ element }}{{ element0 }}{{ element1 }}{{ elementIndex1 }}{{ c }}{{ r }}')}}`;
    const rule = 'context: [{name: r, variable: {value: 1}}]';
    expect(check(policy({ mutate, rule }))).toEqual([]);
  });
});

describe('context entries', () => {
  const at = '/spec/rules/0/context/0';
  const entry = (fields: string): Parts => ({ rule: `context: [{${fields}}]` });
  it.each<[string, Parts, string]>([
    ['no name', entry('variable: {value: 1}'), `KYM_FIELD_MISSING ${at}`],
    ['an empty name', entry('name: "", variable: {value: 1}'), `KYM_CONTEXT_ENTRY ${at}`],
    ['a built-in name', entry('name: images, variable: {value: 1}'), `KYM_CONTEXT_ENTRY ${at}/name`],
    [
      'a name below a built-in one',
      entry('name: request.object, variable: {value: 1}'),
      `KYM_CONTEXT_ENTRY ${at}/name`,
    ],
    ['no type', entry('name: a'), `KYM_CONTEXT_ENTRY ${at}`],
    [
      'two types',
      entry('name: a, variable: {value: 1}, configMap: {name: b, namespace: c}'),
      `KYM_CONTEXT_ENTRY ${at}`,
    ],
    [
      'a configMap without name',
      entry('name: a, configMap: {namespace: c}'),
      `KYM_FIELD_MISSING ${at}/configMap`,
    ],
    [
      'a configMap without namespace',
      entry('name: a, configMap: {name: c}'),
      `KYM_CONTEXT_ENTRY ${at}/configMap`,
    ],
    [
      'a variable without value and jmesPath',
      entry('name: a, variable: {}'),
      `KYM_CONTEXT_ENTRY ${at}/variable`,
    ],
    [
      'a default without jmesPath',
      entry('name: a, variable: {value: 1, default: 2}'),
      `KYM_CONTEXT_ENTRY ${at}/variable/default`,
    ],
    [
      'service and urlPath',
      entry('name: a, apiCall: {urlPath: /api, service: {url: "https://x"}}'),
      `KYM_CONTEXT_ENTRY ${at}/apiCall`,
    ],
    [
      'neither service nor urlPath',
      entry('name: a, apiCall: {method: GET}'),
      `KYM_CONTEXT_ENTRY ${at}/apiCall`,
    ],
    [
      'an unknown method',
      entry('name: a, apiCall: {urlPath: /api, method: PUT}'),
      `KYM_FIELD_VALUE ${at}/apiCall/method`,
    ],
    [
      'a jmesPath that does not parse',
      entry('name: a, variable: {jmesPath: "a.["}'),
      `KYM_EXPRESSION_SYNTAX ${at}/variable/jmesPath`,
    ],
    [
      'a reference to itself',
      entry('name: a, variable: {value: "{{ a }}"}'),
      `KYM_CONTEXT_CYCLE ${at}/variable/value`,
    ],
    [
      'a reference to a later one',
      { rule: 'context: [{name: a, variable: {jmesPath: b}}, {name: b, variable: {value: "{{ a }}"}}]' },
      `KYM_CONTEXT_CYCLE ${at}/variable/jmesPath`,
    ],
    [
      'globalReference in a Policy',
      { kind: 'Policy', ...entry('name: a, globalReference: {name: g}') },
      `KYM_CONTEXT_ENTRY ${at}/globalReference`,
    ],
  ])('%s', (_, parts, expected) => {
    expect(check(policy(parts))).toEqual([`error ${expected}`]);
  });

  it('the cycle names its entries', () => {
    const rule =
      'context: [{name: a, variable: {value: "{{ b }}"}}, {name: b, variable: {value: "{{ a }}"}}]';
    const { problems } = loadDocuments([{ file: 'p', text: policy({ rule }) }]);
    expect(problems[0]?.message).toBe('the context entry a refers to b, which is defined after it');
  });

  it.each([
    [
      'earlier entries',
      'context: [{name: a, variable: {value: 1}}, {name: b, variable: {value: "{{ a }}"}}]',
    ],
    [
      'a new value from the old one',
      'context: [{name: a, variable: {value: 1}}, {name: a, variable: {value: "{{ a }}2"}}]',
    ],
    ['fields of the answer', 'context: [{name: a, apiCall: {urlPath: /version, jmesPath: minor}}]'],
    ['fields of the value', 'context: [{name: a, variable: {value: {b: 1}, jmesPath: b}}]'],
  ])('%s may be used', (_, rule) => {
    expect(check(policy({ rule }))).toEqual([]);
  });

  it('variables inside the jmesPath of an answer are checked', () => {
    const rule = `context: [{name: a, apiCall: {urlPath: /version, jmesPath: "items[?name=='{{ nothing }}']"}}]`;
    expect(check(policy({ rule }))).toEqual([`error KYM_VARIABLE_UNKNOWN ${at}/apiCall/jmesPath`]);
  });
});

describe('conditions', () => {
  const at = '/spec/rules/0/preconditions';
  const all = (condition: string): Parts => ({ rule: `preconditions: {all: [${condition}]}` });
  it.each<[string, Parts, string]>([
    ['no key', all('{operator: Equals, value: a}'), `KYM_CONDITION_INVALID ${at}/all/0`],
    ['no value', all('{key: a, operator: Equals}'), `KYM_CONDITION_INVALID ${at}/all/0`],
    ['a null value', all('{key: a, operator: Equals, value: null}'), `KYM_CONDITION_INVALID ${at}/all/0`],
    ['no operator', all('{key: a, value: b}'), `KYM_CONDITION_INVALID ${at}/all/0`],
    [
      'an unknown field',
      all('{key: a, operator: Equals, value: b, vlaue: c}'),
      `KYM_FIELD_UNKNOWN ${at}/all/0/vlaue`,
    ],
    ['an unknown group', { rule: 'preconditions: {some: []}' }, `KYM_FIELD_UNKNOWN ${at}/some`],
    [
      'an operation that is none',
      all('{key: "{{ request.operation }}", operator: Equals, value: CREATED}'),
      `KYM_CONDITION_INVALID ${at}/all/0/value`,
    ],
    [
      'one of several',
      all('{key: "{{request.operation}}", operator: AnyIn, value: [CREATE, Update]}'),
      `KYM_CONDITION_INVALID ${at}/all/0/value`,
    ],
    ['text', { rule: 'preconditions: yes please' }, `KYM_FIELD_TYPE ${at}`],
    [
      'a plain list in a loop',
      {
        mutate: `foreach: [{list: request.object.a, preconditions: [{key: a, operator: Equals, value: b}], ${labelPatch}}]`,
      },
      'KYM_FIELD_TYPE /spec/rules/0/mutate/foreach/0/preconditions',
    ],
  ])('%s', (_, parts, expected) => {
    expect(check(policy(parts))).toEqual([`error ${expected}`]);
  });

  it.each([
    ['a plain list', 'preconditions: [{key: a, operator: Equals, value: b}]', 'KYM_FIELD_TYPE', ''],
    [
      'In',
      'preconditions: {any: [{key: a, operator: In, value: [b]}]}',
      'KYM_CONDITION_INVALID',
      '/any/0/operator',
    ],
  ])('v2beta1 no longer has %s', (_, rule, code, pointer) => {
    expect(check(policy({ rule, version: 'kyverno.io/v2beta1' }))).toEqual([`error ${code} ${at}${pointer}`]);
    expect(check(policy({ rule }))).toEqual([]);
  });

  it('an unknown operator', () => {
    expect(check(policy(all('{key: a, operator: Matches, value: b}')))).toEqual([
      expect.stringMatching(/^error KYM_CONDITION_INVALID \/spec\/rules\/0\/preconditions\/all\/0/),
    ]);
  });

  it.each([
    ['the old list', 'preconditions: [{key: a, operator: Equals, value: b}]'],
    [
      'an operation from elsewhere',
      'preconditions: {all: [{key: "{{ request.operation }}", operator: Equals, value: "{{ request.object.a }}"}]}',
    ],
    [
      'an operation with a default',
      `preconditions: {all: [{key: "{{ request.operation || 'BACKGROUND' }}", operator: NotEquals, value: BACKGROUND}]}`,
    ],
  ])('%s is right', (_, rule) => {
    expect(check(policy({ rule }))).toEqual([]);
  });
});

describe('a namespaced Policy stays in its namespace', () => {
  const own = { kind: 'Policy', metadata: 'namespace: team' };
  it.each<[string, Parts, string]>([
    [
      'targets',
      { mutate: `targets: [{kind: Secret, namespace: else}]\n      ${labelPatch}` },
      '/mutate/targets/0/namespace',
    ],
    [
      'ConfigMaps',
      { rule: 'context: [{name: a, configMap: {name: c, namespace: else}}]' },
      '/context/0/configMap/namespace',
    ],
    [
      'API calls',
      { rule: 'context: [{name: a, apiCall: {urlPath: /api/v1/namespaces/else/pods}}]' },
      '/context/0/apiCall/urlPath',
    ],
    [
      'API calls by detour',
      { rule: 'context: [{name: a, apiCall: {urlPath: /api/v1/namespaces/team/../else/pods}}]' },
      '/context/0/apiCall/urlPath',
    ],
    [
      'replacement sources',
      {
        mutate:
          'replacements: [{source: {kind: ConfigMap, name: c, namespace: else}, targets: [{select: {kind: Pod}, fieldPaths: [a]}]}]',
      },
      '/mutate/replacements/0/source/namespace',
    ],
  ])('%s', (_, parts, pointer) => {
    expect(check(policy({ ...own, ...parts }))).toEqual([
      `error KYM_NAMESPACE_SCOPE /spec/rules/0${pointer}`,
    ]);
    expect(check(policy({ kind: 'Policy', ...parts }))).toEqual([]);
  });

  it.each<[string, Parts]>([
    ['its own', { mutate: `targets: [{kind: Secret, namespace: team}]\n      ${labelPatch}` }],
    ['none', { rule: 'context: [{name: a, configMap: {name: c}}]' }],
    [
      'a variable',
      { rule: 'context: [{name: a, apiCall: {urlPath: "/api/v1/namespaces/{{ request.namespace }}/pods"}}]' },
    ],
    [
      'its own, in a path',
      { rule: 'context: [{name: a, apiCall: {urlPath: "/api/v1/namespaces/team/pods?labelSelector=a"}}]' },
    ],
  ])('%s is right', (_, parts) => {
    expect(check(policy({ ...own, ...parts }))).toEqual([]);
  });
});

describe('fields', () => {
  it.each<[string, string, string, string]>([
    ['in the policy', 'spec: {rules: []}\nspek: {}', '/spek', 'Did you mean spec?'],
    ['in the spec', 'spec: {rules: [], backgroud: true}', '/spec/backgroud', 'Did you mean background?'],
    [
      'in a rule',
      `spec: {rules: [{name: r, match: {${configMapMatch}}, mutate: {${labelPatch}}, excludes: {}}]}`,
      '/spec/rules/0/excludes',
      'Did you mean exclude?',
    ],
    [
      'in mutate',
      `spec: {rules: [{name: r, match: {${configMapMatch}}, mutate: {patchesStrategicMerge: {}}}]}`,
      '/spec/rules/0/mutate/patchesStrategicMerge',
      'Did you mean patchStrategicMerge?',
    ],
    [
      'in match',
      'spec: {rules: [{name: r, match: {any: [{resources: {kind: [Pod], kinds: [Pod]}}]}, mutate: {patchStrategicMerge: {a: 1}}}]}',
      '/spec/rules/0/match/any/0/resources/kind',
      'Did you mean kinds?',
    ],
  ])('unknown %s', (_, rest, pointer, hint) => {
    const text = `apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {name: p, annotations: {pod-policies.kyverno.io/autogen-controllers: none}}\n${rest}\n`;
    const { problems } = loadDocuments([{ file: 'p', text }]);
    expect(problems.filter(({ severity }) => severity === 'error')).toMatchObject([
      { code: 'KYM_FIELD_UNKNOWN', pointer, hint },
    ]);
  });

  it('free-form parts and metadata are free', () => {
    const mutate = 'patchStrategicMerge: {anything: {goes: [1, {here: true}]}}';
    expect(check(policy({ mutate, metadata: 'ownerReferences: [], finalizers: [x]' }))).toEqual([]);
  });

  it('null is the same as absent', () => {
    expect(check(policy({ rule: 'exclude:\n    context:\n    preconditions:' }))).toEqual([]);
  });

  it.each<[string, Parts, string]>([
    ['text for a list', { match: 'any: {resources: {}}' }, 'KYM_FIELD_TYPE /spec/rules/0/match/any'],
    [
      'a number for text',
      { match: 'any: [{resources: {kinds: [1]}}]' },
      'KYM_FIELD_TYPE /spec/rules/0/match/any/0/resources/kinds/0',
    ],
  ])('%s', (_, parts, expected) => {
    expect(check(policy(parts))).toEqual([`error ${expected}`]);
  });
});
