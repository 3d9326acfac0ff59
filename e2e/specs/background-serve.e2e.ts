import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { becomes } from '../background.ts';
import { freePorts } from '../control-plane/processes.ts';
import { installCustomResources } from '../custom-resources.ts';
import { kymera } from '../kymera.ts';
import { configMap, mergePolicy } from '../objects.ts';
import { withPolicies } from '../policies-in-force.ts';
import { type ServerProcess, startServerProcess } from '../server-process.ts';
import { suite } from '../suite.ts';

suite('kymera serve --background', ({ settings, kubectl, namespace, before, after }) => {
  let server: ServerProcess;
  before(async () => {
    await installCustomResources(kubectl);
    const folder = mkdtempSync(join(settings.controlPlane ?? tmpdir(), 'both-'));
    const [port = 0] = await freePorts(1);
    server = await startServerProcess({
      host: settings.host,
      port,
      // As the user of kubectl: only the field manager distinguishes them.
      args: [
        '--kubeconfig',
        settings.kubeconfig,
        '--webhook-url',
        `https://${settings.host}:${port}`,
        '--background',
      ],
      logFile: join(folder, 'server.log'),
    });
  });
  after(async () => {
    await server.stop();
    await kubectl.run(['delete', 'updaterequests', '--all', '--namespace=kymera', '--wait=false']);
    await kymera('cleanup', '--all', '--kubeconfig', settings.kubeconfig);
  });

  it('runs rules for a user with the same name, and not for itself', async () => {
    await kubectl.sendOk('create', [configMap('first', { n: '0' }), configMap('second', { n: '0' })]);
    // Each writes to the other, which would never end if its own requests counted.
    const follow = (from: string, to: string) =>
      mergePolicy(
        `from-${from}`,
        'ConfigMap',
        {},
        {
          resources: { namespaces: [namespace], names: [from] },
          rule: {
            mutate: {
              targets: [{ apiVersion: 'v1', kind: 'ConfigMap', name: to, namespace }],
              patchStrategicMerge: {
                data: {
                  [`from-${from}`]:
                    '{{ request.object.data.n }}-{{ request.object.metadata.resourceVersion }}',
                },
              },
            },
          },
        },
      );
    await withPolicies(kubectl, [follow('first', 'second'), follow('second', 'first')], async () => {
      await kubectl.ok('patch', 'configmap', 'first', '-p', '{"data":{"n":"1"}}');
      const second = await becomes(kubectl, 'configmap', 'second', ({ data }) =>
        data['from-first']?.startsWith('1-'),
      );
      await sleep(1_500);
      expect((await kubectl.get('configmap', 'second')).metadata.resourceVersion).toBe(
        second.metadata.resourceVersion,
      );
      expect((await kubectl.get('configmap', 'first'))['data']['from-second']).toBeUndefined();
      const managers = JSON.parse(
        await kubectl.ok('get', 'configmap', 'second', '-o', 'json', '--show-managed-fields'),
      ).metadata.managedFields.map(({ manager }: { manager: string }) => manager);
      expect(managers).toContain('kymera-background');
    });
  });
});
