import { expect, it } from 'vitest';
import { createCoalescedTask } from '../api/coalesced-task.ts';
import { createKindTable } from '../api/discovery.ts';
import { createClusterMetrics } from './cluster-metrics.ts';

const none = createKindTable([]);
const textOf = (metrics: readonly { labels: Readonly<Record<string, string>>; value: number }[]) =>
  metrics.map(({ labels, value }) => `${Object.values(labels).join(' ')}: ${value}`);

it('runs of a controller are counted, and those that are repeated by how many failed in a row', () => {
  const metrics = createClusterMetrics('kymera');
  const end = metrics.endOf('webhook-controller');
  for (const failures of [1, 2, 0, 1]) end(failures);
  for (const failures of [10, 11, 500]) end(failures);
  metrics.gaveUp('update-request-controller');
  const { reconciles, requeues, drops } = metrics.report(none, 0);
  expect(textOf(reconciles)).toEqual(['webhook-controller: 7', 'update-request-controller: 1']);
  expect(textOf(requeues)).toEqual([
    'webhook-controller 1: 2',
    'webhook-controller 2: 1',
    // Who tries for ever needs no label for each time.
    'webhook-controller 10: 3',
  ]);
  expect(textOf(drops)).toEqual(['update-request-controller: 1']);
});

it('a task that is repeated until it succeeds reports each attempt', async () => {
  const metrics = createClusterMetrics('kymera');
  let left = 2;
  const task = createCoalescedTask(
    async () => {
      if (left-- > 0) throw new Error('not yet');
    },
    { delayMs: 0, backOff: { firstMs: 1, lastMs: 1 }, onEnd: metrics.endOf('certmanager-controller') },
  );
  task.trigger();
  await task.idle();
  const { reconciles, requeues } = metrics.report(none, 0);
  expect(textOf(reconciles)).toEqual(['certmanager-controller: 3']);
  expect(textOf(requeues)).toEqual(['certmanager-controller 1: 1', 'certmanager-controller 2: 1']);
});
