import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'kymera-path-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** With nothing to be found on the path but what a test puts there. */
function start() {
  const { status, stderr } = spawnSync(process.execPath, ['e2e/kind/run.mjs'], {
    encoding: 'utf8',
    env: { PATH: folder, HOME: folder },
  });
  return { status, stderr };
}

describe('npm run e2e:kind', () => {
  it('says what is missing, and ends with 2', () => {
    const { status, stderr } = start();
    expect(status).toBe(2);
    for (const name of ['docker:', 'kind:', 'kubectl:']) expect(stderr).toContain(name);
  });

  it('does not miss what is there', () => {
    const program = join(folder, 'kubectl');
    writeFileSync(program, '#!/bin/sh\nexit 0\n');
    chmodSync(program, 0o755);
    const { status, stderr } = start();
    expect(status).toBe(2);
    expect(stderr).toContain('docker:');
    expect(stderr).not.toContain('kubectl:');
  });
});
