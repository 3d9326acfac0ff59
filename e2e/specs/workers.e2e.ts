import { expect, it } from 'vitest';
import { type ClusterServer, startClusterServer } from '../cluster-server.ts';
import { startLoad } from '../load.ts';
import { configMap, labelPolicy } from '../objects.ts';
import { applyPolicies, becomesTrue } from '../policies-in-force.ts';
import { suite } from '../suite.ts';
import { waitFor } from '../wait-for.ts';

suite('workers of one server', ({ settings, kubectl, namespace, before, after }) => {
  const policy = (value: string) =>
    labelPolicy('shared', 'ConfigMap', { seen: value }, { resources: { namespaces: [namespace] } });
  const told = (message: string) =>
    server
      .output(0)
      .split('\n')
      .filter((line) => line.includes(`"msg":"${message}"`)).length;
  let server: ClusterServer;
  before(async () => {
    server = await startClusterServer(settings, { args: ['--workers', '2'] });
    await applyPolicies(kubectl, [policy('yes')]);
  });
  after(async () => {
    await kubectl.ok('delete', 'clusterpolicies.kyverno.io', 'shared', '--ignore-not-found');
    await server.uninstall();
  });

  it('are replicas that share a port: all answer, and one leads', async () => {
    await waitFor(() => told('serving') === 2, { what: 'two workers' });
    expect(told('became the leader')).toBe(1);
    const load = await startLoad(settings, { namespace, label: 'seen' });
    const { count, problems } = await load.stop();
    expect(problems).toEqual([]);
    expect(count).toBeGreaterThan(50);
  });

  it('all see a change', async () => {
    await kubectl.sendOk('apply', policy('changed'));
    for (let asked = 0; asked < 6; asked += 1) {
      await becomesTrue(
        kubectl,
        'the change',
        configMap(`asked-${asked}`),
        ({ metadata }) => metadata.labels?.['seen'] === 'changed',
      );
    }
  });

  it('stop together, and the last one removes the webhook configurations', async () => {
    await server.stop();
    expect(told('stopped')).toBe(2);
    expect(await kubectl.list('mutatingwebhookconfigurations')).toEqual([]);
  });
});
