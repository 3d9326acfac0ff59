import type { Json, JsonObject } from '../../json/value.ts';
import { compilePolicy } from '../../policy/compile/policy.ts';
import type { CompiledPolicy } from '../../policy/compiled.ts';

export const labelPatch: JsonObject = { patchStrategicMerge: { metadata: { labels: { a: 'b' } } } };

export function rule(match: JsonObject, more: JsonObject = {}): JsonObject {
  return { name: 'rule', match, mutate: labelPatch, ...more };
}

export function kinds(...names: readonly string[]): JsonObject {
  return { any: [{ resources: { kinds: [...names] } }] };
}

/** A ClusterPolicy, or a Policy if a namespace is given. Throws if it is invalid. */
export function policy(
  name: string,
  rules: readonly JsonObject[],
  more: {
    spec?: JsonObject | undefined;
    annotations?: JsonObject | undefined;
    namespace?: string | undefined;
  } = {},
): CompiledPolicy {
  const metadata: Record<string, Json> = {
    name,
    annotations: { 'pod-policies.kyverno.io/autogen-controllers': 'none', ...more.annotations },
  };
  if (more.namespace !== undefined) metadata['namespace'] = more.namespace;
  const kind = more.namespace === undefined ? 'ClusterPolicy' : 'Policy';
  const document: JsonObject = {
    apiVersion: 'kyverno.io/v1',
    kind,
    metadata,
    spec: { background: false, rules: [...rules], ...more.spec },
  };
  const { policy: compiled, problems } = compilePolicy(document, { file: 'test' });
  if (compiled === undefined) throw new Error(problems.map(({ message }) => message).join('\n'));
  return compiled;
}

/** A MutatingPolicy that labels ConfigMaps, or a NamespacedMutatingPolicy if the metadata has a namespace. */
export function mutatingPolicyDocument(
  name: string,
  spec: JsonObject = {},
  metadata: JsonObject = {},
): JsonObject {
  return {
    apiVersion: 'policies.kyverno.io/v1',
    kind: Object.hasOwn(metadata, 'namespace') ? 'NamespacedMutatingPolicy' : 'MutatingPolicy',
    metadata: { name, ...metadata },
    spec: {
      matchConstraints: {
        resourceRules: [
          {
            apiGroups: [''],
            apiVersions: ['v1'],
            operations: ['CREATE', 'UPDATE'],
            resources: ['configmaps'],
          },
        ],
      },
      mutations: [
        {
          patchType: 'ApplyConfiguration',
          applyConfiguration: { expression: 'Object{metadata: Object.metadata{labels: {"a": "b"}}}' },
        },
      ],
      ...spec,
    },
  };
}
