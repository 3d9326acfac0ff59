import type { Registry } from 'prom-client';
import { registerMetric } from './metric-family.ts';

type Series = readonly { readonly labels: Readonly<Record<string, string>>; readonly value: number }[];

/** What a process tells of its dealings with a cluster. */
export interface ClusterSource {
  /** Queries of the API server. */
  readonly queries: Series;
  /** Runs of controllers; those that failed and are repeated; those that failed for good. */
  readonly reconciles: Series;
  readonly requeues: Series;
  readonly drops: Series;
  readonly droppedEvents: number;
}

/** Kyverno's names. Figures are asked for when the metrics are. */
export function registerClusterMetrics(registry: Registry, read: () => ClusterSource): void {
  const counter = (name: string, help: string, seriesOf: (source: ClusterSource) => Series): void =>
    registerMetric({ name: `kyverno_${name}`, help, registry }, 'counter', () => seriesOf(read()));
  counter('client_queries_total', 'Queries of the API server.', ({ queries }) => queries);
  counter('controller_reconcile_total', 'Runs of controllers.', ({ reconciles }) => reconciles);
  counter(
    'controller_requeue_total',
    'Runs of controllers that failed and are repeated, by how many failed in a row.',
    ({ requeues }) => requeues,
  );
  counter('controller_drop_total', 'Work that controllers gave up.', ({ drops }) => drops);
  counter('events_dropped_total', 'Events that were not written.', ({ droppedEvents }) => [
    { labels: {}, value: droppedEvents },
  ]);
}
