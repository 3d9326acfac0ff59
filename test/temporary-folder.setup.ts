import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

const prefix = 'kymera-tests-';

/** Gives the tests of a run one folder for their temporary files, and removes it when the run ends. */
export function setup(): (() => void) | undefined {
  // Each project calls this. One folder is enough, and the paths of sockets must be short.
  if (basename(tmpdir()).startsWith(prefix)) return undefined;
  const folder = mkdtempSync(join(tmpdir(), prefix));
  // Some tests act as another user.
  chmodSync(folder, 0o755);
  process.env.TMPDIR = folder;
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}
