import type { JsonObject } from '../src/json/value.ts';

/** A valid Pod; `parts` are merged over its top-level fields. */
export function pod(name: string, parts: { labels?: JsonObject; spec?: JsonObject } = {}): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, ...(parts.labels ? { labels: parts.labels } : {}) },
    spec: { containers: [{ name: 'main', image: 'example.test/app:1.0' }], ...parts.spec },
  };
}

export function deployment(name: string, podSpec: JsonObject = {}): JsonObject {
  const labels = { app: name };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: 'main', image: 'example.test/app:latest' }], ...podSpec },
      },
    },
  };
}

export function configMap(name: string, data: JsonObject = {}, labels?: JsonObject): JsonObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...(labels ? { labels } : {}) }, data };
}

/** A policy with one rule of the same name that merges `patch` into objects of one kind. */
export function mergePolicy(
  name: string,
  kind: string,
  patch: JsonObject,
  parts: PolicyParts = {},
): JsonObject {
  const { spec = {}, resources = {}, match = {}, rule = {}, annotations, exclude } = parts;
  return {
    apiVersion: 'kyverno.io/v1',
    kind: 'ClusterPolicy',
    metadata: { name, ...(annotations ? { annotations } : {}) },
    spec: {
      ...spec,
      rules: [
        {
          name,
          match: { any: [{ resources: { kinds: [kind], ...resources }, ...match }] },
          ...(exclude ? { exclude } : {}),
          mutate: { patchStrategicMerge: patch },
          ...rule,
        },
      ],
    },
  };
}

export interface PolicyParts {
  readonly spec?: JsonObject;
  /** Further fields of the match block's resources. */
  readonly resources?: JsonObject;
  /** Further fields of the match block: subjects, roles. */
  readonly match?: JsonObject;
  readonly exclude?: JsonObject;
  readonly rule?: JsonObject;
  readonly annotations?: JsonObject;
}

export function labelPolicy(
  name: string,
  kind: string,
  labels: JsonObject,
  parts: PolicyParts = {},
): JsonObject {
  return mergePolicy(name, kind, { metadata: { labels } }, parts);
}
