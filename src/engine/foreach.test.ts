import { describe, expect, it } from 'vitest';
import { admissionLimits, Budget, generousLimits, spendInner, withBudget } from '../json/budget.ts';
import type { JsonObject } from '../json/value.ts';
import { loadDocuments } from '../policy/load.ts';
import { createSnapshot } from '../policy/registry/registry.ts';
import { type MutateOptions, mutateSync } from './mutate.ts';
import type { Request } from './request.ts';

function snapshotOf(foreach: string) {
  const text = `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: p}
spec:
  rules:
  - name: r
    match: {any: [{resources: {kinds: [Widget, Pod]}}]}
    mutate:
      foreach:
${foreach.replaceAll(/^/gm, '      ')}`;
  const { policies, problems } = loadDocuments([{ file: 'p.yaml', text }]);
  expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  return createSnapshot(policies);
}

function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(frozen);
  return value;
}

function widget(length: number): JsonObject {
  const items = Array.from({ length }, (_, index) => ({ name: `n${index}`, parts: [{ id: 'a' }], tags: {} }));
  const notes = Object.fromEntries(items.map(({ name }) => [name, 'old']));
  return frozen({
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: { name: 'w', namespace: 'shop', annotations: notes },
    spec: { items, results: [] },
  });
}

/** Containers have a merge key. */
function pod(length: number): JsonObject {
  const containers = Array.from({ length }, (_, index) => ({
    name: `n${index}`,
    image: 'a',
    env: [{ name: 'A', value: '1' }],
  }));
  return frozen({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'w', namespace: 'shop' },
    spec: { containers },
  });
}

function run(foreach: string, length: number, options: MutateOptions = {}) {
  const isPod = foreach.includes('containers');
  const object = isPod ? pod(length) : widget(length);
  const request: Request = {
    operation: 'CREATE',
    kind: isPod
      ? { group: '', version: 'v1', kind: 'Pod' }
      : { group: 'example.com', version: 'v1', kind: 'Widget' },
    subresource: '',
    name: 'w',
    namespace: 'shop',
    object,
    oldObject: null,
    variables: { operation: 'CREATE' },
  };
  return mutateSync(request, snapshotOf(foreach), options);
}

const loop = (...operations: readonly string[]) => `- list: request.object.spec.items
  patchesJson6902: |-
${operations.map((operation) => `    - ${operation}`).join('\n')}`;

const overlay = (list: string, patch: string) => `- list: request.object.spec.${list}
  patchStrategicMerge: ${patch}`;

const item = '/spec/items/{{ elementIndex }}';
const loops: Readonly<Record<string, string>> = {
  'replaces a member of each item': loop(`{op: replace, path: ${item}/name, value: "{{ element.name }}-x"}`),
  'adds to a list in each item': loop(`{op: add, path: ${item}/parts/-, value: {id: "{{ element.name }}"}}`),
  'changes each item twice': loop(
    `{op: add, path: ${item}/tags/a, value: "1"}`,
    `{op: add, path: ${item}/tags/b/c, value: "2"}`,
  ),
  'adds a result for each item': loop('{op: add, path: /spec/results/-, value: {{ element }} }'),
  'removes a member for each item': loop(`{op: remove, path: "/metadata/annotations/{{ element.name }}"}`),
  'removes the last item': loop(`{op: remove, path: /spec/items/-1}`),
  'moves a part of each item': loop(`{op: move, from: ${item}/parts, path: ${item}/moved}`),
  'changes nothing': loop(`{op: replace, path: ${item}/name, value: "{{ element.name }}"}`),
  'merges into each item by its key': overlay(
    'containers',
    '{spec: {containers: [{name: "{{ element.name }}", image: "{{ element.image }}-x", env: [{name: B, value: x}]}]}}',
  ),
  'merges into each item and the first one': overlay(
    'containers',
    '{spec: {containers: [{name: "{{ element.name }}", image: b}, {name: n0, tty: true}]}}',
  ),
  'merges an annotation for each item': overlay(
    'items',
    '{metadata: {annotations: {"{{ element.name }}": "{{ elementIndex }}", last: "{{ element.name }}"}}}',
  ),
  'merges nothing new': overlay(
    'containers',
    '{spec: {containers: [{name: "{{ element.name }}", image: a}]}}',
  ),
  'in a nested loop': `- list: request.object.spec.items
  foreach:
  - list: element.parts
    patchesJson6902: |-
      - {op: replace, path: "/spec/items/{{ elementIndex0 }}/parts/{{ elementIndex1 }}/id", value: "{{ element.id }}-x"}`,
};

