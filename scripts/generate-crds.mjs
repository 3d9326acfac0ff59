// Writes deploy/crds from the schemas in src/policy; with `--check` only says which files differ.
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
const folder = join(root, 'deploy', 'crds');

if (process.argv.includes('--check')) {
  const differing = differingCrds(folder);
  for (const name of differing) console.log(`deploy/crds/${name} is not what the schemas say`);
  process.exit(differing.length === 0 ? 0 : 1);
}
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
for (const [name, text] of renderCrds()) writeFileSync(join(folder, name), text);
