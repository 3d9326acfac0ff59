import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/** Builds the page once. A build in each test file would replace the folder while another file serves it. */
export function setup(): void {
  const root = join(import.meta.dirname, '../..');
  const built = spawnSync('node', ['scripts/build-web.mjs', '--if-needed'], { cwd: root, encoding: 'utf8' });
  if (built.status !== 0) throw new Error(`the page cannot be built: ${built.stderr}`);
}
