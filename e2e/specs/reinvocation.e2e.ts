import { expect, it } from 'vitest';
import { type ClusterServer, startClusterServer } from '../cluster-server.ts';
import { documentedPolicy } from '../documented-policies.ts';
import { labelPolicy, pod } from '../objects.ts';
import { withPolicies } from '../policies-in-force.ts';
import { suite } from '../suite.ts';

suite('reinvocation', ({ settings, kubectl, before, after }) => {
  let server: ClusterServer;
  before(async () => {
    server = await startClusterServer(settings);
  });
  after(async () => server.uninstall());

  const insertContainer = documentedPolicy('seeds-003', 'b5').text;
  const label = labelPolicy('label-pods', 'Pod', { seen: 'yes' }, { spec: { failurePolicy: 'Ignore' } });

  it('does not insert a second container when another webhook changes the Pod after it', async () => {
    await withPolicies(kubectl, [insertContainer, label], async () => {
      const document = pod('once', {
        spec: { automountServiceAccountToken: false, containers: [{ name: 'main', image: 'a:1' }] },
      });
      const { stdout } = await kubectl.sendOk('create', document, '-o', 'json');
      const made = JSON.parse(stdout);
      expect(made.metadata.labels).toEqual({ seen: 'yes' });
      expect(made.spec.containers.map((container: { name: string }) => container.name)).toEqual([
        'main',
        'busybox',
      ]);
    });
  });

  it('is on for idempotent policies, and off for others, which have their own entries', async () => {
    await withPolicies(kubectl, [insertContainer, label], async () => {
      const configurations = await kubectl.list('mutatingwebhookconfigurations');
      const policies = configurations
        .flatMap(({ webhooks }) => webhooks as { reinvocationPolicy: string; failurePolicy: string }[])
        .map(({ reinvocationPolicy, failurePolicy }) => `${failurePolicy} ${reinvocationPolicy}`);
      expect(policies.toSorted()).toEqual(['Fail Never', 'Ignore IfNeeded']);
    });
  });
});
