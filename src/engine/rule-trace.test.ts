import { expect, test } from 'vitest';
import { requestFor } from '../admission/resource-request.ts';
import { explain, loadPolicies, mutate } from '../index.ts';

const policy = (rule: string) => {
  const set = loadPolicies({
    file: 'p.yaml',
    text: `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: p}
spec:
  rules:
  - name: r
    match: {any: [{resources: {kinds: [Pod]}}]}
${rule}`,
  });
  expect(set.problems).toEqual([]);
  return set;
};

const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'shop' },
  spec: {
    containers: [
      { name: 'a', image: 'a:latest' },
      { name: 'b', image: 'b:1', imagePullPolicy: 'Never' },
    ],
  },
};

test('an explanation holds the variables of a rule with what they yielded, each once', async () => {
  const set =
    policy(`    preconditions: {all: [{key: "{{ request.namespace }}", operator: Equals, value: shop}]}
    mutate:
      patchStrategicMerge:
        metadata:
          labels: {name: "{{ request.object.metadata.name }}", ns: "{{ request.namespace }}"}
`);
  const [outcome] = await explain(pod, set);
  expect(outcome?.trace?.variables).toEqual([
    { text: 'request.namespace', value: 'shop' },
    { text: 'request.object.metadata.name', value: 'web' },
  ]);
});

test('an explanation holds every anchor that was tried, with its place and whether it held', async () => {
  const set = policy(`    mutate:
      patchStrategicMerge:
        metadata:
          +(labels):
            +(team): none
        spec:
          containers:
          - (image): "*:latest"
            +(imagePullPolicy): Always
`);
  const [outcome] = await explain(pod, set);
  expect(outcome?.status).toBe('applied');
  expect(outcome?.trace?.anchors).toEqual([
    { anchor: '+(labels)', path: ['metadata', 'labels'], held: true },
    { anchor: '+(team)', path: ['metadata', 'labels', 'team'], held: true },
    { anchor: '(image)', path: ['spec', 'containers', 0, 'image'], held: true },
    { anchor: '+(imagePullPolicy)', path: ['spec', 'containers', 0, 'imagePullPolicy'], held: true },
    { anchor: '(image)', path: ['spec', 'containers', 1, 'image'], held: false },
  ]);
});

test('nothing is traced without explain', async () => {
  const set = policy('    mutate: {patchStrategicMerge: {metadata: {labels: {a: "{{ request.name }}"}}}}\n');
  const { outcomes } = await mutate(pod, set);
  expect(outcomes[0]?.trace).toBeUndefined();
});

test('values bound for one element of a loop win over the element and over context entries', async () => {
  const set = policy(`    mutate:
      foreach:
      - list: request.object.spec.containers
        context:
        - {name: registry, configMap: {name: registries, namespace: default}}
        patchStrategicMerge:
          metadata:
            annotations: {"{{ element.name }}": "{{ registry.data.host }} {{ element.image }}"}
`);
  const hosts = ['one', 'two'];
  const { object } = await mutate(pod, set, {
    elementBindings: (key, rule, index) =>
      key === 'p' && rule === 'r'
        ? { registry: { data: { host: hosts[index] ?? '' } }, element: { image: `image-${index}` } }
        : undefined,
  });
  expect(object?.['metadata']).toMatchObject({ annotations: { a: 'one image-0', b: 'two image-1' } });
  expect(requestFor(pod).elementBindings).toBeUndefined();
});
