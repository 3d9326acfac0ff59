import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { configMap, deployment } from '../objects.ts';
import { suite } from '../suite.ts';

const program = fileURLToPath(new URL('../../bin/kymera', import.meta.url));

suite('kymera apply with objects of a cluster', ({ settings, kubectl, namespace, before, after }) => {
  const folder = mkdtempSync(join(tmpdir(), 'kymera-apply-'));
  const policyFile = join(folder, 'policy.yaml');
  const run = (...args: readonly string[]) =>
    spawnSync(
      process.execPath,
      [program, 'apply', policyFile, '-c', '--kubeconfig', settings.kubeconfig, ...args],
      {
        encoding: 'utf8',
        env: { ...process.env, NO_COLOR: '1' },
      },
    );

  before(async () => {
    writeFileSync(
      policyFile,
      JSON.stringify({
        apiVersion: 'kyverno.io/v1',
        kind: 'ClusterPolicy',
        metadata: { name: 'team-from-config' },
        spec: {
          rules: [
            {
              name: 'team',
              match: { any: [{ resources: { kinds: ['Deployment'], namespaces: [namespace] } }] },
              context: [{ name: 'owners', configMap: { name: 'owners', namespace } }],
              mutate: {
                patchStrategicMerge: { metadata: { labels: { team: '{{ owners.data.team }}' } } },
              },
            },
          ],
        },
      }),
    );
    await kubectl.sendOk('create', configMap('owners', { team: 'blue' }));
    await kubectl.sendOk('create', deployment('web'));
  });
  after(async () => rmSync(folder, { recursive: true, force: true }));

  it('shows how policies would change them, with context from the cluster, and changes nothing', async () => {
    const { stdout, stderr, status } = run('-n', namespace);
    expect(stderr).toBe('');
    expect(status).toBe(0);
    expect(stdout).toContain(`--- Deployment ${namespace}/web`);
    expect(stdout).toContain('+    team: blue');
    const stored = await kubectl.ok('get', 'deployment', 'web', '-o', 'json');
    expect(JSON.parse(stored).metadata.labels).toBeUndefined();
  });

  it('reads only context from the cluster when resources are named', () => {
    const file = join(folder, 'deployment.json');
    const object = deployment('other');
    writeFileSync(file, JSON.stringify({ ...object, metadata: { name: 'other', namespace } }));
    const { stdout } = run('-r', file);
    expect(stdout).toContain(`--- Deployment ${namespace}/other`);
    expect(stdout).toContain('+    team: blue');
    expect(stdout).not.toContain(`Deployment ${namespace}/web`);
  });
});
