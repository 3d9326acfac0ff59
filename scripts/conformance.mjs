// `npm run conformance`: bundles the conformance runner from the current sources and runs it.
import { ensureInstalled, root, run } from './setup.mjs';

ensureInstalled();
const { build } = await import('esbuild');
const outfile = '.cache/conformance/main.mjs';
await build({
  absWorkingDir: root,
  entryPoints: ['test/conformance/main.ts'],
  outfile,
  bundle: true,
  packages: 'external',
  format: 'esm',
  platform: 'node',
  target: 'node20',
  sourcemap: 'inline',
  logLevel: 'warning',
});
run('node', ['--enable-source-maps', outfile]);
