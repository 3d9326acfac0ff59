import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { blocksOf, markdownPages, root } from './pages.testing.ts';

const pages = markdownPages();
const page = pages.find(({ path }) => path === 'docs/architecture.md') ?? { path: '', text: '' };
const src = join(root, 'src');

describe('docs/architecture.md', () => {
  it('names only paths that exist', () => {
    const named = [...page.text.replaceAll(/^```[\s\S]*?^```$/gm, '').matchAll(/`([\w./-]+)`/g)]
      .map(([, path = '']) => path)
      .filter((path) => /^[\w.-].*\//.test(path) || /\.(ts|mjs|cjs)$/.test(path));
    expect(named.length).toBeGreaterThan(80);
    expect(named.filter((path) => !existsSync(join(src, path)) && !existsSync(join(root, path)))).toEqual([]);
  });

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
