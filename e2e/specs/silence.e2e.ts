import { expect, it } from 'vitest';
import { type ClusterServer, startClusterServer } from '../cluster-server.ts';
import { configMap, labelPolicy } from '../objects.ts';
import { applyPolicies, becomesTrue } from '../policies-in-force.ts';
import { type StallingProxy, startStallingProxy } from '../stalling-proxy.ts';
import { suite } from '../suite.ts';

suite('connections to the API server that fall silent', ({ settings, kubectl, namespace, before, after }) => {
  const policy = (value: string) =>
    labelPolicy('heard', 'ConfigMap', { heard: value }, { resources: { namespaces: [namespace] } });
  let proxy: StallingProxy;
  let server: ClusterServer;
  before(async () => {
    const address = new URL(
      JSON.parse(await kubectl.ok('config', 'view', '-o', 'json')).clusters[0].cluster.server,
    );
    proxy = await startStallingProxy(Number(address.port || 443), address.hostname);
    server = await startClusterServer(settings, { apiServerPort: proxy.port });
  });
  after(async () => {
    await kubectl.ok('delete', 'clusterpolicies.kyverno.io', 'heard', '--ignore-not-found');
    await server.uninstall();
    await proxy.close();
  });

  it('are noticed within a minute: changes in the meantime take effect, and no connection is left open', async () => {
    await applyPolicies(kubectl, [policy('before')]);
    const open = proxy.connections();
    proxy.stall();
    await kubectl.sendOk('apply', policy('after'));
    await becomesTrue(
      kubectl,
      'the change',
      configMap('probe'),
      ({ metadata }) => metadata.labels?.['heard'] === 'after',
    );
    // New connections replaced the silent ones.
    await expect.poll(() => proxy.connections()).toBeLessThanOrEqual(open + 4);
  });
});