/** Loops that share what they copied, or delete or move what they merge, so each element copies again. */
const sharing: Readonly<Record<string, string>> = {
  'merges where anchors hold': overlay(
    'containers',
    '{spec: {containers: [{(name): "{{ element.name }}", image: b, +(tty): true}]}}',
  ),
  'merges, adds and deletes by key': overlay(
    'containers',
    `{spec: {containers: [
    {name: "{{ element.name }}", image: b, env: [{name: A, $patch: delete}]},
    {name: "new-{{ element.name }}", image: c},
    {name: n1, $patch: delete},
    {name: n2, image: null, $retainKeys: [image]}]}}`,
  ),
  'merges an item that an earlier entry merged': `${overlay('containers', '{spec: {containers: [{name: "{{ element.name }}", image: b}]}}')}
${overlay('containers', '{spec: {containers: [{name: n0, env: "{{ element.env }}"}, {name: "{{ element.name }}", env: [{name: A, value: "{{ elementIndex }}"}]}]}}')}`,
  'copies what it changed before': loop(
    `{op: add, path: ${item}/tags/n, value: "{{ elementIndex }}"}`,
    `{op: copy, from: ${item}/tags, path: /spec/last}`,
    `{op: add, path: ${item}/tags/own, value: "x"}`,
    `{op: copy, from: ${item}/parts, path: ${item}/same}`,
    `{op: add, path: ${item}/same/-, value: {id: b}}`,
  ),
  'a later entry reads what an earlier one changed': `${loop(`{op: add, path: ${item}/parts/-, value: {id: b}}`)}
- list: request.object.spec.items
  patchesJson6902: |-
    - {op: add, path: ${item}/copy, value: {{ element.parts }} }
    - {op: add, path: ${item}/parts/-, value: {id: c}}
    - {op: add, path: ${item}/copy/-, value: {id: d}}`,
  'a later nested entry reads what an earlier one changed': `- list: request.object.spec.items
  foreach:
  - list: "[element]"
    patchesJson6902: |-
      - {op: add, path: "/spec/items/{{ elementIndex0 }}/parts/-", value: {id: b}}
  - list: "[element]"
    patchesJson6902: |-
      - {op: add, path: "/spec/all", value: {{ request.object.spec.items }} }
      - {op: add, path: "/spec/items/{{ elementIndex0 }}/parts/-", value: {id: c}}`,
};

function stepsFor(foreach: string, length: number): number {
  const budget = new Budget({ ...generousLimits, steps: Number.MAX_SAFE_INTEGER });
  withBudget(budget, () => spendInner(() => run(foreach, length)));
  return budget.steps;
}

describe('a loop', () => {
  it.each(Object.entries(loops))('that %s takes steps in proportion to the list', (_, foreach) => {
    const [single, double] = [stepsFor(foreach, 2_000), stepsFor(foreach, 4_000)];
    expect(single).toBeGreaterThan(2_000);
    expect(double / single).toBeLessThan(2.5);
  });

  it.each(Object.entries(loops))(
    'that %s runs over 10,000 items within the budget of a review',
    (_, foreach) => {
      const { outcomes } = run(foreach, 10_000, { limits: admissionLimits });
      expect(outcomes.map(({ status, message }) => [status, message])).toEqual([
        [expect.stringMatching(/^(applied|unchanged)$/), expect.anything()],
      ]);
    },
  );

  it.each(Object.entries({ ...loops, ...sharing }))(
    'that %s gives what edits of copies give',
    (_, foreach) => {
      // An explanation needs the object before and after each element, so it copies.
      // Long lists have an index.
      for (const length of [5, 100]) {
        const copied = run(foreach, length, { explain: true });
        const edited = run(foreach, length);
        expect(copied.failedPolicies).toEqual([]);
        expect(edited.outcomes.map(({ status }) => status)).toEqual(
          copied.outcomes.map(({ status }) => status),
        );
        expect(edited.object).toEqual(copied.object);
        expect(edited.patch).toEqual(copied.patch);
      }
    },
  );
});
