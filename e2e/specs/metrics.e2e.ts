import { expect, it } from 'vitest';
import { type Background, becomes, startInBackground } from '../background.ts';
import { configMap, labelPolicy, mergePolicy } from '../objects.ts';
import { withPolicies } from '../policies-in-force.ts';
import { servedText } from '../served-text.ts';
import { suite } from '../suite.ts';
import { waitFor } from '../wait-for.ts';

suite('metrics', ({ settings, kubectl, namespace, before, after }) => {
  let background: Background;
  before(async () => {
    background = await startInBackground(settings);
  });
  after(async () => background.uninstall());

  const ofServer = () => {
    const [port = 0] = background.server.ports();
    return servedText(background.server.host, port, '/metrics');
  };
  const queries = (text: string, operation: string, client: string, kind: string, where = '') =>
    figure(
      text,
      'kyverno_client_queries_total',
      `operation="${operation}",client_type="${client}",resource_kind="${kind}",resource_namespace="${where}"`,
    );
  const runs = (text: string, controller: string) =>
    figure(text, 'kyverno_controller_reconcile_total', `controller_name="${controller}"`);

  it('count the queries to the API server and the runs of controllers', async () => {
    const earlier = await ofServer();
    const resources = { namespaces: [namespace] };
    await withPolicies(
      kubectl,
      [labelPolicy('counted', 'ConfigMap', { seen: 'yes' }, { resources })],
      async () => {
        await kubectl.sendOk('create', configMap('counted'));
        const later = await ofServer();
        for (const kind of ['ClusterPolicy', 'Policy', 'PolicyException'])
          expect(queries(later, 'watch', 'kyverno', kind), kind).toBeGreaterThan(0);
        expect(queries(later, 'watch', 'kubeclient', 'RoleBinding')).toBeGreaterThan(0);
        expect(queries(later, 'list', 'metadata', 'CustomResourceDefinition')).toBeGreaterThan(0);
        expect(queries(later, 'get', 'kubeclient', 'Discovery')).toBeGreaterThan(0);
        const written = (text: string) =>
          queries(text, 'update', 'kubeclient', 'MutatingWebhookConfiguration');
        const made = (text: string) => queries(text, 'create', 'kubeclient', 'MutatingWebhookConfiguration');
        expect(written(later) + made(later)).toBeGreaterThan(written(earlier) + made(earlier));
        expect(queries(later, 'update_status', 'kyverno', 'ClusterPolicy')).toBeGreaterThan(
          queries(earlier, 'update_status', 'kyverno', 'ClusterPolicy'),
        );
        for (const controller of ['webhook-controller', 'policycache-controller', 'policy-status-controller'])
          expect(runs(later, controller), controller).toBeGreaterThan(runs(earlier, controller));
        expect(runs(later, 'certmanager-controller')).toBeGreaterThan(0);
        expect(figure(later, 'kyverno_events_dropped_total')).toBe(0);
        expect(later).toMatch(/^kyverno_info\{version="[^"]+"\} 1$/m);
        // The leader renews its Lease.
        await waitFor(
          async () => {
            const lease = (text: string) =>
              queries(text, 'update', 'kubeclient', 'Lease', background.server.namespace);
            return lease(await ofServer()) > lease(later);
          },
          { what: 'the Lease to be renewed' },
        );
        // Names of namespaces come from whoever makes them.
        expect(later.split('\n').filter((line) => /^kyverno_client.*e2e-/.test(line))).toEqual([]);
      },
    );
  });

  it('count the work of the background controller', async () => {
    const policy = mergePolicy(
      'counted-target',
      'ConfigMap',
      {},
      {
        resources: { namespaces: [namespace], names: ['trigger'] },
        rule: {
          mutate: {
            targets: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'target', namespace }],
            patchStrategicMerge: { metadata: { labels: { reached: 'yes' } } },
          },
        },
      },
    );
    await kubectl.sendOk('create', configMap('target'));
    await withPolicies(kubectl, [policy], async () => {
      await kubectl.sendOk('create', configMap('trigger'));
      await becomes(kubectl, 'configmap', 'target', ({ metadata }) => metadata.labels?.['reached'] === 'yes');
      await background.settled();
      const text = await background.worker.metrics();
      expect(runs(text, 'update-request-controller')).toBeGreaterThan(0);
      expect(runs(text, 'policy-update-controller')).toBeGreaterThan(0);
      expect(queries(text, 'patch', 'kubeclient', 'ConfigMap')).toBeGreaterThan(0);
      expect(
        figure(text, 'kyverno_updaterequest_total', `resource_namespace="${background.server.namespace}"`),
      ).toBeGreaterThan(0);
      expect(
        queries(await ofServer(), 'create', 'kyverno', 'UpdateRequest', background.server.namespace),
      ).toBeGreaterThan(0);
    });
  });
});

function figure(text: string, name: string, labels?: string): number {
  const start = labels === undefined ? `${name} ` : `${name}{${labels}} `;
  return Number(
    text
      .split('\n')
      .find((line) => line.startsWith(start))
      ?.slice(start.length) ?? 0,
  );
}
