import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { ErrorCode } from '../../errors.ts';
import type { Scope } from '../../expression/scope.ts';
import type { Json, JsonObject, Path } from '../../json/value.ts';
import { PatchError } from '../compiled-patch.ts';
import { compileReplacement, fitsSelector, type SourceSelector } from './replacement.ts';

interface Reported {
  readonly path: Path;
  readonly code: ErrorCode;
  readonly message: string;
}

function compile(entry: string, mode: 'policy' | 'kustomize' = 'policy') {
  const problems: Reported[] = [];
  const replacement = compileReplacement(
    parse(entry) as Json,
    ['replacements', 0],
    { error: (path, code, message) => void problems.push({ path, code, message }), warn: () => {} },
    mode,
  );
  return { replacement, problems };
}

function scopeOf(roots: JsonObject): Scope {
  return {
    lookup: (name) => (Object.hasOwn(roots, name) ? roots[name] : undefined),
    snapshot: () => roots,
    environment: { now: () => new Date(0), random: () => 0 },
  };
}

const others = [
  'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: shop}\ndata: {region: eu, port: "8080", url: https://h/v2/items}',
  'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other, namespace: shop}\ndata: {region: us}',
  'apiVersion: v1\nkind: Secret\nmetadata: {name: s}',
].map((text) => parse(text) as JsonObject);

const pod = parse(`
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop, labels: {app: web, tier: front}, annotations: {path: my/path/VALUE}}
spec:
  replicas: 3
  flag: true
  containers:
  - {name: main, image: 'nginx:1', ports: [{containerPort: 80}], env: [{name: REGION, value: old}]}
  - {name: side, image: 'side:1'}
`) as JsonObject;

function apply(entry: string, mode: 'policy' | 'kustomize' = 'policy', roots: JsonObject = {}): JsonObject {
  const { replacement, problems } = compile(entry, mode);
  if (replacement === undefined) throw new Error(JSON.stringify(problems));
  const find = (selector: SourceSelector) => others.filter((object) => fitsSelector(object, selector));
  return replacement.apply(pod, scopeOf(roots), { find });
}

function at(object: JsonObject, path: string): Json | undefined {
  let value: Json | undefined = object;
  for (const step of path.split('.')) value = (value as JsonObject | undefined)?.[step];
  return value;
}

