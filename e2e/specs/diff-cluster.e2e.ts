import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { configMap, deployment } from '../objects.ts';
import { suite } from '../suite.ts';

const program = fileURLToPath(new URL('../../bin/kymera', import.meta.url));

suite('kymera diff with a cluster', ({ settings, kubectl, namespace, before, after }) => {
  const folder = mkdtempSync(join(tmpdir(), 'kymera-diff-'));
  const diff = (replacements: object = {}) => {
    const kustomization = { resources: ['r.yaml'], namespace, ...replacements };
    writeFileSync(join(folder, 'kustomization.yaml'), JSON.stringify(kustomization));
    return spawnSync(
      process.execPath,
      [program, 'diff', folder, '--cluster', '--kubeconfig', settings.kubeconfig],
      { encoding: 'utf8', env: { ...process.env, NO_COLOR: '1' } },
    );
  };

  before(async () => {
    const objects = [deployment('web'), configMap('settings', { a: 'b' })];
    writeFileSync(join(folder, 'r.yaml'), objects.map((object) => JSON.stringify(object)).join('\n---\n'));
    for (const object of objects) await kubectl.sendOk('create', object);
  });
  after(async () => rmSync(folder, { recursive: true, force: true }));

  it('shows nothing where the cluster has what the build states', () => {
    const { stdout, stderr, status } = diff();
    expect({ stdout, stderr, status }).toEqual({ stdout: '', stderr: '', status: 0 });
  });

  it('shows what is new and what is changed, and ends with 1', () => {
    const { stdout, status } = diff({
      commonAnnotations: { note: 'new' },
      configMapGenerator: [{ name: 'more', literals: ['c=d'], options: { disableNameSuffixHash: true } }],
    });
    expect(status).toBe(1);
    expect(stdout).toContain(`--- cluster: Deployment (apps/v1) "web" in namespace "${namespace}"`);
    expect(stdout).toContain('+    note: new');
    expect(stdout).toContain('+  name: more');
    expect(stdout).not.toMatch(/^-(?!--)/m);
  });
});
