import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { kymera } from '../kymera.ts';
import { configMap } from '../objects.ts';
import { suite } from '../suite.ts';

suite('kymera existing with objects of a cluster', ({ settings, kubectl, namespace, before, after }) => {
  const folder = mkdtempSync(join(tmpdir(), 'kymera-existing-'));
  const policyFile = join(folder, 'policy.yaml');
  const access = ['--cluster', '--kubeconfig', settings.kubeconfig];
  const existing = (command: 'plan' | 'apply', ...args: string[]) =>
    kymera('existing', command, policyFile, ...access, '-n', namespace, '--no-color', ...args);
  const stored = async (name: string) =>
    JSON.parse(
      (await kubectl.ok('get', 'configmap', name, '-o', 'json', '--ignore-not-found')) || 'null',
    ) as {
      metadata: { labels?: Record<string, string>; managedFields?: { manager: string }[] };
      data: Record<string, string>;
    } | null;
  const match = {
    any: [{ resources: { kinds: ['ConfigMap'], names: ['settings'], namespaces: [namespace] } }],
  };

  before(async () => {
    writeFileSync(
      policyFile,
      JSON.stringify({
        apiVersion: 'kyverno.io/v1',
        kind: 'ClusterPolicy',
        metadata: { name: 'existing-cluster' },
        spec: {
          rules: [
            {
              name: 'mark',
              match,
              mutate: {
                targets: [
                  {
                    apiVersion: 'v1',
                    kind: 'ConfigMap',
                    namespace,
                    selector: { matchLabels: { uses: 'settings' } },
                  },
                ],
                patchStrategicMerge: {
                  metadata: { labels: { version: '{{ request.object.data.version }}' } },
                },
              },
            },
            {
              name: 'make',
              match,
              generate: {
                generateExisting: true,
                synchronize: true,
                apiVersion: 'v1',
                kind: 'ConfigMap',
                name: 'made',
                namespace,
                data: { data: { from: '{{ request.object.metadata.name }}' } },
              },
            },
          ],
        },
      }),
    );
    await kubectl.sendOk('create', configMap('settings', { version: 'v7' }));
    await kubectl.sendOk('create', configMap('one', {}, { uses: 'settings' }));
    await kubectl.sendOk('create', configMap('other'));
  });
  after(async () => rmSync(folder, { recursive: true, force: true }));

  it('plan shows what would change, and changes nothing', async () => {
    const { stdout, stderr, code } = await existing('plan');
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
    expect(stdout).toContain(`+++ ConfigMap ${namespace}/one (existing-cluster/mark)`);
    expect(stdout).toContain('+    version: v7');
    expect(stdout).toContain('+  from: settings');
    expect(stdout).toContain('1 trigger; objects: 1 changed, 1 created, 0 deleted; 0 failed');
    expect((await stored('one'))?.metadata.labels).toEqual({ uses: 'settings' });
    expect(await stored('made')).toBeNull();
  });

  it('apply does it, and then there is nothing left to do', async () => {
    expect((await existing('apply')).code).toBe(0);
    expect((await stored('one'))?.metadata.labels).toEqual({ uses: 'settings', version: 'v7' });
    expect((await stored('other'))?.metadata.labels).toBeUndefined();
    const made = await stored('made');
    expect(made?.data).toEqual({ from: 'settings' });
    expect(made?.metadata.labels).toMatchObject({ 'generate.kyverno.io/policy-name': 'existing-cluster' });
    expect((await existing('plan')).stdout).toBe(
      '1 trigger; objects: 0 changed, 0 created, 0 deleted; 0 failed\n',
    );
  });

  it('rbac knows the names of the resources', async () => {
    const { stdout, code } = await kymera('rbac', policyFile, ...access);
    expect(code).toBe(0);
    expect(stdout).toContain('- configmaps');
  });
});
