import { describe, expect, it } from 'vitest';
import { mutatingPolicyEnvironment } from '../../cel/environments.ts';
import { type CelResult, compileCel, compileTree } from '../../cel/expression.ts';
import { parse } from '../../cel/syntax/parser.ts';
import { toJson } from '../../cel/value/json.ts';
import { StructValue, type Value } from '../../cel/value/value.ts';
import type { Json } from '../../json/value.ts';
import {
  type ExpressionRole,
  rewriteForTemplate,
  rewriteSourceForTemplate,
  rewriteTextForTemplate,
} from './rewrite.ts';

const environment = mutatingPolicyEnvironment();
const deployment = {
  metadata: { name: 'web', labels: { own: 'deployment' } },
  spec: {
    replicas: 2,
    template: {
      metadata: { labels: { app: 'web' }, annotations: { a: 'b' } },
      spec: { containers: [{ name: 'main' }, { name: 'side' }] },
    },
  },
};

function valueFor(source: string, role: ExpressionRole, object: Json = deployment): Value {
  const template = ['spec', 'template'];
  const node = rewriteForTemplate(parse(source, environment.macros), template, role);
  const value = evaluated(compileTree(node, source, environment), object);
  const text = rewriteSourceForTemplate(source, environment.macros, template, role);
  // The text that is shown and passed on means the same as what runs.
  expect(shape(evaluated(compileCel(text, environment), object))).toEqual(shape(value));
  return value;
}

function shape(value: Value): Json {
  return [toJson(value), value instanceof StructValue ? value.typeName : ''];
}

function evaluated({ expression, problems }: CelResult, object: Json): Value {
  if (expression === undefined) throw new Error(problems.map(({ message }) => message).join('; '));
  return expression.evaluate({
    lookup: (name) => (name === 'request' ? { object, oldObject: object } : object) as Value,
    effects: { now: () => new Date(0), random: () => 0 },
  });
}

