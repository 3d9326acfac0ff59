import type { Registry } from 'prom-client';
import { registerMetric } from './metric-family.ts';

type Series = readonly { readonly labels: Readonly<Record<string, string>>; readonly value: number }[];

/** The state of triggers and of background work. */
export interface BackgroundSource {
  triggers?(): { readonly waiting: number; readonly taken: Series };
  work?(): {
    readonly leads: boolean;
    readonly waiting: number;
    readonly running: number;
    readonly states: Readonly<Record<string, number>>;
    readonly namespace: string;
    readonly ended: Series;
    readonly targets: Series;
  };
}

/** Registers metrics that are read from the source at each scrape. */
export function registerBackgroundMetrics(registry: Registry, source: BackgroundSource): void {
  const metric = (
    name: string,
    help: string,
    type: 'counter' | 'gauge',
    read: () => Series | undefined,
  ): void => registerMetric({ name, help, registry }, type, () => read() ?? []);
  const one = (value: number | undefined): Series | undefined =>
    value === undefined ? undefined : [{ labels: {}, value }];
  metric(
    'kymera_triggers_total',
    'Background rules triggered by requests, by result.',
    'counter',
    () => source.triggers?.().taken,
  );
  metric('kymera_triggers_waiting', 'Triggers waiting in memory.', 'gauge', () =>
    one(source.triggers?.().waiting),
  );
  metric('kymera_update_requests', 'UpdateRequests by state.', 'gauge', () => {
    const states = source.work?.().states;
    return states && Object.entries(states).map(([state, value]) => ({ labels: { state }, value }));
  });
  metric('kyverno_updaterequest_total', 'UpdateRequests that exist.', 'gauge', () => {
    const work = source.work?.();
    return (
      work && [{ labels: { resource_namespace: work.namespace }, value: sum(Object.values(work.states)) }]
    );
  });
  metric(
    'kymera_update_requests_ended_total',
    'UpdateRequests run, by result.',
    'counter',
    () => source.work?.().ended,
  );
  metric(
    'kymera_background_targets_total',
    'Objects processed in the background, by result.',
    'counter',
    () => source.work?.().targets,
  );
  metric('kymera_background_queue', 'UpdateRequests waiting to run.', 'gauge', () =>
    one(source.work?.().waiting),
  );
  metric('kymera_background_running', 'UpdateRequests running.', 'gauge', () => one(source.work?.().running));
  metric('kymera_background_leader', 'Whether this process is the leader for background work.', 'gauge', () =>
    one(source.work === undefined ? undefined : Number(source.work().leads)),
  );
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
