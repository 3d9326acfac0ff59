import { describe, expect, it } from 'vitest';
import { formatPointer } from '../json/pointer.ts';
import { build, printResources } from './build.ts';
import type { BuildOptions } from './build-context.ts';
import { memoryFiles } from './kustomization/memory-files.ts';
import { currentId } from './resource/resource.ts';
import { type RecordedStage, recordTrace } from './trace.ts';

const configMap = (name: string, data = 'key: value') =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\ndata:\n  ${data}\n`;

async function trace(
  texts: Readonly<Record<string, string>>,
  folder = '/',
  more: Partial<BuildOptions> = {},
) {
  const recorder = recordTrace();
  const resources = await build(
    { folder, name: folder === '/' ? '.' : folder.slice(1) },
    {
      files: memoryFiles(new Map(Object.entries(texts).map(([name, text]) => [`/${name}`, text]))),
      enablePlugins: false,
      enableExec: false,
      unrestricted: false,
      environment: {},
      trace: recorder,
      warn: () => undefined,
      show: () => undefined,
      ...more,
    },
  );
  return { stages: recorder.stages, text: printResources(resources) };
}

const named = ({ file, field, title, source, changes, joined }: RecordedStage) =>
  `${file} ${field ?? title}${source === undefined ? '' : ` (${source})`}: ` +
  [...changes.map(({ resource }) => currentId(resource).name), ...joined.map(() => 'joined')].join(', ');

describe('the trace of a build', () => {
  it('has every entry of every kustomization, in the order of the build', async () => {
    const { stages } = await trace(
      {
        'base/kustomization.yaml':
          'resources: [a.yaml]\nconfigMapGenerator: [{name: made, literals: [x=y]}]\nlabels: [{pairs: {app: shop}}]\n',
        'base/a.yaml': configMap('a'),
        'part/kustomization.yaml':
          'apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\ncommonAnnotations: {part: "1"}\n',
        'top/kustomization.yaml':
          'resources: [../base, b.yaml]\ncomponents: [../part]\nnamePrefix: x-\npatches: [{path: p.yaml}]\n',
        'top/b.yaml': configMap('b'),
        'top/p.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\ndata: {key: other}\n',
      },
      '/top',
    );
    expect(stages.map(named)).toEqual([
      'base/kustomization.yaml resources[0] (base/a.yaml): x-a',
      expect.stringMatching(/^base\/kustomization.yaml configMapGenerator\[0\]: x-made-/),
      expect.stringMatching(/^base\/kustomization.yaml labels\[0\]: x-a, x-made-/),
      'top/kustomization.yaml resources[0] (base): joined, joined',
      'top/kustomization.yaml resources[1] (top/b.yaml): x-b',
      expect.stringMatching(/^part\/kustomization.yaml commonAnnotations: x-a, x-made-\w+, x-b$/),
      'top/kustomization.yaml patches[0] (top/p.yaml): x-b',
      expect.stringMatching(/^top\/kustomization.yaml namePrefix: x-a, x-made-\w+, x-b$/),
      expect.stringMatching(/^top\/kustomization.yaml hashes at the end of names: x-made-/),
    ]);
  });

  it('tells the source field of a replacement and each field that it wrote', async () => {
    const { stages } = await trace({
      'kustomization.yaml': `resources: [all.yaml]
replacements:
- source: {kind: ConfigMap, name: a, fieldPath: data.host}
  targets:
  - select: {kind: Deployment}
    fieldPaths:
    - spec.template.spec.containers.*.env.[name=HOST].value
    - metadata.annotations.host
    options: {create: true}
  - select: {kind: ConfigMap, name: a}
    fieldPaths: [data.url]
    options: {delimiter: /, index: 2}
`,
      'all.yaml': `${configMap('a', 'host: shop.example\n  url: https://x/path')}---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  template:
    spec:
      containers:
      - {name: one, env: [{name: PORT, value: "1"}, {name: HOST, value: x}]}
      - {name: two, env: [{name: HOST, value: x}]}
`,
    });
    const [replacement] = stages.flatMap(({ replacements }) => replacements);
    expect(replacement).toMatchObject({
      file: 'kustomization.yaml',
      field: 'replacements[0]',
      value: 'shop.example',
    });
    expect(replacement?.source?.path).toEqual(['data', 'host']);
    expect(
      replacement?.targets.map(({ resource, path, options }) => [
        currentId(resource).name,
        formatPointer(path),
        options,
      ]),
    ).toEqual([
      ['web', '/spec/template/spec/containers/0/env/1/value', { create: true }],
      ['web', '/spec/template/spec/containers/1/env/0/value', { create: true }],
      ['web', '/metadata/annotations/host', { create: true }],
      ['a', '/data/url', { delimiter: '/', index: 2 }],
    ]);
  });

  it('keeps the object before and after a stage, and what a stage removed', async () => {
    const { stages, text } = await trace({
      'kustomization.yaml':
        'resources: [a.yaml, b.yaml]\npatches:\n- patch: |-\n    apiVersion: v1\n    kind: ConfigMap\n    metadata: {name: a}\n    $patch: delete\n- target: {name: b}\n  patch: \'[{"op": "add", "path": "/data/more", "value": "1"}]\'\n',
      'a.yaml': configMap('a'),
      'b.yaml': configMap('b'),
    });
    const [remove, add] = stages.filter(({ field }) => field?.startsWith('patches'));
    expect(remove?.changes).toMatchObject([{ before: { metadata: { name: 'a' } } }]);
    expect(remove?.changes[0]?.after).toBeUndefined();
    expect(add?.changes).toMatchObject([
      { before: { data: { key: 'value' } }, after: { data: { more: '1' } } },
    ]);
    expect(remove?.resources.map(({ object }) => object['data'])).toEqual([{ key: 'value' }]);
    expect(text).toContain('more: "1"');
  });
});

describe('a build that cannot run programs', () => {
  const failure = (kustomization: string, files: Readonly<Record<string, string>> = {}) =>
    trace({ 'kustomization.yaml': kustomization, ...files }).then(
      () => 'no failure',
      (error: Error) => error.message,
    );

  it.each([
    ['resources: [https://example.com/a.yaml]', '"https://example.com/a.yaml" is remote'],
    ['resources: ["https://example.com/org/repo//dir?ref=v1"]', 'nothing can be fetched here'],
    ['helmCharts: [{name: web}]', 'charts are rendered by helm, which cannot run here'],
  ])('%s', async (text, message) => {
    expect(await failure(text)).toContain(message);
  });

  it('names the plugin', async () => {
    const plugin = 'apiVersion: example.com/v1\nkind: Sealer\nmetadata: {name: s}\n';
    expect(await failure('transformers: [p.yaml]', { 'p.yaml': plugin })).toContain(
      "Sealer of 'example.com' is a plugin, and no program can run here",
    );
  });
});
