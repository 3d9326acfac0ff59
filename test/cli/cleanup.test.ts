import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { kymera } from './in-process.testing.ts';

/** Nobody listens there. */
const kubeconfig = join(mkdtempSync(join(tmpdir(), 'kymera-cleanup-')), 'nowhere.yaml');
writeFileSync(
  kubeconfig,
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'nowhere',
    contexts: [{ name: 'nowhere', context: { cluster: 'nowhere', user: 'nobody' } }],
    clusters: [{ name: 'nowhere', cluster: { server: 'https://127.0.0.1:9' } }],
    users: [{ name: 'nobody', user: {} }],
  }),
);
const cleanup = ['cleanup', '--kubeconfig', kubeconfig, '--scale-down', 'one', 'two', '--timeout', '1'];

describe('kymera cleanup', () => {
  it('fails where the cluster cannot be reached', async () => {
    const { exitCode, stderr } = await kymera(cleanup);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('KYM_CLUSTER');
  });

  it('continues after a failed step with --best-effort and exits with 0', async () => {
    const { exitCode, stdout, stderr } = await kymera([...cleanup, '--all', '--best-effort']);
    expect(exitCode).toBe(0);
    expect(stdout).toBe('nothing to remove\n');
    const complaints = stderr.trimEnd().split('\n');
    expect(complaints.length).toBeGreaterThan(4);
    for (const line of complaints) expect(line).toMatch(/^failed: .*127\.0\.0\.1/);
  });

  it('wants a number of seconds', async () => {
    expect((await kymera(['cleanup', '--timeout', 'long'])).stderr).toContain('not a number of seconds');
  });
});
