import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { docsPages } from '../../scripts/docs-pages.ts';

const root = new URL('../../', import.meta.url);
const pages = await docsPages(fileURLToPath(root));

test.each([...pages])('%s is what `npm run docs` writes', (path, text) => {
  expect(readFileSync(new URL(path, root), 'utf8')).toBe(text);
});

test('the folder contains no other pages', () => {
  const written = [...pages.keys()]
    .filter((path) => path.startsWith('docs/reference/'))
    .map((path) => path.replace('docs/reference/', ''));
  expect(readdirSync(new URL('docs/reference/', root)).sort()).toEqual(written.sort());
});
