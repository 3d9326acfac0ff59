import { describe, expect, it } from 'vitest';
import type { Scope } from '../../expression/scope.ts';
import { isObject, type JsonObject, member } from '../../json/value.ts';
import { loadDocuments } from '../load.ts';

/** Applies the first rule of a policy to an object, as far as it needs nothing but the patch. */
function applyRule(mutate: string, object: JsonObject, roots: JsonObject = {}): JsonObject {
  const text = `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: p}
spec:
  background: false
  rules:
  - name: r
    match: {any: [{resources: {kinds: [ConfigMap]}}]}
    mutate:
      ${mutate}
`;
  const { policies, problems } = loadDocuments([{ file: 'p', text }]);
  expect(problems).toEqual([]);
  const mutation = policies[0]?.rules[0]?.mutation;
  const body = mutation?.type === 'foreach' ? mutation.entries[0]?.body : mutation;
  if (body?.type !== 'patch') throw new Error('no patch');
  const result = body.patch.apply(object, scopeOf({ request: { object }, ...roots }));
  return result.status === 'patched' ? result.object : object;
}

function scopeOf(roots: JsonObject): Scope {
  return {
    lookup: (name) => member(roots, name),
    snapshot: () => roots,
    environment: { now: () => new Date(0), random: () => 0 },
  };
}

function errorsOf(mutate: string): string[] {
  const text = `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: p}
spec: {rules: [{name: r, match: {any: [{resources: {kinds: [ConfigMap]}}]}, mutate: {${mutate}}}]}
`;
  const { problems } = loadDocuments([{ file: 'p', text }]);
  return problems.map(({ code, pointer }) => `${code} ${pointer}`);
}

describe('{{@}}', () => {
  const object = { data: { key: 'old', 'my.key': 'dotted' } };

  it('is the value at the same place of the object', () => {
    expect(applyRule('patchStrategicMerge: {data: {key: "new-{{@}}", my.key: "{{ @ }}!"}}', object)).toEqual({
      data: { key: 'new-old', 'my.key': 'dotted!' },
    });
  });

  it('works below anchors, and in loops', () => {
    const withMissing = { data: { key: 'old' }, metadata: { name: 'x' } };
    expect(
      applyRule('patchStrategicMerge: {(metadata): {(name): x}, data: {key: "{{@}}2"}}', withMissing),
    ).toMatchObject({
      data: { key: 'old2' },
    });
    const loop = 'foreach: [{list: request.object.data, patchStrategicMerge: {data: {key: "{{@}}3"}}}]';
    expect(applyRule(loop, object, { element: 1, elementIndex: 0 })).toMatchObject({ data: { key: 'old3' } });
  });

  it('is about the target in rules with targets', () => {
    const mutate = 'targets: [{kind: Secret}]\n      patchStrategicMerge: {data: {key: "{{@}}-t"}}';
    expect(applyRule(mutate, object, { target: { data: { key: 'target' } } })).toMatchObject({
      data: { key: 'target-t' },
    });
  });
});

describe('$( ) references', () => {
  it('start at the rule', () => {
    expect(
      applyRule('patchStrategicMerge: {data: {a: one, b: "$(/mutate/patchStrategicMerge/data/a)"}}', {}),
    ).toEqual({
      data: { a: 'one', b: 'one' },
    });
  });

  it('may be relative', () => {
    expect(applyRule('patchStrategicMerge: {data: {a: one, b: "x$(../a)"}}', {})).toEqual({
      data: { a: 'one', b: 'xone' },
    });
  });

  it('start at the patch in a loop', () => {
    const loop =
      'foreach: [{list: request.object.x, patchStrategicMerge: {data: {a: one, b: "$(/patchStrategicMerge/data/a)"}}}]';
    expect(applyRule(loop, {})).toEqual({ data: { a: 'one', b: 'one' } });
  });

  it('an escaped one is text', () => {
    expect(applyRule(String.raw`patchStrategicMerge: {data: {a: '\$(POD_IP)'}}`, {})).toEqual({
      data: { a: '$(POD_IP)' },
    });
  });

  it('one that leads nowhere is a problem', () => {
    const [problem] = errorsOf('patchStrategicMerge: {data: {a: "$(POD_IP)"}}');
    expect(problem).toMatch(/ \/spec\/rules\/0\/mutate\/patchStrategicMerge\/data\/a$/);
    expect(
      errorsOf('foreach: [{list: request.object.x, patchStrategicMerge: {data: {a: "$(POD_IP)"}}}]')[0],
    ).toMatch(/ \/spec\/rules\/0\/mutate\/foreach\/0\/patchStrategicMerge\/data\/a$/);
  });
});

describe('problems of patches and expressions', () => {
  it.each([
    ['an unsupported anchor', 'patchStrategicMerge: {data: {"X(a)": b}}'],
    ['an expression that does not parse', 'patchStrategicMerge: {data: {a: "{{ request.object. }}"}}'],
    ['an unknown function', 'patchStrategicMerge: {data: {a: "{{ no_such(request) }}"}}'],
    ['operations that are no YAML', 'patchesJson6902: "- op: [remove"'],
  ])('%s is refused once, at its place', (_, mutate) => {
    const errors = errorsOf(mutate);
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatch(/ \/spec\/rules\/0\/mutate\//);
  });
});

it('a generated rule is compiled from the rewritten document', () => {
  const { policies } = loadDocuments([
    {
      file: 'p',
      text: `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: p}
spec: {rules: [{name: r, match: {any: [{resources: {kinds: [Pod]}}]}, mutate: {patchStrategicMerge: {metadata: {labels: {name: "{{ request.object.metadata.name }}", old: "{{@}}"}}}}}]}
`,
    },
  ]);
  const generated = policies[0]?.rules[1];
  const object = { spec: { template: { metadata: { name: 't', labels: { old: 'kept' } } } } };
  if (generated?.mutation.type !== 'patch') throw new Error('no patch');
  const result = generated.mutation.patch.apply(object, scopeOf({ request: { object } }));
  const patched = result.status === 'patched' && isObject(result.object) ? result.object : {};
  expect(patched).toEqual({
    spec: { template: { metadata: { name: 't', labels: { name: 't', old: 'kept' } } } },
  });
});
