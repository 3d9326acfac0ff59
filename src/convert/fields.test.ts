import { describe, expect, it } from 'vitest';
import { isArray, isObject, type Json, type JsonObject } from '../json/value.ts';
import { policySchema } from '../policy/schema/policy.ts';
import type { FieldType, ObjectSchema } from '../policy/schema/schema.ts';
import { parseYamlText } from '../yaml/parse-text.ts';
import { convertPolicy } from './policy.ts';

/** What the converter does with a field: `converted` changes the output, `none` has no effect on mutation. */
type Handling = 'converted' | 'refused' | 'difference' | 'none';

/** A policy in which the fields of the table are set one by one. */
const base = (patch: string, rest = ''): JsonObject =>
  parseYamlText(`
apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: old, annotations: {pod-policies.kyverno.io/autogen-controllers: none}}
spec:
  rules:
  - name: first
    match: {any: [{resources: {kinds: [Pod]}}]}
    mutate: {${patch}}
    ${rest}
`) as JsonObject;
const merge = base('patchStrategicMerge: {metadata: {labels: {a: b}}}');
const noPatch = base('');
const withMatch = (match: JsonObject): JsonObject => setField(merge, 'spec.rules[].match', match);
const flat = withMatch({ resources: { kinds: ['Pod'] } });
const loop = base(
  'foreach: [{list: request.object.spec.containers, patchesJson6902: "- {op: add, path: \'/metadata/labels/{{element.name}}\', value: x}"}]',
);
const existing = base(
  'targets: [{apiVersion: v1, kind: Secret, name: copy}], mutateExistingOnPolicyUpdate: true, patchStrategicMerge: {metadata: {labels: {a: b}}}',
);
const reading = (entry: string): JsonObject =>
  base('patchStrategicMerge: {metadata: {annotations: {a: "{{ data.x }}"}}}', `context: [${entry}]`);

const rule = 'spec.rules[]';
const block = `${rule}.match.any[].resources`;
const entry = `${rule}.context[]`;
const target = `${rule}.mutate.targets[]`;
const each = `${rule}.mutate.foreach[]`;

