import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import type { JsonObject } from '../../json/value.ts';
import type { CompiledPolicy } from '../../policy/compiled.ts';
import { refOf, refTitle, stringLabelsOf } from '../object-identity.ts';
import { evaluation, object, policyWith, requestOf, trigger } from '../policy.testing.ts';
import { type ObjectReader, StoreError } from '../ports.ts';
import { createMemoryStore } from '../store/memory-store.ts';
import { mutateTarget, mutateTargets, type TargetRun } from './mutate-existing.ts';

const label = 'patchStrategicMerge: {metadata: {labels: {a: b}}}';
const rule = (targets: string, patch = label) => `mutate: {targets: [${targets}], ${patch}}`;

function runOf(policy: CompiledPolicy, reader: ObjectReader, request = requestOf(trigger)): TargetRun {
  const [found] = policy.rules;
  if (found === undefined) throw new Error('no rule');
  return { policy, rule: found, request, reader, ...evaluation };
}

const objects = [
  object('Secret', 'ns/one'),
  object('Secret', 'ns/two', { metadata: { labels: { pick: 'yes' } } }),
  object('Secret', 'other/one'),
  object('ConfigMap', 'ns/one', { data: { key: 'x' } }),
  object('Namespace', 'ns'),
  object('Deployment', 'ns/web', { apiVersion: 'apps/v1', spec: { replicas: 2, paused: false } }),
];

async function outcomes(text: string, kind = 'ClusterPolicy'): Promise<string[]> {
  const results = await mutateTargets(runOf(policyWith(text, '{}', kind), createMemoryStore(objects)));
  return results.map(({ ref, outcome }) =>
    outcome.status === 'failed' ? `failed ${outcome.failure.code}` : `${outcome.status} ${refTitle(ref)}`,
  );
}

