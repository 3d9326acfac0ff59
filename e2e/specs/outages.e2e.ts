import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { type ClusterServer, startClusterServer } from '../cluster-server.ts';
import { restartApiServer } from '../control-plane/start.ts';
import { startLoad } from '../load.ts';
import { configMap, labelPolicy } from '../objects.ts';
import { applyPolicies, becomesTrue, withPolicies } from '../policies-in-force.ts';
import { suite } from '../suite.ts';

suite('outages', ({ settings, kubectl, namespace, before, after }) => {
  let server: ClusterServer;
  before(async () => {
    server = await startClusterServer(settings, { replicas: 2 });
  });
  after(async () => server.uninstall());

  const resources = { namespaces: [namespace] };
  const policy = labelPolicy('labelled', 'ConfigMap', { seen: 'yes' }, { resources });

  it('of one replica of two are not noticed', async () => {
    await withPolicies(kubectl, [policy], async () => {
      await becomesTrue(
        kubectl,
        'both replicas',
        configMap('probe'),
        ({ metadata }) => metadata.labels?.['seen'] === 'yes',
      );
      const load = await startLoad(settings, { namespace, label: 'seen', width: 4 });
      await sleep(2_000);
      await server.kill(0);
      await sleep(6_000);
      const { count, problems } = await load.stop();
      expect(count).toBeGreaterThan(50);
      // Each connection to the killed replica breaks once, with a request or without.
      expect(problems.length, problems.join('\n')).toBeLessThanOrEqual(server.brokenConnections(0));
    });
  });

  it('of the leader: the other replica leads and makes new policies Ready', async () => {
    // The Lease of a leader that was killed runs out first.
    await applyPolicies(kubectl, [labelPolicy('after', 'ConfigMap', { after: 'yes' }, { resources })]);
    await becomesTrue(
      kubectl,
      'a policy made later',
      configMap('later'),
      ({ metadata }) => metadata.labels?.['after'] === 'yes',
    );
    await kubectl.ok('delete', 'clusterpolicies.kyverno.io', 'after');
  });

  it('of the API server are survived: changes in the meantime are seen', async (context) => {
    if (!settings.controlPlane) context.skip('only on a control plane of our own');
    await withPolicies(kubectl, [policy], async () => {
      await restartApiServer(settings.controlPlane ?? '', 1_000);
      await becomesTrue(
        kubectl,
        'the policy',
        configMap('restarted'),
        ({ metadata }) => metadata.labels?.['seen'] === 'yes',
      );
      const changed = labelPolicy('labelled', 'ConfigMap', { seen: 'after-restart' }, { resources });
      await kubectl.sendOk('apply', changed);
      await becomesTrue(
        kubectl,
        'a change',
        configMap('restarted'),
        ({ metadata }) => metadata.labels?.['seen'] === 'after-restart',
      );
    });
  });

  it('of all replicas deny requests that a Fail policy matches, and allow those of an Ignore policy', async () => {
    const ignored = labelPolicy(
      'ignored',
      'Secret',
      { seen: 'yes' },
      { resources, spec: { failurePolicy: 'Ignore' } },
    );
    await applyPolicies(kubectl, [policy, ignored]);
    await server.kill(1);
    const denied = await kubectl.send('create', configMap('denied'));
    expect(denied.code).toBe(1);
    expect(denied.stderr).toMatch(/failed calling webhook "[^"]*fail[^"]*"/);
    await kubectl.ok('create', 'secret', 'generic', 'passed');
    expect((await kubectl.get('secret', 'passed')).metadata.labels).toBeUndefined();
  });

  it('of all replicas lock nothing that a cluster needs to recover, even with a policy for every kind', async () => {
    await server.addReplica();
    await applyPolicies(kubectl, [labelPolicy('everything', '*', { seen: 'yes' })]);
    await server.kill(2);
    expect(await kubectl.send('create', configMap('held-up'))).toMatchObject({ code: 1 });
    const elsewhere = (where: string) => kubectl.with(`--namespace=${where}`);
    await elsewhere('kube-system').sendOk('create', configMap('of-the-system'));
    await elsewhere(server.namespace).sendOk('create', configMap('of-the-server'));
    await kubectl.sendOk('create', [
      { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'a-lease' }, spec: {} },
      { apiVersion: 'v1', kind: 'Node', metadata: { name: 'e2e-node' } },
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRole',
        metadata: { name: 'e2e-role' },
        rules: [],
      },
    ]);
    await kubectl.ok('delete', 'node/e2e-node', 'clusterrole/e2e-role');
    await kubectl.ok('delete', 'clusterpolicies.kyverno.io', 'everything');
  });

  it('end when a replica is back', async () => {
    await server.addReplica();
    await becomesTrue(
      kubectl,
      'the policy',
      configMap('back'),
      ({ metadata }) => metadata.labels?.['seen'] === 'yes',
    );
    await kubectl.ok('delete', 'clusterpolicies.kyverno.io', 'labelled', 'ignored');
  });
});