/** A value for each field that is not exercised by others. */
const fields: readonly (readonly [string, Handling, Json, JsonObject])[] = [
  ['apiVersion', 'refused', 'example.com/v1', merge],
  ['kind', 'converted', 'Policy', merge],
  ['metadata', 'converted', { name: 'other' }, merge],
  ['status', 'none', { ready: true }, merge],
  ['spec.applyRules', 'none', 'One', merge],
  ['spec.failurePolicy', 'converted', 'Ignore', merge],
  ['spec.webhookConfiguration.failurePolicy', 'converted', 'Ignore', merge],
  ['spec.webhookConfiguration.timeoutSeconds', 'converted', 5, merge],
  ['spec.webhookConfiguration.matchConditions', 'converted', [{ name: 'c', expression: 'true' }], merge],
  ['spec.webhookTimeoutSeconds', 'converted', 5, merge],
  ['spec.emitWarning', 'difference', true, merge],
  ['spec.admission', 'refused', false, merge],
  ['spec.background', 'converted', false, merge],
  ['spec.mutateExistingOnPolicyUpdate', 'none', true, existing],
  ['spec.schemaValidation', 'none', false, merge],
  ['spec.generateExisting', 'none', true, merge],
  ['spec.generateExistingOnPolicyUpdate', 'none', true, merge],
  ['spec.useServerSideApply', 'none', true, merge],
  ['spec.validationFailureAction', 'none', 'Enforce', merge],
  ['spec.validationFailureActionOverrides', 'none', [{}], merge],
  [`${rule}.name`, 'converted', 'second', merge],
  [`${rule}.match`, 'converted', { any: [{ resources: { kinds: ['Service'] } }] }, merge],
  [`${rule}.match.any`, 'converted', [{ resources: { kinds: ['Service'] } }], merge],
  [`${rule}.match.all`, 'converted', [{ resources: { kinds: ['Service'] } }], withMatch({})],
  [`${rule}.match.resources`, 'converted', { kinds: ['Service'] }, flat],
  [`${rule}.match.subjects`, 'converted', [{ kind: 'User', name: 'alice' }], flat],
  [`${rule}.match.roles`, 'refused', ['a:b'], flat],
  [`${rule}.match.clusterRoles`, 'refused', ['a'], flat],
  [`${rule}.match.any[].subjects`, 'converted', [{ kind: 'User', name: 'alice' }], merge],
  [`${rule}.match.any[].roles`, 'refused', ['a:b'], merge],
  [`${rule}.match.any[].clusterRoles`, 'refused', ['a'], merge],
  [`${block}.kinds`, 'converted', ['Service'], merge],
  [`${block}.name`, 'converted', 'a', merge],
  [`${block}.names`, 'converted', ['a'], merge],
  [`${block}.namespaces`, 'converted', ['a'], merge],
  [`${block}.annotations`, 'converted', { a: 'b' }, merge],
  [`${block}.selector`, 'converted', { matchLabels: { a: 'b' } }, merge],
  [`${block}.namespaceSelector`, 'converted', { matchLabels: { a: 'b' } }, merge],
  [`${block}.operations`, 'converted', ['CREATE'], merge],
  [`${rule}.exclude`, 'converted', { any: [{ resources: { names: ['a'] } }] }, merge],
  [entry, 'none', { name: 'unused', variable: { value: 1 } }, merge],
  [`${entry}.name`, 'refused', 'other', reading('{name: data, variable: {value: {x: y}}}')],
  [
    `${entry}.variable`,
    'converted',
    { value: { x: 'z' } },
    reading('{name: data, variable: {value: {x: y}}}'),
  ],
  [`${entry}.variable.value`, 'converted', { x: 'z' }, reading('{name: data, variable: {value: {x: y}}}')],
  [
    `${entry}.variable.jmesPath`,
    'converted',
    'w',
    reading('{name: data, variable: {value: {w: {x: z}, x: y}}}'),
  ],
  [
    `${entry}.variable.default`,
    'converted',
    { x: 'z' },
    reading('{name: data, variable: {jmesPath: request.object.metadata.labels}}'),
  ],
  [`${entry}.configMap`, 'converted', { name: 'a', namespace: 'b' }, reading('{name: data}')],
  [`${entry}.configMap.name`, 'converted', 'c', reading('{name: data, configMap: {name: a, namespace: b}}')],
  [
    `${entry}.configMap.namespace`,
    'converted',
    'c',
    reading('{name: data, configMap: {name: a, namespace: b}}'),
  ],
  [`${entry}.apiCall`, 'converted', { urlPath: '/api/v1/namespaces/a' }, reading('{name: data}')],
  [
    `${entry}.apiCall.urlPath`,
    'converted',
    '/api/v1/namespaces/b',
    reading('{name: data, apiCall: {urlPath: /api/v1/namespaces/a}}'),
  ],
  [
    `${entry}.apiCall.method`,
    'refused',
    'POST',
    reading('{name: data, apiCall: {urlPath: /api/v1/namespaces/a}}'),
  ],
  [
    `${entry}.apiCall.data`,
    'converted',
    [{ key: 'a', value: 'b' }],
    reading('{name: data, apiCall: {method: POST, service: {url: "http://a"}}}'),
  ],
  [`${entry}.apiCall.service`, 'converted', { url: 'http://a' }, reading('{name: data, apiCall: {}}')],
  [
    `${entry}.apiCall.service.url`,
    'converted',
    'http://b',
    reading('{name: data, apiCall: {service: {url: "http://a"}}}'),
  ],
  [
    `${entry}.apiCall.service.caBundle`,
    'converted',
    'x',
    reading('{name: data, apiCall: {service: {url: "http://a"}}}'),
  ],
  [
    `${entry}.apiCall.service.headers`,
    'converted',
    [{ key: 'a', value: 'b' }],
    reading('{name: data, apiCall: {service: {url: "http://a"}}}'),
  ],
  [
    `${entry}.apiCall.jmesPath`,
    'converted',
    'metadata',
    reading('{name: data, apiCall: {urlPath: /api/v1/namespaces/a}}'),
  ],
  [
    `${entry}.apiCall.default`,
    'converted',
    { x: 'y' },
    reading('{name: data, apiCall: {urlPath: /api/v1/namespaces/a}}'),
  ],
  [`${entry}.imageRegistry`, 'converted', { reference: 'a' }, reading('{name: data}')],
  [
    `${entry}.imageRegistry.reference`,
    'converted',
    'b',
    reading('{name: data, imageRegistry: {reference: a}}'),
  ],
  [
    `${entry}.imageRegistry.jmesPath`,
    'converted',
    'registry',
    reading('{name: data, imageRegistry: {reference: a}}'),
  ],
  [
    `${entry}.imageRegistry.imageRegistryCredentials`,
    'refused',
    { secrets: ['a'] },
    reading('{name: data, imageRegistry: {reference: a}}'),
  ],
  [`${entry}.globalReference`, 'converted', { name: 'a' }, reading('{name: data}')],
  [`${entry}.globalReference.name`, 'converted', 'b', reading('{name: data, globalReference: {name: a}}')],
  [
    `${entry}.globalReference.jmesPath`,
    'converted',
    'x',
    reading('{name: data, globalReference: {name: a}}'),
  ],
  [
    `${rule}.preconditions`,
    'converted',
    { all: [{ key: '{{ request.operation }}', operator: 'Equals', value: 'CREATE' }] },
    merge,
  ],
  [`${rule}.celPreconditions`, 'refused', [{ name: 'a', expression: 'true' }], merge],
  [`${rule}.reportProperties`, 'none', { a: 'b' }, merge],
  [`${rule}.skipBackgroundRequests`, 'converted', false, existing],
  [`${rule}.imageExtractors`, 'none', {}, merge],
  [`${rule}.validate`, 'refused', {}, merge],
  [`${rule}.generate`, 'refused', {}, merge],
  [`${rule}.verifyImages`, 'refused', [{}], merge],
  [`${rule}.mutate`, 'converted', { patchStrategicMerge: { metadata: { labels: { c: 'd' } } } }, merge],
  [`${rule}.mutate.patchStrategicMerge`, 'converted', { metadata: { labels: { c: 'd' } } }, merge],
  [`${rule}.mutate.patchesJson6902`, 'converted', '- {op: add, path: /metadata/labels/a, value: b}', noPatch],
  [`${rule}.mutate.replacements`, 'refused', [{}], noPatch],
  [`${rule}.mutate.targets`, 'converted', [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'a' }], existing],
  [`${rule}.mutate.mutateExistingOnPolicyUpdate`, 'converted', false, existing],
  [`${target}.apiVersion`, 'converted', 'v2', existing],
  [`${target}.kind`, 'converted', 'ConfigMap', existing],
  [`${target}.namespace`, 'converted', 'a', existing],
  [`${target}.name`, 'converted', 'b', existing],
  [`${target}.uid`, 'refused', 'x', existing],
  [`${target}.selector`, 'converted', { matchLabels: { a: 'b' } }, existing],
  [`${target}.context`, 'none', [{ name: 'unused', variable: { value: 1 } }], existing],
  [
    `${target}.preconditions`,
    'converted',
    { all: [{ key: '{{ target.metadata.name }}', operator: 'Equals', value: 'a' }] },
    existing,
  ],
  [
    `${rule}.mutate.foreach`,
    'converted',
    [{ list: 'request.object.spec.containers', patchStrategicMerge: { metadata: { labels: { a: 'b' } } } }],
    noPatch,
  ],
  [`${each}.list`, 'converted', 'request.object.spec.initContainers', loop],
  [`${each}.order`, 'converted', 'Descending', loop],
  [`${each}.as`, 'none', 'container', loop],
  [`${each}.context`, 'none', [{ name: 'unused', variable: { value: 1 } }], loop],
  [
    `${each}.preconditions`,
    'converted',
    { all: [{ key: '{{ element.name }}', operator: 'Equals', value: 'a' }] },
    loop,
  ],
  [`${each}.patchStrategicMerge`, 'converted', { metadata: { labels: { a: 'b' } } }, loop],
  [`${each}.patchesJson6902`, 'converted', '- {op: remove, path: /metadata/labels/a}', loop],
  [
    `${each}.foreach`,
    'converted',
    [
      {
        list: 'element.ports',
        patchesJson6902: '- {op: add, path: "/metadata/labels/{{element.name}}", value: x}',
      },
    ],
    loop,
  ],
];