describe('targets are selected', () => {
  const secrets = 'apiVersion: v1, kind: Secret';
  test.each([
    [
      'all of a kind',
      `{${secrets}}`,
      ['applied Secret ns/one', 'applied Secret ns/two', 'applied Secret other/one'],
    ],
    ['by namespace', `{${secrets}, namespace: ns}`, ['applied Secret ns/one', 'applied Secret ns/two']],
    ['by name', `{${secrets}, name: one}`, ['applied Secret ns/one', 'applied Secret other/one']],
    ['by both', `{${secrets}, namespace: ns, name: one}`, ['applied Secret ns/one']],
    ['with wildcards', `{${secrets}, namespace: "?s", name: "t*"}`, ['applied Secret ns/two']],
    ['by labels', `{${secrets}, selector: {matchLabels: {pick: "yes"}}}`, ['applied Secret ns/two']],
    [
      'by label expressions',
      `{${secrets}, selector: {matchExpressions: [{key: pick, operator: DoesNotExist}]}}`,
      ['applied Secret ns/one', 'applied Secret other/one'],
    ],
    [
      'with variables of the trigger',
      `{apiVersion: v1, kind: Secret, namespace: "{{ request.namespace }}", name: "{{ request.object.data.k || 'one' }}o*"}`,
      [],
    ],
    ['of no namespace', '{apiVersion: v1, kind: Namespace, name: ns}', ['applied Namespace ns']],
    ['of kinds with wildcards', '{apiVersion: "*", kind: "*Map"}', ['applied ConfigMap ns/one']],
    [
      'of a version that another group has',
      '{apiVersion: v1, kind: Deployment}',
      ['applied Deployment ns/web'],
    ],
    ['without a version', '{kind: Deployment}', ['applied Deployment ns/web']],
    [
      'twice, and changed once',
      `{${secrets}, name: two}, {${secrets}, namespace: ns, name: "t*"}`,
      ['applied Secret ns/two'],
    ],
    ['that are not there', `{${secrets}, namespace: ns, name: none}`, ['failed KYM_TARGET_NOT_FOUND']],
    ['that are not there, with a wildcard', `{${secrets}, namespace: ns, name: none*}`, []],
    ['by what is no text', `{${secrets}, name: "{{ request.object.data }}"}`, ['failed KYM_TARGET_SELECTOR']],
    [
      'by what cannot be resolved, others all the same',
      `{${secrets}, name: "{{ request.object.none }}"}, {${secrets}, name: two}`,
      ['failed KYM_VARIABLE_UNRESOLVED', 'applied Secret ns/two'],
    ],
    [
      'by preconditions of their own',
      `{${secrets}, namespace: ns, preconditions: {all: [{key: "{{ target.metadata.name }}", operator: Equals, value: t*}]}}`,
      ['skipped Secret ns/one', 'applied Secret ns/two'],
    ],
  ])('%s', async (_, target, expected) => {
    expect(await outcomes(rule(target))).toEqual(expected);
  });

  it('a namespaced Policy stays in its namespace', async () => {
    const everywhere = rule(
      '{apiVersion: v1, kind: Secret, namespace: "{{ request.object.data.k }}", name: one}',
    );
    expect(await outcomes(everywhere, 'Policy')).toEqual(['failed KYM_NAMESPACE_BOUNDARY']);
    const own = rule('{apiVersion: v1, kind: Secret, namespace: "{{ request.namespace }}", name: one}');
    expect(await outcomes(own, 'Policy')).toEqual(['applied Secret ns/one']);
  });

  it('reads a list once for all targets that need it', async () => {
    const store = createMemoryStore(objects);
    let lists = 0;
    const reader: ObjectReader = {
      ...store,
      list(query) {
        lists++;
        return store.list(query);
      },
    };
    const twice = rule('{apiVersion: v1, kind: Secret}, {apiVersion: v1, kind: Secret, name: t*}');
    await mutateTargets(runOf(policyWith(twice), reader));
    expect(lists).toBe(1);
  });

  it('says why a read failed', async () => {
    const store = createMemoryStore(objects);
    const reader: ObjectReader = {
      ...store,
      list: () => Promise.reject(new StoreError('forbidden', 'secrets is forbidden')),
    };
    const [result] = await mutateTargets(runOf(policyWith(rule('{apiVersion: v1, kind: Secret}')), reader));
    expect(result?.storeError?.reason).toBe('forbidden');
    expect(result?.outcome.message).toContain('secrets is forbidden');
  });
});

