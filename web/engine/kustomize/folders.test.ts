import { expect, it } from 'vitest';
import { buildFolders } from './folders.ts';

const files = (texts: Readonly<Record<string, string>>) =>
  Object.entries(texts).map(([name, text]) => ({ name, text }));

it('folders that no other kustomization uses come first; components and broken files are no reason to fail', () => {
  const folders = buildFolders(
    files({
      'base/kustomization.yaml': 'resources: [web.yaml]',
      'base/web.yaml': '',
      'part/kustomization.yml': 'kind: Component',
      'prod/Kustomization': 'resources: [../base/]\ncomponents: [../part]',
      'test/kustomization.yaml': 'resources: [../base',
      'kustomization.yaml': 'resources: [prod, 1, {a: b}]',
    }),
  );
  expect(folders).toEqual(['.', 'test', 'base', 'prod']);
});
