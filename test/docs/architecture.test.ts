import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { blocksOf, markdownPages, root } from './pages.testing.ts';

const pages = markdownPages();
const page = pages.find(({ path }) => path === 'docs/architecture.md') ?? { path: '', text: '' };
const src = join(root, 'src');

it.each([
  ['docs/architecture.md', 80],
  ['docs/security.md', 10],
])('%s names only paths that exist', (name, atLeast) => {
  const { text } = pages.find(({ path }) => path === name) ?? page;
  const named = [...text.replaceAll(/^```[\s\S]*?^```$/gm, '').matchAll(/`([\w./-]+)`/g)]
    .map(([, path = '']) => path)
    .filter((path) => /^(?:src|test|e2e)\//.test(path) || /\.(ts|mjs|cjs)$/.test(path));
  expect(named.length).toBeGreaterThan(atLeast);
  expect(named.filter((path) => !existsSync(join(src, path)) && !existsSync(join(root, path)))).toEqual([]);
});

describe('docs/architecture.md', () => {
  it('shows the tree as it is', () => {
    const tree = blocksOf(page).find(({ language }) => language === 'text')?.text ?? '';
    const shown = [...tree.matchAll(/^(\w+)\/.*?((?: [\w-]+\/)*)$/gm)].map(([, layer = '', rooms = '']) => [
      layer,
      rooms.split(/[ /]+/).filter(Boolean).sort(),
    ]);
    expect(Object.fromEntries(shown)).toEqual(
      Object.fromEntries(foldersIn(src).map((layer) => [layer, foldersIn(join(src, layer))])),
    );
  });
});

it('CONTRIBUTING.md lists the layers in their order', () => {
  const contributing = pages.find(({ path }) => path === 'CONTRIBUTING.md')?.text ?? '';
  const listed = /^`json` ← .*$/m.exec(contributing)?.[0].match(/\w+/g) ?? [];
  const tree = blocksOf(page).find(({ language }) => language === 'text')?.text ?? '';
  expect(listed).toEqual([...tree.matchAll(/^(\w+)\//gm)].map(([, layer]) => layer));
});

function foldersIn(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort();
}
