import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { registerBackgroundMetrics } from './background-metrics.ts';
import { registerClusterMetrics } from './cluster-metrics.ts';

it('metrics of API requests and their results have the names of Kyverno', async () => {
  const registry = new Registry();
  const labels = {
    operation: 'list',
    client_type: 'kubeclient',
    resource_kind: 'Pod',
    resource_namespace: '',
  };
  let asked = 0;
  registerClusterMetrics(registry, () => ({
    queries: [{ labels, value: ++asked }],
    reconciles: [{ labels: { controller_name: 'webhook-controller' }, value: 3 }],
    requeues: [{ labels: { controller_name: 'webhook-controller', num_requeues: '1' }, value: 2 }],
    drops: [],
    droppedEvents: 4,
  }));
  const text = await registry.metrics();
  expect(text.split('\n').filter((line) => line !== '' && !line.startsWith('# HELP'))).toEqual([
    '# TYPE kyverno_client_queries_total counter',
    'kyverno_client_queries_total{operation="list",client_type="kubeclient",resource_kind="Pod",resource_namespace=""} 1',
    '# TYPE kyverno_controller_reconcile_total counter',
    'kyverno_controller_reconcile_total{controller_name="webhook-controller"} 3',
    '# TYPE kyverno_controller_requeue_total counter',
    'kyverno_controller_requeue_total{controller_name="webhook-controller",num_requeues="1"} 2',
    '# TYPE kyverno_controller_drop_total counter',
    '# TYPE kyverno_events_dropped_total counter',
    'kyverno_events_dropped_total 4',
  ]);
});

it('UpdateRequests are counted over all states', async () => {
  const registry = new Registry();
  const work = { leads: true, waiting: 0, running: 0, ended: [], targets: [], namespace: 'kymera' };
  registerBackgroundMetrics(registry, { work: () => ({ ...work, states: { Pending: 2, Failed: 1 } }) });
  expect(await registry.metrics()).toContain('kyverno_updaterequest_total{resource_namespace="kymera"} 3\n');
});
