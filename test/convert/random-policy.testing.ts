import { Random } from '../../src/convert/proof/random.ts';
import type { Json, JsonObject } from '../../src/json/value.ts';

const kinds = ['Pod', 'ConfigMap', 'Deployment', 'Service', 'Secret'];
const keys = ['app', 'env', 'team', 'tier', 'example.com/owner'];
const texts = ['a', 'dev', 'prod-1', 'true', '7', '', 'web:latest'];

/** A policy with features that convert exactly; the same seed gives the same policy. */
export function randomPolicy(seed: number): JsonObject {
  const random = new Random(seed * 7_919 + 13);
  const rules = Array.from({ length: 1 + random.below(2) }, (_, index) => randomRule(random, `r${index}`));
  return {
    apiVersion: 'kyverno.io/v1',
    kind: 'ClusterPolicy',
    metadata: {
      name: `random-${seed}`,
      ...(random.chance(0.7)
        ? { annotations: { 'pod-policies.kyverno.io/autogen-controllers': 'none' } }
        : {}),
    },
    spec: {
      ...(random.chance(0.2) ? { failurePolicy: 'Ignore' } : {}),
      background: false,
      rules,
    },
  };
}

function randomRule(random: Random, name: string): JsonObject {
  const chosen = pick(random, [
    ['Pod'],
    ['Pod'],
    ['Deployment'],
    ['ConfigMap'],
    [pick(random, kinds), 'Pod'],
  ]);
  const isPod = chosen.every((kind) => kind === 'Pod');
  return {
    name,
    match: randomMatch(random, chosen),
    ...(random.chance(0.25) ? { exclude: { any: [{ resources: randomClause(random) }] } } : {}),
    ...(random.chance(0.5) ? { preconditions: randomConditions(random, 'request.object') } : {}),
    mutate: randomMutation(random, isPod),
  };
}

function randomMatch(random: Random, chosen: readonly string[]): JsonObject {
  const resources = {
    kinds: [...new Set(chosen)],
    ...(random.chance(0.3)
      ? { operations: pick(random, [['CREATE'], ['UPDATE'], ['CREATE', 'UPDATE']]) }
      : {}),
    ...(random.chance(0.4) ? randomClause(random) : {}),
  };
  const subjects = random.chance(0.15)
    ? { subjects: [{ kind: pick(random, ['User', 'Group']), name: 'alice' }] }
    : {};
  return { [random.chance(0.8) ? 'any' : 'all']: [{ resources, ...subjects }] };
}

function randomClause(random: Random): JsonObject {
  return pick<JsonObject>(random, [
    { namespaces: [pick(random, ['default', 'team-*', '*-system', 'a?c'])] },
    { names: [pick(random, ['web', 'web-*', '*'])] },
    { selector: { matchLabels: { [pick(random, keys)]: pick(random, ['a', 'dev', 'true']) } } },
    {
      selector: {
        matchExpressions: [{ key: pick(random, keys), operator: pick(random, ['Exists', 'DoesNotExist']) }],
      },
    },
    {
      selector: {
        matchExpressions: [
          { key: pick(random, keys), operator: pick(random, ['In', 'NotIn']), values: ['a', 'dev'] },
        ],
      },
    },
    { namespaceSelector: { matchLabels: { env: 'prod' } } },
  ]);
}

function randomConditions(random: Random, root: string): JsonObject {
  const conditions = Array.from({ length: 1 + random.below(2) }, () => randomCondition(random, root));
  return { [random.chance(0.6) ? 'all' : 'any']: conditions };
}

function randomCondition(random: Random, root: string): JsonObject {
  const field = pick(random, [
    'metadata.name',
    `metadata.labels.${pick(random, ['app', 'env', 'team'])}`,
    'metadata.annotations.level',
  ]);
  const key = `{{ ${root}.${field} || ${pick(random, ["''", "'none'", "'dev'"])} }}`;
  return pick<JsonObject>(random, [
    { key, operator: pick(random, ['Equals', 'NotEquals']), value: pick(random, [...texts, 'web-*', '*a*']) },
    {
      key,
      operator: pick(random, ['AnyIn', 'AnyNotIn', 'AllIn', 'AllNotIn']),
      value: ['a', 'dev', 'prod-*'],
    },
    { key: '{{ request.operation }}', operator: pick(random, ['Equals', 'NotEquals']), value: 'CREATE' },
    {
      key: `{{ ${root}.metadata.annotations.level || '0' }}`,
      operator: pick(random, ['GreaterThan', 'LessThan', 'GreaterThanOrEquals', 'LessThanOrEquals']),
      value: pick<Json>(random, [5, '10']),
    },
  ]);
}

