import { basename } from 'node:path';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/json/value.ts';
import { build, configMap, failureOf, objectsOf, yaml } from './build-fixture.ts';

const service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 's' },
  spec: { path: '/a/nice/pie', ports: [{ name: 'http', port: 80 }] },
};
const withConfig = (config: JsonObject) => ({
  files: {
    'kustomization.yaml': JSON.stringify({ resources: ['r.yaml'], transformers: ['t.yaml'] }),
    'r.yaml': yaml(configMap('c'), service),
    't.yaml': yaml({
      apiVersion: 'builtin',
      kind: 'ValueAddTransformer',
      metadata: { name: 't' },
      ...config,
    }),
    'targets.yaml': 'targets: [{fieldPath: metadata/labels/shared}]\n',
  },
});
const onService = { kind: 'Service' };

test('creates fields of the selected resources, and sets namespaces', async () => {
  const targets = [
    { fieldPath: 'metadata/namespace' },
    { fieldPath: 'metadata/annotations/a\\/b', selector: onService },
    { fieldPath: 'spec/ports/0/name', selector: onService },
    { fieldPath: 'spec/ports/[port=80]/other', selector: onService },
  ];
  expect(await objectsOf(withConfig({ value: ' fruit ', targets }))).toMatchObject([
    { metadata: { name: 'c', namespace: 'fruit' } },
    {
      metadata: { namespace: 'fruit', annotations: { 'a/b': 'fruit' } },
      spec: { ports: [{ name: 'fruit', port: 80, other: 'fruit' }] },
    },
  ]);
});

test.each([
  [1, '/PEACH/a/nice/pie'],
  [3, '/a/nice/PEACH/pie'],
  [4, '/a/nice/pie/PEACH'],
  [99, '/a/nice/pie/PEACH'],
])('position %i of a file path', async (filePathPosition, path) => {
  const targets = [{ fieldPath: 'spec/path', filePathPosition, selector: onService }];
  expect((await objectsOf(withConfig({ value: 'PEACH', targets })))[1]).toMatchObject({ spec: { path } });
});

test('the value is the name of the folder by default, and targets may come from a file', async () => {
  const { folder, objects } = await build(withConfig({ targetFilePath: 'targets.yaml' }));
  expect(objects).toMatchObject([
    { metadata: { labels: { shared: basename(folder) } } },
    { metadata: { labels: { shared: basename(folder) } } },
  ]);
});

test.each<[string, JsonObject, string]>([
  ['no target', { value: 'x' }, 'there is no target'],
  ['no path', { value: 'x', targets: [{ selector: onService }] }, 'a target has no fieldPath'],
  ['a negative position', { value: 'x', targets: [{ fieldPath: 'a', filePathPosition: -1 }] }, 'is negative'],
  ['a list', { value: 'x', targets: [{ fieldPath: 'spec/ports', selector: onService }] }, 'is not a scalar'],
  [
    'a missing item',
    { value: 'x', targets: [{ fieldPath: 'spec/ports/7/name', selector: onService }] },
    'has no list item 7',
  ],
])('%s is an error', async (_, config, message) => {
  expect(await failureOf(withConfig(config))).toContain(message);
});
