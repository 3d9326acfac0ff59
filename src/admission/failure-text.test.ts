import { describe, expect, it } from 'vitest';
import type { DataSource } from '../engine/context/data-source.ts';
import { mutate, mutateSync } from '../engine/mutate.ts';
import { loadDocuments } from '../policy/load.ts';
import { createSnapshot } from '../policy/registry/registry.ts';
import { failureText } from './failure-text.ts';
import { requestFor } from './resource-request.ts';

const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', annotations: { token: 's3cret' } },
  spec: { containers: [{ name: 'main', image: 'a:1' }] },
};

function failureOf(rule: string): string {
  const text = `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: p}
spec:
  background: false
  rules:
  - name: r
    match: {any: [{resources: {kinds: [Pod]}}]}
    ${rule.trim().replaceAll('\n', '\n    ')}
`;
  const { policies, problems } = loadDocuments([{ file: 'p.yaml', text }]);
  if (policies.length === 0) throw new Error(JSON.stringify(problems));
  const [outcome] = mutateSync(requestFor(pod), createSnapshot(policies, [])).outcomes;
  if (outcome?.status !== 'failed') throw new Error(`it is ${outcome?.status}`);
  return failureText(outcome);
}

describe('a failure names its place', () => {
  it.each([
    [
      'a variable in a merge',
      'mutate: {patchStrategicMerge: {metadata: {labels: {x: "{{ request.object.spec.absent }}"}}}}',
      'rule /mutate/patchStrategicMerge/metadata/labels/x',
    ],
    [
      'a key of a merge',
      'mutate: {patchStrategicMerge: {metadata: {labels: {"{{ request.object.absent }}": "1"}}}}',
      'rule /mutate/patchStrategicMerge/metadata/labels/{{ request.object.absent }}',
    ],
    [
      'a merge that does not fit the object',
      'mutate: {patchStrategicMerge: {spec: {containers: {name: x}}}}',
      'rule /mutate/patchStrategicMerge, object /spec/containers',
    ],
    [
      'an operation of a patch',
      `mutate:
  patchesJson6902: |-
    - {op: add, path: /metadata/labels/a, value: "1"}
    - {op: replace, path: /spec/absent/0, value: 1}`,
      'rule /mutate/patchesJson6902/1, object /spec/absent/0',
    ],
    [
      'a precondition',
      'preconditions: {all: [{key: "{{ request.object.absent }}", operator: Equals, value: a}]}\nmutate: {patchStrategicMerge: {spec: {a: b}}}',
      'rule /preconditions/all/0/key',
    ],
    [
      'a context entry, wherever it is read',
      'context: [{name: one, variable: {value: 1}}, {name: map, configMap: {name: a, namespace: b}}]\nmutate: {patchStrategicMerge: {metadata: {labels: {x: "{{ map.data.k }}"}}}}',
      'rule /context/1',
    ],
    [
      'the list of a loop',
      'mutate: {foreach: [{list: "parse_json(request.object.metadata.name)", patchStrategicMerge: {a: b}}]}',
      'rule /mutate/foreach/0/list',
    ],
    [
      'a patch in a loop in a loop',
      'mutate: {foreach: [{list: "request.object.spec.containers", foreach: [{list: "`[{\\"a\\": 1}]`", patchStrategicMerge: {metadata: {labels: {x: "{{ element.absent }}"}}}}]}]}',
      'rule /mutate/foreach/0/foreach/0/patchStrategicMerge/metadata/labels/x',
    ],
    [
      'a replacement',
      'mutate: {replacements: [{sourceValue: x, targets: [{select: {kind: Pod}, fieldPaths: [spec.absent.field]}]}]}',
      'rule /mutate/replacements/0',
    ],
  ])('%s', (_, rule, place) => {
    expect(failureOf(rule)).toContain(`(${place}`);
  });

  it('and why a context entry could not be read, without the values of its query', async () => {
    const text = `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: p}
spec:
  background: false
  rules:
  - name: r
    match: {any: [{resources: {kinds: [Pod]}}]}
    context: [{name: call, apiCall: {urlPath: "/api/{{ request.object.metadata.annotations.token }}"}}]
    mutate: {patchStrategicMerge: {metadata: {labels: {a: "{{ call }}"}}}}
`;
    const { policies } = loadDocuments([{ file: 'p.yaml', text }]);
    const reason = 'the API server answered 403 Forbidden';
    const dataSource: DataSource = {
      read: () => ({ found: false, error: 'GET /api/s3cret answered 403: pods is forbidden', reason }),
    };
    const environment = { now: () => new Date(0), random: () => 0 };
    const { outcomes } = await mutate(requestFor(pod), createSnapshot(policies, []), {
      dataSource,
      environment,
    });
    const [outcome] = outcomes;
    if (outcome?.status !== 'failed') throw new Error(`it is ${outcome?.status}`);
    expect(failureText(outcome)).toContain(`context entry "call": ${reason} (rule /context/0)`);
    expect(failureText(outcome)).not.toContain('s3cret');
    expect(outcome.message).toContain('pods is forbidden');
  });

  it('and the context entry that could not be read', () => {
    const rule =
      'context: [{name: map, configMap: {name: a, namespace: b}}]\nmutate: {patchStrategicMerge: {metadata: {labels: {x: "{{ map.data.k }}"}}}}';
    expect(failureOf(rule)).toMatch(/: context entry "map" \(rule \/context\/0\)/);
  });

  it.each([
    [
      'mutate: {patchStrategicMerge: {metadata: {labels: {x: "{{ request.object.spec.absent }}"}}}}',
      'variable substitution failed: failed to resolve request.object.spec.absent: Unknown key "absent" in path (rule /mutate/patchStrategicMerge/metadata/labels/x) [KYM_VARIABLE_UNRESOLVED]',
    ],
    [
      `mutate: {patchStrategicMerge: {metadata: {labels: {x: "{{ divide('1', request.object.metadata.\\"name\\") }}"}}}}`,
      `variable substitution failed: failed to resolve divide('1', request.object.metadata."name"): An expression could not be evaluated`,
    ],
    [
      'mutate: {foreach: [{list: "parse_json(request.object.metadata.name)", patchStrategicMerge: {a: b}}]}',
      'failed to mutate elements: failed to evaluate list parse_json(request.object.metadata.name): ',
    ],
    [
      'context: [{name: map, variable: {jmesPath: "sum(request.object.metadata.name)"}}]\nmutate: {patchStrategicMerge: {metadata: {labels: {x: "{{ map }}"}}}}',
      'failed to patch resource: failed to resolve map: failed to resolve sum(request.object.metadata.name): context entry "map" (rule /context/0',
    ],
  ])('and the expression, as the command line does: %s', (rule, text) => {
    expect(failureOf(rule).slice(0, text.length)).toBe(text);
  });

  it('but no value', () => {
    const rule = `mutate:
  foreach:
  - list: "[request.object.metadata.annotations.token]"
    patchesJson6902: |-
      - {op: replace, path: "/spec/{{ element }}/x", value: 1}`;
    expect(failureOf(rule)).toContain('(rule /mutate/foreach/0/patchesJson6902/0, object /spec/…/x)');
  });
});
