import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { loadPolicies, mutate } from '../../src/index.ts';
import { equal } from '../../src/json/equal.ts';
import { parseJson, stringifyJson } from '../../src/json/json-text.ts';
import { applyPatch } from '../../src/json/patch/apply-patch.ts';
import type { UserPatchOperation } from '../../src/json/patch/operation.ts';
import { isObject, type Json, type JsonObject } from '../../src/json/value.ts';
import { kymera } from '../cli/in-process.testing.ts';
import { ownSamples } from '../conformance/policy-samples.ts';
import type { Fuzzer } from './fuzzer.testing.ts';
import { mutateJson, oddString, type Random } from './random.testing.ts';

const samples = ownSamples().filter(({ set, objects }) => set.policies.length > 0 && objects.length > 0);
const documents = samples.flatMap(({ set }) => set.policies.map(({ document }) => document));
/** Keys of policies: a renamed key should mean something. */
const policyKeys = [...new Set(documents.flatMap(keysOf))];
const objects = samples.flatMap((sample) => sample.objects);

function oddObject(random: Random): JsonObject {
  const object = random.pick(objects);
  const changed = random.oneIn(2) ? object : mutateJson(object, random);
  return isObject(changed) ? changed : object;
}

interface PolicyInput {
  readonly policy: Json;
  readonly object: JsonObject;
}

export const policies: Fuzzer<PolicyInput> = {
  name: 'policies',
  generate: (random) => ({
    policy: random.oneIn(3) ? random.pick(documents) : mutateJson(random.pick(documents), random, policyKeys),
    object: oddObject(random),
  }),
  check: ({ policy, object }) => runPolicy(policy, object),
};

const templateParts = [
  '{{',
  '}}',
  ' ',
  '@',
  '$(',
  ')',
  '\\',
  "'",
  '"',
  '`',
  'request.object',
  '.metadata',
  '.name',
  ' | ',
  'to_upper(',
  '||',
  'element',
  '-{{-',
];

export const templates: Fuzzer<PolicyInput> = {
  name: 'templates',
  generate: (random) => {
    const text = () =>
      random.list(12, () => (random.oneIn(5) ? oddString(random) : random.pick(templateParts))).join('');
    return {
      policy: {
        apiVersion: 'kyverno.io/v1',
        kind: 'ClusterPolicy',
        metadata: { name: 'p' },
        spec: {
          rules: [
            {
              name: 'r',
              match: { any: [{ resources: { kinds: ['*'] } }] },
              context: [{ name: 'x', variable: { value: text(), default: text() } }],
              preconditions: { all: [{ key: text(), operator: 'NotEquals', value: text() }] },
              mutate: {
                patchStrategicMerge: { metadata: { annotations: { [text()]: text(), '{{ x }}': text() } } },
              },
            },
          ],
        },
      },
      object: random.pick(objects),
    };
  },
  check: ({ policy, object }) => runPolicy(policy, object),
};

async function runPolicy(policy: Json, object: JsonObject): Promise<void> {
  const set = loadPolicies({ file: 'p.json', text: stringifyJson(policy) });
  const before = stringifyJson(object);
  const startedAt = process.cpuUsage().user;
  const { object: after, patch, outcomes } = await mutate(object, set, { explain: true });
  for (const { message } of outcomes) if (typeof message !== 'string') throw new Error('no message');
  if (process.cpuUsage().user - startedAt > 5_000_000)
    throw new Error('the policy took more than five seconds');
  if (stringifyJson(object) !== before) throw new Error('the object was modified');
  const read = parseJson(stringifyJson(patch)) as readonly UserPatchOperation[];
  if (after !== null && !equal(applyPatch(parseJson(before), read), parseJson(stringifyJson(after))))
    throw new Error('the patch does not lead to the object');
}

interface KustomizationInput {
  readonly kustomization: Json;
  readonly resources: readonly Json[];
}

const resource: JsonObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'shop', labels: { app: 'web' } },
  spec: {
    replicas: 1,
    template: { spec: { containers: [{ name: 'app', image: 'x:1', env: [{ name: 'A', value: '1' }] }] } },
  },
};
const kustomization: JsonObject = {
  apiVersion: 'kustomize.config.k8s.io/v1beta1',
  kind: 'Kustomization',
  resources: ['r0.yaml', 'r1.yaml'],
  namePrefix: 'p-',
  nameSuffix: '-s',
  namespace: 'other',
  commonAnnotations: { a: 'b' },
  labels: [{ pairs: { x: 'y' }, includeSelectors: true, includeTemplates: true }],
  images: [{ name: 'x', newTag: '2', digest: 'sha256:00' }],
  replicas: [{ name: 'web', count: 3 }],
  configMapGenerator: [{ name: 'c', literals: ['k=v'], behavior: 'create', options: { labels: { l: 'm' } } }],
  secretGenerator: [{ name: 's', literals: ['k=v'], type: 'Opaque' }],
  patches: [
    {
      target: { kind: 'Deployment', name: '.*' },
      patch: '[{"op":"add","path":"/metadata/labels/q","value":"1"}]',
    },
  ],
  replacements: [
    {
      source: { kind: 'Deployment', fieldPath: 'metadata.name' },
      targets: [
        {
          select: { kind: 'ConfigMap' },
          fieldPaths: ['data.k'],
          options: { delimiter: '-', index: 0, create: true },
        },
      ],
    },
  ],
  sortOptions: { order: 'fifo' },
  buildMetadata: ['originAnnotations'],
};
const kustomizeKeys = keysOf(kustomization);

export const kustomizations: Fuzzer<KustomizationInput> = {
  name: 'kustomizations',
  generate: (random) => ({
    kustomization: mutateJson(partOf(kustomization, random), random, kustomizeKeys),
    resources: [
      random.oneIn(2) ? mutateJson(resource, random) : resource,
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'd' }, data: { k: oddString(random) } },
    ],
  }),
  async check({ kustomization: document, resources }) {
    const folder = mkdtempSync(join(tmpdir(), 'kymera-fuzz-'));
    const write = (name: string, value: Json) => {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), stringifyJson(value));
    };
    write('kustomization.yaml', document);
    for (const [index, value] of resources.entries()) write(`r${index}.yaml`, value);
    try {
      const { exitCode, stdout, stderr } = await kymera(['build', '.'], { folder });
      if (exitCode === 2 && stdout === '' && /\[KYM_\w+\]/.test(stderr)) return;
      if (exitCode !== 0) throw new Error(`exit code ${exitCode}: ${stderr}`);
      const errors = parseAllDocuments(stdout).flatMap((parsed) => parsed.errors);
      if (errors.length > 0) throw new Error(`the output is not YAML: ${errors[0]?.message}`);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

/** The resources and some of the other fields. */
function partOf(object: JsonObject, random: Random): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => key === 'resources' || random.oneIn(2)));
}

function keysOf(value: Json): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((item) => keysOf(item as Json));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => [key, ...keysOf(member as Json)]);
}