/** Parts that have tests of their own: match blocks are the same everywhere, and so are context entries. */
const repeated = [
  /^spec\.rules\[\]\.exclude\./,
  /^spec\.rules\[\]\.match\.all\[\]/,
  /^spec\.rules\[\]\.match\.resources\./,
  /\.subjects\[\]\./,
  /elector\.match/,
  /\.(?:targets|foreach)\[\]\.context\[\]/,
  /\.(?:headers|data)\[\]\./,
  /\.matchConditions\[\]\./,
  /^spec\.rules\[\]\.generate\./,
  /\.foreach\[\]\.foreach\[\]/,
];
/** Only holders of other fields. */
const holders = new Set(['spec', 'spec.rules', 'spec.webhookConfiguration', `${rule}.context`, block]);

function pathsOf(schema: ObjectSchema, prefix = ''): readonly string[] {
  return Object.entries(schema).flatMap(([name, { type }]) => {
    const path = prefix === '' ? name : `${prefix}.${name}`;
    return [path, ...below(type, path)];
  });
}

function below(type: FieldType, path: string): readonly string[] {
  if (typeof type === 'string' || repeated.some((pattern) => pattern.test(`${path}.`))) return [];
  if ('object' in type) return pathsOf(type.object, path);
  if ('list' in type) return below(type.list, `${path}[]`);
  return /(?:\.foreach\[\]){2}/.test(path) ? [] : below(type.lazy(), path);
}

