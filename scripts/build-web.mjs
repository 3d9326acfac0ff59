// `npm run build:web`: builds the playground into dist/web, a static folder for any web server and any path.
// `--if-needed` does nothing when it is up to date.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { ensureInstalled, isMain, isWebBuilt, markWebBuilt, root } from './setup.mjs';

export async function buildWeb() {
  const startedAt = new Date();
  rmSync(join(root, 'dist', '.built-web'), { force: true });
  const { build } = await import('vite');
  const { NODE_ENV } = process.env;
  // With another value, such as that of tests, the page would have development code.
  process.env.NODE_ENV = 'production';
  await build({ configFile: join(root, 'web', 'vite.config.ts'), logLevel: 'warn' });
  // Tests and npm would inherit it.
  if (NODE_ENV === undefined) delete process.env.NODE_ENV;
  else process.env.NODE_ENV = NODE_ENV;
  markWebBuilt(startedAt);
}

if (isMain(import.meta.url)) {
  ensureInstalled();
  if (!process.argv.includes('--if-needed') || !isWebBuilt()) await buildWeb();
}
