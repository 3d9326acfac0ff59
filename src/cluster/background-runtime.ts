import type { Readiness } from '../admission/policy-provider.ts';
import { ownIdentity } from './background/identity.ts';
import { type BackgroundPart, startBackgroundPart } from './background/part.ts';
import { clusterReadiness } from './cluster-readiness.ts';
import type { ClusterMetricsReport } from './metrics/cluster-metrics.ts';
import { connectToCluster, observeCluster } from './observed-cluster.ts';
import type { BackgroundOptions, ClusterOptions } from './settings/cluster-options.ts';

/** The background controller without an admission server. */
export interface BackgroundRuntime {
  readonly background: BackgroundPart;
  readiness(): Readiness;
  /** For metrics. */
  metrics(): ClusterMetricsReport;
  stop(): Promise<void>;
}

export type BackgroundRuntimeOptions = Omit<ClusterOptions, 'webhook' | 'background'> & {
  readonly background: BackgroundOptions;
};

/** Resolves when the caches are synced. */
export async function startBackground(options: BackgroundRuntimeOptions): Promise<BackgroundRuntime> {
  const connection = await connectToCluster(options);
  let background: BackgroundPart | undefined;
  const observed = observeCluster(connection, options, {
    eventSource: 'kymera-background',
    onPolicies: () => background?.policiesChanged(),
  });
  const { objects, catalog, watcher, dataSource, events } = observed;
  const caches = clusterReadiness(() => new Map([...objects.informers, ...watcher.informers()]), undefined);

  async function stop(): Promise<void> {
    await background?.stop();
    await observed.stop();
  }

  try {
    await caches.whenReady();
  } catch (error) {
    await stop();
    throw error;
  }
  const started = startBackgroundPart({
    ...connection,
    catalog,
    dataSource,
    settings: objects.settings,
    events,
    policiesKnown: () => caches.whenReady(),
    user: () => ownIdentity(connection.client),
    ...options.background,
    ...(options.omitEvents === undefined ? {} : { omitEvents: options.omitEvents }),
    ...(options.timing?.lease === undefined ? {} : { lease: options.timing.lease }),
    ...(options.timing?.informer === undefined ? {} : { timing: options.timing.informer }),
  });
  background = started;
  return {
    background: started,
    readiness() {
      const { ready, checks } = caches();
      const isSynced = started.hasSynced();
      const detail = isSynced ? (started.isLeader() ? 'leader' : 'standby') : 'not listed yet';
      return {
        ready: ready && isSynced,
        checks: [...checks, { name: 'update requests', ok: isSynced, detail }],
      };
    },
    metrics: () => connection.metrics.report(connection.discovery.current(), events.dropped()),
    stop,
  };
}
