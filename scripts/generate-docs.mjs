// `npm run docs`: writes the generated pages of docs/ and schemas/ from the sources.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureInstalled, root } from './setup.mjs';

ensureInstalled();
const { build } = await import('esbuild');
const outfile = join(root, '.cache/docs/pages.mjs');
await build({
  absWorkingDir: root,
  entryPoints: ['scripts/docs-pages.ts'],
  outfile,
  bundle: true,
  packages: 'external',
  format: 'esm',
  platform: 'node',
  target: 'node20',
  logLevel: 'warning',
});
const { docsPages } = await import(pathToFileURL(outfile).href);
for (const [path, text] of await docsPages(root)) {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
  console.log(`wrote ${path}`);
}
