import { describe, expect, it } from 'vitest';
import type { Scope } from '../expression/scope.ts';
import type { JsonObject } from '../json/value.ts';
import { loadDocuments } from './load.ts';

const scope: Scope = {
  lookup: () => undefined,
  snapshot: () => ({}),
  environment: { now: () => new Date(0), random: () => 0 },
};

function load(text: string) {
  const { policies, problems } = loadDocuments([{ file: 'p.yaml', text }]);
  expect(problems).toEqual([]);
  const rule = policies[0]?.rules[0];
  if (policies[0] === undefined || rule?.mutation.type !== 'patch') throw new Error('no rule with a patch');
  const { patch } = rule.mutation;
  const apply = (object: JsonObject): JsonObject => {
    const result = patch.apply(object, scope);
    return result.status === 'patched' ? result.object : object;
  };
  return { policy: policies[0], rule, apply };
}

describe('A1: a list added at an index with a trailing slash', () => {
  const { policy, rule, apply } = load(`apiVersion : kyverno.io/v1alpha1
kind : Policy
metadata :
  name : add-sidecar
spec :
  rules:
    - name: "Sidecars for *shop* deployments"
      resource:
        kind: Deployment
        name: "*shop*"
      mutate:
        patches:
        - path: "/spec/template/spec/containers/0/"
          op: add
          value:
            - {image: proxy, ports: [{containerPort: 443}]}
            - {image: logger}
`);

  it('inserts its items there, in their order', () => {
    const deployment = (...containers: JsonObject[]) => ({ spec: { template: { spec: { containers } } } });
    expect(apply(deployment({ image: 'app' }))).toEqual(
      deployment({ image: 'proxy', ports: [{ containerPort: 443 }] }, { image: 'logger' }, { image: 'app' }),
    );
  });

  it('is for names that match, all over the cluster', () => {
    expect(policy).toMatchObject({ kind: 'ClusterPolicy', key: 'add-sidecar' });
    expect(policy.namespace).toBeUndefined();
    const block = rule.match.any?.[0];
    expect(block?.kinds?.[0]?.kind.matches('Deployment')).toBe(true);
    expect(['my-shop-app', 'bakery'].map((name) => block?.names?.[0]?.matches(name))).toEqual([true, false]);
  });
});

it('A2: remove of what is not there is no error', () => {
  const { apply } = load(`apiVersion: kyverno.io/v1alpha1
kind: Policy
metadata: {name: p}
spec: {rules: [{name: r, resource: {kind: Secret}, mutate: {patches: [{path: /metadata/labels/stage, op: remove}]}}]}
`);
  const withLabel = { metadata: { labels: { stage: 'x', other: 'y' } } };
  expect(apply(withLabel)).toEqual({ metadata: { labels: { other: 'y' } } });
  for (const object of [{ metadata: { labels: { other: 'y' } } }, { metadata: {} }])
    expect(apply(object)).toBe(object);
});

it('A3: an overlay sets or adds', () => {
  const { rule, apply } = load(`apiVersion: kyverno.io/v1alpha1
kind: Policy
metadata: {name: p}
spec:
  rules:
  - name: r
    resource: {kind: ResourceQuota, selector: {matchLabels: {size: small}}}
    mutate: {overlay: {spec: {hard: {limits.memory: 1Gi}}}}
`);
  expect(apply({ spec: { hard: { 'limits.memory': '9Gi', pods: 3 } } })).toEqual({
    spec: { hard: { 'limits.memory': '1Gi', pods: 3 } },
  });
  expect(apply({ spec: {} })).toEqual({ spec: { hard: { 'limits.memory': '1Gi' } } });
  const selector = rule.match.any?.[0]?.selector;
  expect([selector?.matches({ size: 'small' }), selector?.matches({ size: 'big' })]).toEqual([true, false]);
});

