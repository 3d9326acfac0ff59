import { describe, expect, it } from 'vitest';
import { mutatingPolicyEnvironment } from '../../cel/environments.ts';
import { compileCel } from '../../cel/expression.ts';
import type { Value } from '../../cel/value/value.ts';
import type { JsonObject } from '../../json/value.ts';
import { type ApplyConfigurationOptions, applyConfiguration } from './apply-configuration.ts';
import { builtInSchema } from './built-in.ts';
import { applyJsonPatches } from './json-patch.ts';

const environment = mutatingPolicyEnvironment();
const pod: JsonObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', labels: { app: 'web' } },
  spec: { containers: [{ name: 'main', image: 'nginx' }] },
};

function evaluate(source: string): Value {
  const { expression, problems } = compileCel(source, environment);
  if (expression === undefined) throw new Error(problems.map(({ message }) => message).join('; '));
  return expression.evaluate({
    lookup: (name) => (name === 'object' ? (pod as Value) : undefined),
    effects: { now: () => new Date(0), random: () => 0 },
  });
}

function configure(
  source: string,
  options: Partial<ApplyConfigurationOptions> = {},
  object: JsonObject = pod,
): JsonObject {
  return applyConfiguration(object, evaluate(source), {
    schemaOf: builtInSchema,
    serverSideApply: false,
    mapsInLists: true,
    undeclaredFields: true,
    ...options,
  });
}

describe('applyConfiguration', () => {
  it('merges what the expression built', () => {
    const side = 'Object{spec: Object.spec{containers: [Object.spec.containers{name: "side", image: "x"}]}}';
    expect(configure(side)).toMatchObject({ spec: { containers: [{ name: 'main' }, { name: 'side' }] } });
  });

  it('takes map literals as items of lists, unless it is strict', () => {
    const literal = 'Object{spec: Object.spec{containers: [{"name": "side"}]}}';
    expect(configure(literal)).toMatchObject({ spec: { containers: [{ name: 'main' }, { name: 'side' }] } });
    expect(() => configure(literal, { mapsInLists: false })).toThrow(
      '.spec.containers: element 0: associative list with keys may not have non-map elements',
    );
  });

  it('leaves out optional fields without a value', () => {
    const source = 'Object{metadata: Object.metadata{?labels: object.metadata.?nope}}';
    expect(configure(source)).toBe(pod);
  });

  it('refuses a type name that does not follow the fields', () => {
    expect(() => configure('Object{spec: Object.metadata{}}')).toThrow(
      'unexpected type name "Object.metadata", expected "Object.spec"',
    );
  });

  it.each([
    ['a type name', 'Object{nope: "x", spec: Object.metadata{}}', 'type mismatch: unexpected type name'],
    ['a value without a JSON form', 'Object{nope: "x", spec: dyn(type(1))}', 'cannot be converted to JSON'],
    [
      'a key of a map',
      'Object{nope: "x", metadata: Object.metadata{labels: {1: "a"}}}',
      'map key of type int',
    ],
    [
      'a type name in a list of any values',
      'Object{spec: Object.spec{containers: [{"name": dyn("a"), "nope": dyn([Object.spec{}])}]}}',
      'type mismatch: unexpected type name "Object.spec", expected "Object.spec.containers"',
    ],
  ])('reports a wrong form before what the schema refuses: %s', (_, source, message) => {
    expect(() => configure(source)).toThrow(message);
  });

  it('reports a wrong form before what does not fit the object', () => {
    const object = { ...pod, metadata: { labels: 'none' } };
    const metadata = 'metadata: Object.metadata{labels: {"a": "b"}}';
    expect(() => configure(`Object{${metadata}}`, {}, object)).toThrow('the object has no map here');
    expect(() => configure(`Object{${metadata}, spec: Object.metadata{}}`, {}, object)).toThrow(
      'type mismatch',
    );
  });

  it('ignores the type that the configuration says', () => {
    const source =
      'Object{apiVersion: "apps/v1", kind: "Deployment", metadata: Object.metadata{labels: {"a": "b"}}}';
    expect(configure(source)).toEqual({ ...pod, metadata: { name: 'web', labels: { app: 'web', a: 'b' } } });
  });

  it('converts numbers, times and bytes where they are merged', () => {
    const source = `Object{metadata: Object.metadata{annotations: {
      "time": dyn(timestamp("2026-01-01T00:00:00Z")), "bytes": dyn(b"abc")}},
      spec: Object.spec{containers: [Object.spec.containers{name: "main",
        ports: [Object.spec.containers.ports{containerPort: 80u}, Object.spec.containers.ports{containerPort: 81.0}]}]}}`;
    expect(configure(source)).toMatchObject({
      metadata: { annotations: { time: '2026-01-01T00:00:00Z', bytes: 'YWJj' } },
      spec: { containers: [{ name: 'main', ports: [{ containerPort: 80 }, { containerPort: 81 }] }] },
    });
  });

  it.each([2, 12])('refuses a key that occurs twice among %i items', (count) => {
    const names = Array.from({ length: count - 1 }, (_, index) => `"c${index}"`);
    const source = (list: readonly string[]) =>
      `Object{spec: Object.spec{containers: [${list.join(', ')}].map(n, Object.spec.containers{name: n})}}`;
    expect(configure(source([...names, '"main"']))).toMatchObject({ spec: {} });
    expect(() => configure(source([...names, '"c0"']))).toThrow('duplicate entries for key [name="c0"]');
  });

  it('warns about items without the key that identifies them, unless the key has a default', () => {
    const warnings: string[] = [];
    const container = (fields: string) =>
      `Object{spec: Object.spec{containers: [Object.spec.containers{${fields}}]}}`;
    configure(container('name: "main", ports: [Object.spec.containers.ports{containerPort: 80}]'), {
      warnings,
    });
    expect(warnings).toEqual([]);
    configure(container('image: "x"'), { warnings });
    expect(warnings).toEqual([
      '.spec.containers[0]: the item has no name, which identifies it, so it does not change an item of the object; set name',
    ]);
  });

  it('refuses a kind without a schema', () => {
    expect(() => configure('Object{}', { schemaOf: () => undefined })).toThrow('no schema for Pod of v1');
  });
});

