import type { Registry } from 'prom-client';
import { registerMetric } from './metric-family.ts';

type Series = readonly { readonly labels: Readonly<Record<string, string>>; readonly value: number }[];

/** Counters of a process that uses a cluster. */
export interface ClusterSource {
  /** Requests to the API server. */
  readonly queries: Series;
  /** Runs of controllers: all, failed ones that are repeated, and failed ones that are given up. */
  readonly reconciles: Series;
  readonly requeues: Series;
  readonly drops: Series;
  readonly droppedEvents: number;
}

/** Registers metrics with Kyverno's names. They are read from the source at each scrape. */
export function registerClusterMetrics(registry: Registry, read: () => ClusterSource): void {
  const counter = (name: string, help: string, seriesOf: (source: ClusterSource) => Series): void =>
    registerMetric({ name: `kyverno_${name}`, help, registry }, 'counter', () => seriesOf(read()));
  counter('client_queries_total', 'Requests to the API server.', ({ queries }) => queries);
  counter('controller_reconcile_total', 'Runs of controllers.', ({ reconciles }) => reconciles);
  counter(
    'controller_requeue_total',
    'Failed runs of controllers that are repeated, by the number of failures in a row.',
    ({ requeues }) => requeues,
  );
  counter('controller_drop_total', 'Items that controllers gave up.', ({ drops }) => drops);
  counter('events_dropped_total', 'Events dropped.', ({ droppedEvents }) => [
    { labels: {}, value: droppedEvents },
  ]);
}