function randomMutation(random: Random, isPod: boolean): JsonObject {
  const forms: (() => JsonObject)[] = [
    () => ({ patchStrategicMerge: { metadata: randomMetadata(random) } }),
    () => ({ patchesJson6902: JSON.stringify(randomOperations(random)) }),
  ];
  if (isPod) {
    forms.push(
      () => ({ patchStrategicMerge: { metadata: randomMetadata(random), spec: randomPodSpec(random) } }),
      () => ({ patchStrategicMerge: { spec: randomPodSpec(random) } }),
      () => ({ foreach: [randomLoop(random)] }),
    );
  }
  return pick(random, forms)();
}

function randomMetadata(random: Random): JsonObject {
  const entries = Array.from({ length: 1 + random.below(3) }, (): [string, Json] => {
    const key = pick(random, keys);
    return [random.chance(0.4) ? `+(${key})` : key, randomText(random)];
  });
  const distinct = new Map(
    entries.map(([key, value]) => [key.replace(/^\+\((.*)\)$/, '$1'), [key, value]] as const),
  );
  return { [pick(random, ['labels', 'annotations'])]: Object.fromEntries(distinct.values()) };
}

function randomText(random: Random): string {
  if (random.chance(0.7)) return pick(random, ['a', 'dev', 'x y', "it's"]);
  return pick(random, [
    '{{ request.object.metadata.name }}',
    'n-{{ request.object.metadata.name }}',
    '{{ request.namespace }}',
  ]);
}

function randomPodSpec(random: Random): JsonObject {
  const container: JsonObject = pick<JsonObject>(random, [
    { '(image)': pick(random, ['*:latest', 'nginx*', '*']), imagePullPolicy: 'Always' },
    { '(name)': '*', '+(imagePullPolicy)': 'IfNotPresent' },
    {
      '(name)': pick(random, ['app*', '*']),
      securityContext: { '+(privileged)': false, runAsNonRoot: true },
    },
    { name: 'sidecar', image: 'sidecar:1' },
  ]);
  return pick<JsonObject>(random, [
    { containers: [container] },
    { '+(priorityClassName)': 'low', hostNetwork: false },
    { securityContext: { '+(runAsUser)': 1000, runAsNonRoot: true } },
    { '(hostNetwork)': true, dnsPolicy: 'ClusterFirstWithHostNet' },
    { '+(nodeSelector)': { pool: 'general' } },
    { nodeSelector: { pool: 'general' }, containers: [container] },
    { schedulerName: null },
  ]);
}

function randomOperations(random: Random): Json {
  const first = {
    op: 'add',
    path: `/metadata/labels/${pick(random, ['app', 'env'])}`,
    value: pick(random, ['a', 'dev']),
  };
  if (random.chance(0.4)) return [first];
  const second = pick<JsonObject>(random, [
    { op: 'add', path: '/metadata/annotations/example.com~1owner', value: 'x' },
    { op: 'replace', path: '/metadata/labels/app', value: 'b' },
    { op: 'remove', path: '/metadata/labels/env' },
    { op: 'test', path: '/metadata/labels/team', value: 'a' },
  ]);
  return random.chance(0.5) ? [first, second] : [second, first];
}

function randomLoop(random: Random): JsonObject {
  const patch = random.chance(0.5)
    ? {
        patchesJson6902:
          '- {op: add, path: "/spec/containers/{{elementIndex}}/imagePullPolicy", value: Always}',
      }
    : {
        patchStrategicMerge: {
          spec: {
            containers: [{ name: '{{ element.name }}', imagePullPolicy: pick(random, ['Always', 'Never']) }],
          },
        },
      };
  const conditions = [
    { key: '{{ element.image }}', operator: pick(random, ['Equals', 'NotEquals']), value: '*:latest' },
  ];
  return {
    list: 'request.object.spec.containers',
    ...(random.chance(0.5) ? { preconditions: { all: conditions } } : {}),
    ...patch,
  };
}

function pick<Item>(random: Random, items: readonly Item[]): Item {
  return items[random.below(items.length)] as Item;
}