const patch = (source: string): JsonObject => applyJsonPatches(pod, evaluate(source));
const labels = (result: JsonObject) => (result['metadata'] as JsonObject)['labels'];

describe('applyJsonPatches', () => {
  it.each([
    ['add', '[JSONPatch{op: "add", path: "/metadata/labels/a", value: "b"}]', { app: 'web', a: 'b' }],
    [
      'replace of a missing member',
      '[JSONPatch{op: "replace", path: "/metadata/labels/a", value: "b"}]',
      { app: 'web', a: 'b' },
    ],
    ['add without a value', '[JSONPatch{op: "add", path: "/metadata/labels/a"}]', { app: 'web', a: null }],
    ['remove', '[JSONPatch{op: "remove", path: "/metadata/labels/app"}]', {}],
    [
      'move',
      '[JSONPatch{op: "move", from: "/metadata/labels/app", path: "/metadata/labels/b"}]',
      { b: 'web' },
    ],
    [
      'copy',
      '[JSONPatch{op: "copy", from: "/metadata/labels/app", path: "/metadata/labels/b"}]',
      { app: 'web', b: 'web' },
    ],
    [
      'copy of a missing member',
      '[JSONPatch{op: "copy", from: "/metadata/labels/none", path: "/metadata/labels/b"}]',
      { app: 'web', b: null },
    ],
  ])('%s', (_, source, expected) => {
    expect(labels(patch(source))).toEqual(expected);
  });

  it.each([
    ['[JSONPatch{op: "add", path: "/spec/containers/-1", value: {"name": "last"}}]', ['main', 'last']],
    ['[JSONPatch{op: "replace", path: "/spec/containers/-1/name", value: "x"}]', ['x']],
    ['[JSONPatch{op: "remove", path: "/spec/containers/-1"}]', []],
  ])('negative indexes count from the end: %s', (source, names) => {
    const { spec } = patch(source) as unknown as { spec: { containers: { name: string }[] } };
    expect(spec.containers.map(({ name }) => name)).toEqual(names);
  });

  it('what is copied is changed only where an operation says so, and the object not at all', () => {
    const before = structuredClone(pod);
    const source = `[
      JSONPatch{op: "add", path: "/metadata/labels/first", value: "1"},
      JSONPatch{op: "copy", from: "/metadata/labels", path: "/metadata/annotations"},
      JSONPatch{op: "add", path: "/metadata/labels/second", value: "2"},
      JSONPatch{op: "add", path: "/metadata/annotations/third", value: "3"}]`;
    expect(patch(source)['metadata']).toEqual({
      name: 'web',
      labels: { app: 'web', first: '1', second: '2' },
      annotations: { app: 'web', first: '1', third: '3' },
    });
    expect(pod).toEqual(before);
  });

  it('a literal keeps its value, whatever later operations do to where it was added', () => {
    const { expression } = compileCel(
      `[JSONPatch{op: "add", path: "/metadata/annotations", value: {"a": "b"}},
        JSONPatch{op: "add", path: "/metadata/annotations/c", value: "d"}]`,
      environment,
    );
    const run = () =>
      expression?.evaluate({ lookup: () => undefined, effects: { now: () => new Date(0), random: () => 0 } });
    const expected = { annotations: { a: 'b', c: 'd' } };
    expect(applyJsonPatches(pod, run() as Value)['metadata']).toMatchObject(expected);
    expect(run()).toEqual(run());
    expect(applyJsonPatches(pod, [(run() as Value[])[0] as Value])['metadata']).toEqual({
      ...(pod['metadata'] as JsonObject),
      annotations: { a: 'b' },
    });
  });

  it('a negative index before the beginning is an error', () => {
    expect(() => patch('[JSONPatch{op: "remove", path: "/spec/containers/-2"}]')).toThrow('-2');
  });

  it('changes nothing when a test fails, also not by earlier operations', () => {
    const add = 'JSONPatch{op: "add", path: "/metadata/labels/a", value: "b"}';
    expect(patch(`[${add}, JSONPatch{op: "test", path: "/metadata/labels/app", value: "no"}]`)).toBe(pod);
    expect(
      labels(patch(`[JSONPatch{op: "test", path: "/metadata/labels/app", value: "web"}, ${add}]`)),
    ).toEqual({
      app: 'web',
      a: 'b',
    });
    expect(labels(patch(`[JSONPatch{op: "test", path: "/metadata/none"}, ${add}]`))).toMatchObject({
      a: 'b',
    });
  });

  it('keeps integers beyond 2^53', () => {
    const result = patch('[JSONPatch{op: "add", path: "/metadata/labels/a", value: 9007199254740993}]');
    expect(labels(result)).toEqual({ app: 'web', a: 9007199254740993n });
  });

  it.each([
    [
      'a missing parent',
      '[JSONPatch{op: "add", path: "/metadata/annotations/a", value: "b"}]',
      '/metadata/annotations',
    ],
    ['a missing value', '[JSONPatch{op: "remove", path: "/spec/hostNetwork"}]', 'remove /spec/hostNetwork'],
    [
      'an index beyond the end',
      '[JSONPatch{op: "add", path: "/spec/containers/7", value: "b"}]',
      '/spec/containers/7',
    ],
    ['an unknown operation', '[JSONPatch{op: "merge", path: "/spec"}]', "'merge' is not an operation"],
    [
      'a path without a slash',
      '[JSONPatch{op: "add", path: "spec", value: 1}]',
      "'spec' is not a JSON pointer",
    ],
    [
      'null',
      '[true, false].map(x, x ? JSONPatch{op: "add", path: "/a", value: 1} : null)',
      'item 1 of the JSONPatch list is null_type',
    ],
    [
      'a test below a missing parent',
      '[JSONPatch{op: "test", path: "/a/b/c", value: 1}]',
      'the parent of /a/b/c',
    ],
    ['a scalar as the object', '[JSONPatch{op: "replace", path: "", value: 1}]', 'no object'],
  ])('refuses %s', (_, source, message) => {
    expect(() => patch(source)).toThrow(message);
  });
});
