import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'kymera-path-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the script with a PATH that contains only the programs of this test. */
function start() {
  const { status, stderr } = spawnSync(process.execPath, ['e2e/kind/run.mjs'], {
    encoding: 'utf8',
    env: { PATH: folder, HOME: folder },
  });
  return { status, stderr };
}

describe('npm run e2e:kind', () => {
  it('reports missing programs and exits with 2', () => {
    const { status, stderr } = start();
    expect(status).toBe(2);
    for (const name of ['docker:', 'kind:', 'kubectl:']) expect(stderr).toContain(name);
  });

  it('finds programs on the PATH', () => {
    const program = join(folder, 'kubectl');
    writeFileSync(program, '#!/bin/sh\nexit 0\n');
    chmodSync(program, 0o755);
    const { status, stderr } = start();
    expect(status).toBe(2);
    expect(stderr).toContain('docker:');
    expect(stderr).not.toContain('kubectl:');
  });
});