it('A4: an item is added to each inner list, once', () => {
  const { rule, apply } = load(`apiVersion: policy.nirmata.io/v1alpha1
kind: Policy
metadata: {name: p}
spec:
  rules:
  - resource: {kind : Endpoints}
    mutate: {overlay: {subsets: [{addresses: [{ip: 10.0.0.9}]}]}}
`);
  expect(rule.name).toBe('rule-0');
  const endpoints = {
    subsets: [{ addresses: [{ ip: '10.0.0.1' }], ports: [{ port: 1 }] }, { addresses: [] }],
  };
  const once = apply(endpoints);
  const addresses = (once.subsets as { addresses: { ip: string }[] }[]).map((subset) =>
    subset.addresses.map(({ ip }) => ip).toSorted(),
  );
  expect(addresses).toEqual([['10.0.0.1', '10.0.0.9'], ['10.0.0.9']]);
  expect(apply(once)).toBe(once);
});

it('A5: anchors select items; ? is one character', () => {
  const { apply } = load(`apiVersion: policy.nirmata.io/v1alpha1
kind: Policy
metadata: {name: p}
spec:
  rules:
  - resource: {kind: Endpoints}
    mutate: {overlay: {subsets: [{ports: [{(name): "tls?*", port: 8443}]}]}}
`);
  const ports = (...numbers: number[]) => ({
    subsets: [
      { ports: ['tls-1', 'http', 'tls', 'tlsx'].map((name, index) => ({ name, port: numbers[index] ?? 0 })) },
    ],
  });
  expect(apply(ports(1, 2, 3, 4))).toEqual(ports(8443, 2, 3, 8443));
});

describe('A6 and the rest of the dialect', () => {
  it('a namespace makes it a Policy of that namespace', () => {
    const { policy } = load(
      `apiVersion: kyverno.io/v1alpha1
kind: Policy
metadata: {name: p, namespace: team}
spec: {rules: [{resource: {kinds: [Secret], namespace: "*"}, mutate: {overlay: {data: {a: b}}}}]}
`.replace(', namespace: "*"', ''),
    );
    expect(policy).toMatchObject({ kind: 'Policy', key: 'team/p', namespace: 'team' });
  });

  it('with the fields of today, v1alpha1 is read as today', () => {
    const { policy } = load(`apiVersion: kyverno.io/v1alpha1
kind: ClusterPolicy
metadata: {name: p}
spec: {rules: [{name: r, match: {any: [{resources: {kinds: [Secret]}}]}, mutate: {patchStrategicMerge: {data: {a: b}}}}]}
`);
    expect(policy.rules).toHaveLength(1);
  });

  it('is not carried over to controllers', () => {
    const { policy } = load(`apiVersion: kyverno.io/v1alpha1
kind: Policy
metadata: {name: p}
spec: {rules: [{resource: {kind: Pod}, mutate: {overlay: {metadata: {labels: {a: b}}}}}]}
`);
    expect(policy.rules.map(({ name }) => name)).toEqual(['rule-0']);
  });

  it.each([
    [
      'resource: {kind: Pod}, mutate: {overlay: {a: 1}, patches: [{op: remove, path: /a}]}',
      'KYM_MUTATE_FORM /spec/rules/0/mutate',
    ],
    ['resource: {name: a}, mutate: {overlay: {a: 1}}', 'KYM_MATCH_KIND /spec/rules/0/resource'],
    [
      'resource: {kind: Pod, name: "{{ x }}"}, mutate: {overlay: {a: 1}}',
      'KYM_VARIABLE_FORBIDDEN /spec/rules/0/resource/name',
    ],
    [
      'resource: {kind: Pod, labels: {}}, mutate: {overlay: {a: 1}}',
      'KYM_FIELD_UNKNOWN /spec/rules/0/resource/labels',
    ],
    [
      'resource: {kind: Pod}, mutate: {overlay: {kind: Service}}',
      'KYM_IDENTITY_WRITE /spec/rules/0/mutate/overlay/kind',
    ],
    [
      'resource: {kind: Pod}, mutate: {patches: [{op: copy, path: /a, from: /b}]}',
      'KYM_JSON_PATCH_INVALID /spec/rules/0/mutate/patches',
    ],
  ])('problems point to what was written: %s', (rule, expected) => {
    const { problems } = loadDocuments([
      {
        file: 'p',
        text: `apiVersion: kyverno.io/v1alpha1\nkind: Policy\nmetadata: {name: p}\nspec: {rules: [{${rule}}]}\n`,
      },
    ]);
    expect(problems.map(({ code, pointer }) => `${code} ${pointer}`)).toEqual([expected]);
  });
});
