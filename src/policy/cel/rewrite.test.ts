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

function valueFor(source: string, role: ExpressionRole): Value {
  const template = ['spec', 'template'];
  const node = rewriteForTemplate(parse(source, environment.macros), template, role);
  const value = evaluated(compileTree(node, source, environment));
  const text = rewriteSourceForTemplate(source, environment.macros, template, role);
  // The text that is shown and passed on means the same as what runs.
  expect(shape(evaluated(compileCel(text, environment)))).toEqual(shape(value));
  return value;
}

function shape(value: Value): Json {
  return [toJson(value), value instanceof StructValue ? value.typeName : ''];
}

function evaluated({ expression, problems }: CelResult): Value {
  if (expression === undefined) throw new Error(problems.map(({ message }) => message).join('; '));
  return expression.evaluate({
    lookup: (name) =>
      name === 'object' || name === 'oldObject' ? (deployment as unknown as Value) : undefined,
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
  ])('%s', (source, expected) => {
    expect(toJson(valueFor(source, 'condition'))).toEqual(expected);
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
  ])('%s %s', (role, source, expected) => {
    expect(rewriteTextForTemplate(source, ['spec', 'template'], role)).toBe(expected);
  });
});