describe('a replacement in a policy', () => {
  it.each<[string, string, string, Json]>([
    [
      'copies from the incoming object when the selector fits it',
      '{source: {kind: Pod, fieldPath: metadata.labels.app}, targets: [{select: {kind: Pod}, fieldPaths: [metadata.labels.tier]}]}',
      'metadata.labels.tier',
      'web',
    ],
    [
      'copies metadata.name when no path is given',
      '{source: {kind: Pod}, targets: [{select: {kind: Pod}, fieldPaths: [metadata.labels.tier]}]}',
      'metadata.labels.tier',
      'web',
    ],
    [
      'copies from another object',
      '{source: {kind: ConfigMap, name: settings, fieldPath: data.region}, targets: [{select: {kind: Pod}, fieldPaths: ["spec.containers.[name=main].env.[name=REGION].value"]}]}',
      'spec.containers.0.env.0.value',
      'eu',
    ],
    [
      'knows wildcards in a source',
      '{source: {kind: ConfigMap, name: "sett*", fieldPath: data.region}, targets: [{select: {}, fieldPaths: [metadata.labels.tier]}]}',
      'metadata.labels.tier',
      'eu',
    ],
    [
      'copies a literal',
      '{sourceValue: x, targets: [{select: {name: "w?b"}, fieldPaths: [metadata.labels.tier]}]}',
      'metadata.labels.tier',
      'x',
    ],
    [
      'takes one part of a source',
      '{source: {kind: ConfigMap, name: settings, fieldPath: data.url, options: {delimiter: /, index: 2}}, targets: [{select: {}, fieldPaths: [metadata.labels.tier]}]}',
      'metadata.labels.tier',
      'h',
    ],
    [
      'replaces one part of a target',
      '{sourceValue: NEW, targets: [{select: {}, fieldPaths: [metadata.annotations.path], options: {delimiter: /, index: 2}}]}',
      'metadata.annotations.path',
      'my/path/NEW',
    ],
    [
      'prefixes with a negative index',
      '{sourceValue: NEW, targets: [{select: {}, fieldPaths: [metadata.annotations.path], options: {delimiter: /, index: -1}}]}',
      'metadata.annotations.path',
      'NEW/my/path/VALUE',
    ],
    [
      'suffixes beyond the parts',
      '{sourceValue: NEW, targets: [{select: {}, fieldPaths: [metadata.annotations.path], options: {delimiter: /, index: 3}}]}',
      'metadata.annotations.path',
      'my/path/VALUE/NEW',
    ],
    [
      'counts an absent target as one empty part',
      '{sourceValue: NEW, targets: [{select: {}, fieldPaths: [metadata.annotations.n], options: {delimiter: /, index: 1, create: true}}]}',
      'metadata.annotations.n',
      '/NEW',
    ],
    [
      'pays no heed to an index without delimiter',
      '{sourceValue: NEW, targets: [{select: {}, fieldPaths: [metadata.annotations.path], options: {index: 2}}]}',
      'metadata.annotations.path',
      'NEW',
    ],
    [
      'keeps text that looks like a number in a created field',
      '{source: {kind: ConfigMap, name: settings, fieldPath: data.port}, targets: [{select: {}, fieldPaths: [spec.new], options: {create: true}}]}',
      'spec.new',
      '8080',
    ],
    [
      'keeps a number in a created field',
      '{source: {kind: Pod, fieldPath: spec.replicas}, targets: [{select: {}, fieldPaths: [spec.new], options: {create: true}}]}',
      'spec.new',
      3,
    ],
    [
      'writes a number as text over text',
      '{source: {kind: Pod, fieldPath: spec.replicas}, targets: [{select: {}, fieldPaths: [metadata.labels.tier]}]}',
      'metadata.labels.tier',
      '3',
    ],
    [
      'writes text as a number over a number',
      '{source: {kind: ConfigMap, name: settings, fieldPath: data.port}, targets: [{select: {}, fieldPaths: [spec.replicas]}]}',
      'spec.replicas',
      8080,
    ],
    [
      'copies maps whole',
      '{source: {kind: Pod, fieldPath: metadata.labels}, targets: [{select: {}, fieldPaths: [metadata.annotations]}]}',
      'metadata.annotations',
      { app: 'web', tier: 'front' },
    ],
    [
      'puts a map over a scalar',
      '{source: {kind: Pod, fieldPath: metadata.labels}, targets: [{select: {}, fieldPaths: [spec.flag]}]}',
      'spec.flag',
      { app: 'web', tier: 'front' },
    ],
    [
      'puts a scalar over a map',
      '{sourceValue: x, targets: [{select: {}, fieldPaths: [metadata.annotations]}]}',
      'metadata.annotations',
      'x',
    ],
    [
      'reads [key=value] exactly',
      '{sourceValue: x, targets: [{select: {}, fieldPaths: ["spec.containers.[name=mai].image"], options: {create: true}}]}',
      'spec.containers.0.image',
      'nginx:1',
    ],
    [
      'takes select as a list of one',
      '{sourceValue: x, targets: [{select: [{kind: Pod}], fieldPaths: [metadata.labels.tier]}]}',
      'metadata.labels.tier',
      'x',
    ],
    [
      'ignores encoding',
      '{sourceValue: x, targets: [{select: {}, fieldPaths: [metadata.labels.tier], options: {encoding: base64}}]}',
      'metadata.labels.tier',
      'x',
    ],
  ])('%s', (_title, entry, path, value) => {
    expect(at(apply(entry), path)).toEqual(value);
  });

  it('reads the source before any target is written', () => {
    const entry =
      '{source: {kind: Pod, fieldPath: metadata.labels.app}, targets: [{select: {}, fieldPaths: [metadata.labels.app], options: {delimiter: "-", index: 9}}, {select: {}, fieldPaths: [metadata.labels.tier]}]}';
    expect(at(apply(entry), 'metadata.labels')).toEqual({ app: 'web-web', tier: 'web' });
  });
});