describe('targets are patched', () => {
  async function patched(text: string): Promise<readonly (JsonObject | undefined)[]> {
    const results = await mutateTargets(runOf(policyWith(text), createMemoryStore(objects)));
    return results.map(({ after }) => after);
  }
  const map = '{apiVersion: v1, kind: ConfigMap, namespace: ns, name: one}';

  it('with the trigger, the target and {{@}} as variables', async () => {
    const patch =
      'patchStrategicMerge: {data: {key: "{{ request.object.data.k }}-{{ @ }}-{{ target.metadata.name }}"}}';
    expect(await patched(rule(map, patch))).toMatchObject([{ data: { key: 'v-x-one' } }]);
  });

  it('by operations, with context of the rule and of the target', async () => {
    const inner = `{apiVersion: v1, kind: ConfigMap, name: one, context: [{name: own, variable: {jmesPath: target.data.key}}]}`;
    const patch = 'patchesJson6902: "- {op: add, path: /data/new, value: \'{{ outer }}{{ own }}\'}"';
    const text = `context: [{name: outer, variable: {value: "{{ request.name }}"}}], ${rule(inner, patch)}`;
    expect(await patched(text)).toMatchObject([{ data: { new: 'triggerx' } }]);
  });

  it('in loops, over the trigger and over the target as it is by then', async () => {
    const loop =
      'foreach: [{list: "[`1`, `2`]", patchesJson6902: "- {op: add, path: /data/n{{ element }}, value: \'{{ element }}\'}"}, {list: "keys(target.data)", patchesJson6902: "- {op: add, path: /data/seen-{{ element }}, value: yes}"}]';
    const [after] = await patched(rule(map, loop));
    expect(Object.keys(after?.['data'] as JsonObject)).toEqual([
      'key',
      'n1',
      'n2',
      'seen-key',
      'seen-n1',
      'seen-n2',
    ]);
  });

  it('through a subresource', async () => {
    const scale = rule(
      '{apiVersion: apps/v1, kind: Deployment/scale, namespace: ns, name: w*}',
      'patchStrategicMerge: {spec: {replicas: 5}}',
    );
    const [result] = await mutateTargets(runOf(policyWith(scale), createMemoryStore(objects)));
    expect(result?.ref).toMatchObject({ kind: 'Deployment', name: 'web', subresource: 'scale' });
    expect(result?.after).toMatchObject({ kind: 'Scale', spec: { replicas: 5 } });
  });

  it('not when nothing changes', async () => {
    const same = rule(map, 'patchStrategicMerge: {data: {key: x}}');
    const [result] = await mutateTargets(runOf(policyWith(same), createMemoryStore(objects)));
    expect(result?.outcome.status).toBe('unchanged');
    expect(result?.after).toBe(result?.before);
  });

  it('not to become another object', async () => {
    const other = rule(map, 'patchStrategicMerge: {metadata: {name: "{{ request.name }}"}}');
    const [result] = await mutateTargets(runOf(policyWith(other), createMemoryStore(objects)));
    expect(result?.outcome).toMatchObject({ status: 'failed', failure: { code: 'KYM_IDENTITY_CHANGED' } });
    expect(result?.after).toBe(result?.before);
  });

  it('again, after it was read again', async () => {
    const run = runOf(
      policyWith(rule(map, 'patchStrategicMerge: {data: {key: "{{ @ }}!"}}')),
      createMemoryStore(objects),
    );
    const [first] = await mutateTargets(run);
    if (first === undefined) throw new Error('no target');
    const fresh = object('ConfigMap', 'ns/one', { data: { key: 'y' } });
    const second = await mutateTarget(run, first.ref, fresh, first.selectedBy);
    expect(second.after).toMatchObject({ data: { key: 'y!' } });
  });
});

it('an idempotent rule that has run changes nothing when it runs again, whatever it selects', async () => {
  const names = fc.constantFrom('one', 'two', '*', 't*', '');
  const namespaces = fc.constantFrom('ns', 'other', '*', '');
  const labels = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('1', '2'), { maxKeys: 3 });
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(namespaces, names), { minLength: 1, maxLength: 3 }),
      labels,
      async (targets, set) => {
        const text = targets
          .map(([namespace, name]) => JSON.stringify({ apiVersion: 'v1', kind: 'Secret', namespace, name }))
          .join(', ');
        const policy = policyWith(
          rule(text, `patchStrategicMerge: {metadata: {labels: ${JSON.stringify(set)}}}`),
        );
        const store = createMemoryStore(objects);
        const first = await mutateTargets(runOf(policy, store));
        for (const { before, after, outcome } of first) {
          if (before !== undefined && after !== undefined && outcome.status === 'applied') {
            await store.update(before, after);
          }
        }
        for (const { after } of first) {
          if (after !== undefined) expect(stringLabelsOf(after)).toMatchObject(set);
        }
        const second = await mutateTargets(runOf(policy, store));
        expect(second.map(({ ref }) => ref)).toEqual(first.map(({ ref }) => ref));
        expect(second.every(({ outcome }) => outcome.status !== 'applied')).toBe(true);
        expect(
          new Set(first.flatMap(({ before }) => (before === undefined ? [] : [refOf(before)]))).size,
        ).toBe(first.filter(({ before }) => before !== undefined).length);
      },
    ),
    { numRuns: 60 },
  );
});
