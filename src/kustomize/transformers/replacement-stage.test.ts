import { expect, it } from 'vitest';
import { build } from '../build.ts';
import { memoryFiles } from '../kustomization/memory-files.ts';

const options = { enablePlugins: false, enableExec: false, unrestricted: false, environment: {} };

function buildOf(kustomization: object) {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { key: 'value' } };
  const files = memoryFiles(
    new Map([
      ['/kustomization.yaml', JSON.stringify({ resources: ['a.yaml'], ...kustomization })],
      ['/a.yaml', JSON.stringify(object)],
    ]),
  );
  return build({ folder: '/', name: '.' }, { ...options, files, warn: () => {}, show: () => {} });
}

const doubling = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    source: { kind: 'ConfigMap', name: 'a', fieldPath: 'data' },
    targets: [
      { select: { kind: 'ConfigMap' }, fieldPaths: [`data.copy-${index}`], options: { create: true } },
    ],
  }));

it('replacements that double a resource many times end with an error', async () => {
  expect(await buildOf({ replacements: doubling(3) })).toHaveLength(1);
  await expect(buildOf({ replacements: doubling(60) })).rejects.toThrow(
    'the value to copy has more data than any resource may have',
  );
});

it('a JSON patch that doubles a resource many times ends with an error', async () => {
  const operations = Array.from({ length: 60 }, (_, index) => ({
    op: 'copy',
    from: '/data',
    path: `/data/copy-${index}`,
  }));
  const patches = [{ target: { kind: 'ConfigMap' }, patch: JSON.stringify(operations) }];
  await expect(buildOf({ patches })).rejects.toThrow(
    /operation \[\d+\] copy \/data\/copy-\d+: the value to copy/,
  );
});