describe('targets', () => {
  const entry = (select: string, reject = '[]') =>
    `{sourceValue: HIT, targets: [{select: ${select}, reject: ${reject}, fieldPaths: [metadata.labels.tier]}]}`;
  it.each([
    ['{}', true],
    ['{group: "", version: v1, kind: Pod, name: web, namespace: shop}', true],
    ['{kind: "P*", name: "w??"}', true],
    ['{kind: Pod, name: other}', false],
    ['{kind: Po}', false],
    ['{kind: "Po."}', false],
    ['{version: v2}', false],
    ['{namespace: default}', false],
    ['{labelSelector: "app=web"}', true],
    ['{labelSelector: "app==web, tier in (front, back), !x, y!=z, y notin (z)"}', true],
    ['{labelSelector: "app!=web"}', false],
    ['{labelSelector: "x"}', false],
    ['{labelSelector: "tier notin (front)"}', false],
    ['{annotationSelector: "path"}', true],
    ['{annotationSelector: "!path"}', false],
    ['{kind: Pod, labelSelector: "app=other"}', false],
  ])('select %s: %s', (select, hit) => {
    expect(at(apply(entry(select)), 'metadata.labels.tier')).toBe(hit ? 'HIT' : 'front');
  });

  it.each([
    ['[{kind: Pod, name: web}]', true],
    ['[{kind: Pod, name: other}]', false],
    ['[{kind: Deployment}, {name: web}]', true],
    ['[{kind: Deployment}, {kind: StatefulSet}]', false],
    ['[{}]', false],
    ['[{kind: Pod, labelSelector: "app=other"}]', false],
    ['[{kind: Pod, labelSelector: "app=web"}]', true],
  ])('reject %s: %s', (reject, rejected) => {
    expect(at(apply(entry('{}', reject)), 'metadata.labels.tier')).toBe(rejected ? 'front' : 'HIT');
  });

  it('leave the object itself when nothing is selected, without looking for a source', () => {
    const { replacement } = compile(
      '{source: {kind: Nope}, targets: [{select: {kind: Nope}, fieldPaths: [a.b.c]}]}',
    );
    const find = () => {
      throw new Error('no source is needed');
    };
    expect(replacement?.apply(pod, scopeOf({}), { find })).toBe(pod);
  });
});

describe('variables', () => {
  it('fill in selectors, paths and values', () => {
    const entry = `
      source: {kind: ConfigMap, name: '{{ conf }}', fieldPath: 'data.{{ key }}'}
      targets: [{select: {kind: '{{ kind }}'}, fieldPaths: ['spec.containers.[name={{ container }}].env.{{ index }}.value']}]`;
    const roots = { conf: 'settings', key: 'region', kind: 'Pod', container: 'main', index: 0 };
    expect(at(apply(entry, 'policy', roots), 'spec.containers.0.env.0.value')).toBe('eu');
    expect([...(compile(entry).replacement?.roots ?? [])].sort()).toEqual([
      'conf',
      'container',
      'index',
      'key',
      'kind',
    ]);
  });

  it('keep the type of a value', () => {
    const entry =
      "{sourceValue: '{{ n }}', targets: [{select: {}, fieldPaths: [spec.new], options: {create: true}}]}";
    expect(at(apply(entry, 'policy', { n: 5 }), 'spec.new')).toBe(5);
  });

  it('yield names, whatever dots and brackets are in them', () => {
    const entry =
      "{sourceValue: x, targets: [{select: {}, fieldPaths: ['metadata.annotations.{{ key }}'], options: {create: true}}]}";
    const after = apply(entry, 'policy', { key: 'a.b/[c=d].*' });
    expect(at(after, 'metadata.annotations')).toEqual({ path: 'my/path/VALUE', 'a.b/[c=d].*': 'x' });
  });

  it.each([
    ['a wildcard', '*'],
    ['no text', { a: 1 }],
  ])('may not yield %s for a selector', (_title, name) => {
    const entry =
      "{source: {kind: ConfigMap, name: '{{ name }}'}, targets: [{select: {}, fieldPaths: [spec.flag]}]}";
    expect(() => apply(entry, 'policy', { name })).toThrow(PatchError);
  });
});

