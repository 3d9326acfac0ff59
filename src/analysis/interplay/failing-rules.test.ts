import { describe, expect, it } from 'vitest';
import { loadDocuments } from '../../policy/load.ts';
import { type Parts, policy } from '../../policy/policy.testing.ts';
import { failingRuleProblems } from './failing-rules.ts';

function problems(parts: Parts, text = policy(parts)): string[] {
  const { policies, problems } = loadDocuments([{ file: 'p.yaml', text }]);
  expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  return policies.flatMap((each) =>
    failingRuleProblems(each, { file: 'p.yaml' }).map(
      ({ rule, message, hint }) => `${rule}: ${message}. ${hint}`,
    ),
  );
}

const label = (value: string) => `patchStrategicMerge: {metadata: {labels: {a: '${value}'}}}`;
const kinds = (...names: string[]) => `any: [{resources: {kinds: [${names.join(', ')}]}}]`;
const pods = kinds('Pod');
const autogen =
  'Disable autogen with the annotation pod-policies.kyverno.io/autogen-controllers: none, or give a default.';

describe('rules that fail on every object of a kind', () => {
  it('a rule for Pods that reads their name: it is absent in templates', () => {
    expect(problems({ match: pods, mutate: label('{{ request.object.metadata.name }}') })).toEqual([
      `r: the generated rule autogen-r fails on every DaemonSet, Deployment, Job, ReplicaSet, ReplicationController, StatefulSet: {{ request.object.spec.template.metadata.name }} does not exist there. ${autogen}`,
      `r: the generated rule autogen-cronjob-r fails on every CronJob: {{ request.object.spec.jobTemplate.spec.template.metadata.name }} does not exist there. ${autogen}`,
    ]);
  });

  it('a field that one of the kinds does not have', () => {
    expect(
      problems({
        match: kinds('Pod', 'Service'),
        mutate: label('{{ request.object.spec.serviceAccountName }}'),
      }),
    ).toEqual([
      "r: the rule fails on every Service: {{ request.object.spec.serviceAccountName }} does not exist there. Match other kinds, or give a default: {{ request.object.spec.serviceAccountName || '' }}.",
    ]);
  });

  it('a misspelled field', () => {
    expect(problems({ mutate: label('{{ request.object.metadata.nam }}') })).toEqual([
      expect.stringContaining(
        'fails on every ConfigMap: {{ request.object.metadata.nam }} does not exist there',
      ),
    ]);
  });

  it.each<[string, Parts]>([
    ['a field that may exist', { match: pods, mutate: label('{{ request.object.spec.nodeName }}') }],
    ['a label', { match: pods, mutate: label('{{ request.object.metadata.labels.app }}') }],
    ['a quoted label', { match: pods, mutate: label('{{ request.object.metadata.labels."app-name" }}') }],
    [
      'a quoted annotation in a JSON patch',
      {
        mutate: `patchesJson6902: |-\n        - {op: add, path: /data/a, value: '{{ request.object.metadata.annotations."a/b" }}'}`,
      },
    ],
    ['a default', { match: pods, mutate: label('{{ request.object.metadata.name || `""` }}') }],
    ['the name in the request', { match: pods, mutate: label('{{ request.name }}') }],
    ['the requester', { mutate: label('{{ request.userInfo.username }}') }],
    ['a custom resource', { match: kinds('Box'), mutate: label('{{ request.object.spec.size }}') }],
    [
      'a precondition that excludes these objects',
      {
        match: pods,
        rule: 'preconditions: {all: [{key: "{{ request.object.kind }}", operator: Equals, value: Pod}]}',
        mutate: label('{{ request.object.metadata.name }}'),
      },
    ],
    [
      'autogen is disabled',
      {
        match: pods,
        metadata: 'annotations: {pod-policies.kyverno.io/autogen-controllers: none}',
        mutate: label('{{ request.object.metadata.name }}'),
      },
    ],
    [
      'a context entry of the cluster',
      {
        rule: 'context: [{name: cm, configMap: {name: a, namespace: b}}]',
        mutate: label('{{ cm.data.x }}'),
      },
    ],
    [
      'its own value',
      { match: pods, mutate: `patchStrategicMerge: {metadata: {labels: {a: "{{ to_upper('{{@}}') }}"}}}` },
    ],
  ])('no warning: %s', (_, parts) => {
    expect(problems(parts)).toEqual([]);
  });

  it('an expensive rule is not tried to its end', () => {
    const many = Array.from({ length: 5_000 }, (_, index) => index).join(',');
    const list = `\`[${many}]\`[].to_string(@)`;
    const loop = `foreach: [{list: ${JSON.stringify(list)}, patchStrategicMerge: {data: {a: "{{ request.object.data.none }}"}}}]`;
    expect(problems({ mutate: loop })).toEqual([]);
  });
});
