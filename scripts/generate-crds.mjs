// Writes deploy/crds and its copy in the chart from the schemas in src/policy. `--check` only reports which files differ.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureInstalled, root } from './setup.mjs';

ensureInstalled();
const { build } = await import('esbuild');
const outfile = join(root, 'node_modules', '.cache', 'generate-crds.mjs');
await build({
  absWorkingDir: root,
  entryPoints: ['scripts/generate-crds.ts'],
  bundle: true,
  platform: 'node',
  format: 'esm',
  packages: 'external',
  outfile,
});
const { differingCrds, renderCrds } = await import(outfile);
const folders = ['deploy/crds', 'charts/kymera/files/crds'];

if (process.argv.includes('--check')) {
  const differing = folders.flatMap((folder) =>
    differingCrds(join(root, folder)).map((name) => `${folder}/${name}`),
  );
  for (const path of differing) console.log(`${path} differs from the schemas`);
  process.exit(differing.length === 0 ? 0 : 1);
}
const crds = renderCrds();
for (const folder of folders) {
  rmSync(join(root, folder), { recursive: true, force: true });
  mkdirSync(join(root, folder), { recursive: true });
  for (const [name, text] of crds) writeFileSync(join(root, folder, name), text);
}