describe('failures, naming selector and path', () => {
  const target = '[{select: {kind: Pod}, fieldPaths: [spec.replicas]}]';
  it.each([
    [
      'no source',
      `{source: {kind: ConfigMap, name: nope}, targets: ${target}}`,
      /no object is selected .*kind: ConfigMap, name: nope/,
    ],
    [
      'several sources',
      `{source: {kind: ConfigMap}, targets: ${target}}`,
      /2 objects are selected .*kind: ConfigMap/,
    ],
    [
      'a missing source field',
      `{source: {kind: ConfigMap, name: settings, fieldPath: data.nope}, targets: ${target}}`,
      /'data\.nope' of source {kind: ConfigMap, name: settings}/,
    ],
    [
      'a source index past the end',
      `{source: {kind: Pod, fieldPath: spec.containers.9.name}, targets: ${target}}`,
      /spec\.containers\.9\.name/,
    ],
    [
      'a part out of range',
      `{source: {kind: Pod, options: {delimiter: '-', index: 4}}, targets: ${target}}`,
      /index 4 is out of bounds for value web/,
    ],
    [
      'a negative part',
      `{source: {kind: Pod, options: {delimiter: '-', index: -1}}, targets: ${target}}`,
      /out of bounds/,
    ],
    [
      'a delimiter on a source map',
      `{source: {kind: Pod, fieldPath: spec, options: {delimiter: '-'}}, targets: ${target}}`,
      /scalar/,
    ],
    [
      'a delimiter on a target list',
      "{sourceValue: x, targets: [{select: {kind: Pod}, fieldPaths: [spec.containers], options: {delimiter: '-'}}]}",
      /'spec\.containers' of target {kind: Pod}.*scalar/,
    ],
    [
      'a missing target field',
      '{sourceValue: x, targets: [{select: {kind: Pod}, fieldPaths: [spec.nope]}]}',
      /'spec\.nope' of target {kind: Pod}/,
    ],
    [
      'the second path missing',
      '{sourceValue: x, targets: [{select: {kind: Pod}, fieldPaths: [metadata.labels.app, spec.nope]}]}',
      /spec\.nope/,
    ],
    ['text over a number', `{sourceValue: abc, targets: ${target}}`, /cannot replace a number with 'abc'/],
    [
      'a target index past the end',
      '{sourceValue: x, targets: [{select: {}, fieldPaths: [spec.containers.9.image]}]}',
      /only 2 elements/,
    ],
  ])('%s', (_title, entry, message) => {
    let error: unknown;
    try {
      apply(entry);
    } catch (caught) {
      error = caught;
    }
    expect(error).toBeInstanceOf(PatchError);
    expect(error).toMatchObject({ code: 'KYM_REPLACEMENT_FAILED', message: expect.stringMatching(message) });
  });
});