describe('expressions about Pods, for a Deployment', () => {
  it.each<[string, Json]>([
    ['object.spec.containers.map(c, c.name)', ['main', 'side']],
    ['has(object.spec.containers)', true],
    ['has(object.spec.volumes)', false],
    ['object.?spec.?volumes.orValue("none")', 'none'],
    ['object.spec.?containers.orValue([]).size()', 2],
    ['object.metadata.labels.app', 'web'],
    ['object.metadata.annotations["a"]', 'b'],
    ['has(object.metadata.labels)', true],
    ['object.metadata.?labels.?app.orValue("none")', 'web'],
    ['oldObject.metadata.labels.app', 'web'],
    ['object.metadata.name', 'web'],
    ['"object.spec"', 'object.spec'],
    ['[{"spec": 1}].map(object, object.spec)', [1]],
    ['cel.bind(object, {"spec": 2}, object.spec)', 2],
    ['object.spec.containers.map(object, object.name)', ['main', 'side']],
    ['cel.bind(object, object.spec, object.containers.size())', 2],
    ['object["spec"].containers.size()', 2],
    ['object["spec"]["containers"].size()', 2],
    ['object[?"spec"].containers.orValue([]).size()', 2],
    ['object.metadata["labels"]["app"]', 'web'],
    ['object["metadata"]["labels"].app', 'web'],
    ['object["metadata"].?labels.?app.orValue("none")', 'web'],
    ['(object).spec.containers.size()', 2],
    ['request.object.spec.containers.size()', 2],
    ['request.object.metadata.labels.app', 'web'],
    ['request.oldObject["spec"].containers.size()', 2],
    ['has(request.object.spec.volumes)', false],
    ['"labels" in object.metadata', true],
    ['"annotations" in object.metadata', true],
    ['"name" in object.metadata', true],
    ['!has(object.metadata.labels) || has(object.metadata.labels.app)', true],
  ])('%s', (source, expected) => {
    expect(toJson(valueFor(source, 'condition'))).toEqual(expected);
  });

  it.each<[string, Json]>([
    ['has(object.metadata.labels)', false],
    ['!has(object.metadata.annotations)', true],
    ['object.metadata.?labels.?app.orValue("none")', 'none'],
    ['object.metadata.?annotations[?"a"].orValue("none")', 'none'],
  ])('%s, of a template without metadata', (source, expected) => {
    const bare = { metadata: { name: 'web' }, spec: { template: { spec: {} } } };
    expect(toJson(valueFor(source, 'condition', bare))).toEqual(expected);
  });

  it.each(['oldObject.spec', 'oldObject.metadata.labels'])(
    'has(%s) is false when an object is created',
    (path) => {
      expect(valueFor(`has(${path})`, 'condition', {})).toBe(false);
    },
  );

  it('builds parts of configurations in variables', () => {
    const value = valueFor('Object.spec.containers{name: "a"}', 'objectVariable');
    expect((value as StructValue).typeName).toBe('Object.spec.template.spec.containers');
    const whole = valueFor('Object{spec: Object.spec{hostNetwork: true}}', 'objectVariable');
    expect(toJson(whole)).toEqual({ spec: { template: { spec: { hostNetwork: true } } } });
  });

  it('builds operations in variables, whose values are relative', () => {
    for (const role of ['variable', 'objectVariable'] as const) {
      const [operation] = valueFor(
        '[JSONPatch{op: "add", path: "/spec/securityContext", value: Object{runAsUser: 1}}]',
        role,
      ) as readonly StructValue[];
      expect(operation?.fields).toMatchObject({ path: '/spec/template/spec/securityContext' });
      expect(toJson(operation?.fields['value'] as Value)).toEqual({ runAsUser: 1 });
    }
  });

  it('puts a configuration below the template', () => {
    const value = valueFor('Object{metadata: Object.metadata{labels: {"a": "b"}}}', 'applyConfiguration');
    expect(value).toBeInstanceOf(StructValue);
    expect(toJson(value)).toEqual({ spec: { template: { metadata: { labels: { a: 'b' } } } } });
    const { spec } = (value as StructValue).fields;
    expect((spec as StructValue).typeName).toBe('Object.spec');
    const { template } = (spec as StructValue).fields;
    expect((template as StructValue).typeName).toBe('Object.spec.template');
  });

  it('translates the paths of JSONPatch operations, also in parts', () => {
    const source = `[
      JSONPatch{op: "add", path: "/spec/hostNetwork", value: true},
      JSONPatch{op: "add", path: "/metadata/labels/" + jsonpatch.escapeKey("a/b"), value: "/spec/x"},
      JSONPatch{op: "copy", from: "/metadata/annotations/a", path: "/metadata/name"},
      JSONPatch{op: "add", path: "/specials", value: 1}]`;
    const operations = (valueFor(source, 'jsonPatch') as readonly StructValue[]).map(({ fields }) => fields);
    expect(operations).toEqual([
      { op: 'add', path: '/spec/template/spec/hostNetwork', value: true },
      { op: 'add', path: '/spec/template/metadata/labels/a~1b', value: '/spec/x' },
      { op: 'copy', from: '/spec/template/metadata/annotations/a', path: '/metadata/name' },
      { op: 'add', path: '/specials', value: 1 },
    ]);
  });
});

describe('the same as Kyverno does it', () => {
  it.each<[ExpressionRole, string, string]>([
    [
      'condition',
      'object.spec.x == "object.spec"',
      'object.spec.template.spec.x == "object.spec.template.spec"',
    ],
    ['variable', 'object.spec.x', 'object.spec.x'],
    ['jsonPatch', '[JSONPatch{op: "add", path: "/spec/x"}]', '[JSONPatch{op: "add", path: "/spec/x"}]'],
    [
      'applyConfiguration',
      'Object{spec: Object.spec{x: 1}}',
      'Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{x: 1}}}}',
    ],
    ['applyConfiguration', 'Object{}', 'Object{}'],
    [
      'condition',
      'Object{a: 1} == Object{a: 2}',
      'Object{spec: Object.spec{template: Object.spec.template{a: 1}}} == Object{a: 2}',
    ],
    ['condition', 'request.object.specific', 'request.object.spec.template.specific'],
  ])('%s %s', (role, source, expected) => {
    expect(rewriteTextForTemplate(source, ['spec', 'template'], role)).toBe(expected);
  });
});