function withField(value: Json | undefined, steps: readonly string[], written: Json): Json {
  const [step, ...rest] = steps;
  if (step === undefined) return written;
  if (step === '[]') {
    const [first, ...others] = isArray(value) ? value : [];
    return [withField(first, rest, written), ...others];
  }
  const object = isObject(value ?? null) ? (value as JsonObject) : {};
  return { ...object, [step]: withField(object[step], rest, written) };
}

function setField(document: JsonObject, path: string, value: Json): JsonObject {
  return withField(document, path.replaceAll('[]', '.[]').split('.'), value) as JsonObject;
}

describe('fields of a ClusterPolicy', () => {
  it('are all known to the converter', () => {
    const known = new Set([...fields.map(([path]) => path), ...holders]);
    const forgotten = pathsOf(policySchema).filter(
      (path) => !known.has(path) && !repeated.some((pattern) => pattern.test(`${path}.`)),
    );
    expect(forgotten).toEqual([]);
  });

  it.each(fields)('%s: %s', (path, handling, value, document) => {
    const before = convertPolicy(document, { to: 'mutatingpolicy' });
    const after = convertPolicy(setField(document, path, value), { to: 'mutatingpolicy' });
    if (handling === 'refused') {
      expect(after.refusals).not.toEqual([]);
      expect(after.refusals).not.toEqual(before.refusals);
    } else {
      expect(after.refusals).toEqual([]);
      if (handling === 'converted') expect(after.documents).not.toEqual(before.documents);
      else expect(after.documents).toEqual(before.documents);
      if (handling === 'difference') expect(after.differences.length).toBe(before.differences.length + 1);
      else expect(after.differences).toEqual(before.differences);
    }
  });
});