describe('refused when the policy is loaded', () => {
  const target = '[{select: {kind: Pod}}]';
  it.each<[string, string, Path]>([
    ['no map', '[]', []],
    ['an unknown field', `{source: {}, targets: ${target}, foo: 1}`, ['foo']],
    ['the form with a file', '{path: r.yaml, source: {}, targets: [{select: {}}]}', ['path']],
    ['no targets', '{source: {}}', ['targets']],
    ['empty targets', '{source: {}, targets: []}', ['targets']],
    ['no source', `{targets: ${target}}`, []],
    ['two sources', `{source: {}, sourceValue: x, targets: ${target}}`, ['sourceValue']],
    ['an unknown field of the source', `{source: {labels: x}, targets: ${target}}`, ['source', 'labels']],
    [
      'a wildcard in the source path',
      `{source: {fieldPath: a.*.b}, targets: ${target}}`,
      ['source', 'fieldPath'],
    ],
    ['no select', '{source: {}, targets: [{fieldPaths: [a]}]}', ['targets', 0]],
    ['several selects', '{source: {}, targets: [{select: [{}, {}]}]}', ['targets', 0, 'select']],
    [
      'an unknown field of select',
      '{source: {}, targets: [{select: {nam: x}}]}',
      ['targets', 0, 'select', 'nam'],
    ],
    [
      'a name that is no text',
      '{source: {}, targets: [{select: {name: 5}}]}',
      ['targets', 0, 'select', 'name'],
    ],
    ['reject as a map', '{source: {}, targets: [{select: {}, reject: {}}]}', ['targets', 0, 'reject']],
    [
      'a field path that is no text',
      '{source: {}, targets: [{select: {}, fieldPaths: [1]}]}',
      ['targets', 0, 'fieldPaths'],
    ],
    [
      'a broken field path',
      '{source: {}, targets: [{select: {}, fieldPaths: ["a.[b]"]}]}',
      ['targets', 0, 'fieldPaths', 0],
    ],
    [
      'a broken label selector',
      '{source: {}, targets: [{select: {labelSelector: "a=b=c"}}]}',
      ['targets', 0, 'select', 'labelSelector'],
    ],
    [
      'an unknown option',
      '{source: {}, targets: [{select: {}, options: {delim: x}}]}',
      ['targets', 0, 'options', 'delim'],
    ],
    [
      'an index that is no number',
      '{source: {options: {index: x}}, targets: [{select: {}}]}',
      ['source', 'options', 'index'],
    ],
    [
      'a create that is no truth',
      '{source: {}, targets: [{select: {}, options: {create: "yes"}}]}',
      ['targets', 0, 'options', 'create'],
    ],
  ])('%s', (_title, entry, path) => {
    const { replacement, problems } = compile(entry);
    expect(replacement).toBeUndefined();
    expect(problems).toMatchObject([{ code: 'KYM_REPLACEMENT_INVALID', path: ['replacements', 0, ...path] }]);
  });
});

describe('a replacement in kustomize', () => {
  it.each<[string, string, string, Json]>([
    [
      'selects by regular expressions for the whole text',
      '{sourceValue: x, targets: [{select: {name: "w.b", kind: Pod|Job}, fieldPaths: [metadata.labels.tier]}]}',
      'metadata.labels.tier',
      'x',
    ],
    [
      'does not select by a part of the name',
      '{sourceValue: x, targets: [{select: {name: we}, fieldPaths: [metadata.labels.tier]}]}',
      'metadata.labels.tier',
      'front',
    ],
    [
      'finds list items by an expression anywhere in the text',
      '{sourceValue: x, targets: [{select: {}, fieldPaths: ["spec.containers.[name=ai].image"]}]}',
      'spec.containers.0.image',
      'x',
    ],
    [
      'finds list items by an anchored expression',
      '{sourceValue: x, targets: [{select: {}, fieldPaths: ["spec.containers.[name=^side$].image"]}]}',
      'spec.containers.1.image',
      'x',
    ],
    [
      'writes text without type into a created field',
      '{source: {kind: ConfigMap, name: settings, fieldPath: data.port}, targets: [{select: {}, fieldPaths: [spec.new], options: {create: true}}]}',
      'spec.new',
      8080,
    ],
    [
      'writes text into a created annotation',
      '{source: {kind: ConfigMap, name: settings, fieldPath: data.port}, targets: [{select: {}, fieldPaths: [metadata.annotations.port], options: {create: true}}]}',
      'metadata.annotations.port',
      '8080',
    ],
    [
      'leaves a scalar empty where a map should go',
      '{source: {kind: Pod, fieldPath: metadata.labels}, targets: [{select: {}, fieldPaths: [metadata.annotations.path]}]}',
      'metadata.annotations.path',
      '',
    ],
    [
      'takes braces for text',
      "{sourceValue: '{{ x }}', targets: [{select: {}, fieldPaths: [metadata.labels.tier]}]}",
      'metadata.labels.tier',
      '{{ x }}',
    ],
  ])('%s', (_title, entry, path, value) => {
    expect(at(apply(entry, 'kustomize'), path)).toEqual(value);
  });

  it('reads a source literally', () => {
    expect(() => apply('{source: {kind: P.d}, targets: [{select: {}}]}', 'kustomize')).toThrow(
      /no object is selected/,
    );
  });

  it('refuses a broken expression', () => {
    const { problems } = compile('{sourceValue: x, targets: [{select: {name: "("}}]}', 'kustomize');
    expect(problems).toMatchObject([{ path: ['replacements', 0, 'targets', 0, 'select', 'name'] }]);
  });
});
