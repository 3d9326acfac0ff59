import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { DataSource } from '../engine/context/data-source.ts';
import { type CelCompilers, loadCelCompilers } from '../policy/cel-documents.ts';
import { systemEnvironment } from '../system-environment.ts';
import { type ApiClient, createClient } from './api/client.ts';
import { ApiError, hasStatus, messageOf } from './api/cluster-error.ts';
import { createCoalescedTask } from './api/coalesced-task.ts';
import { findAccess } from './api/connect.ts';
import { type Discovery, startDiscovery } from './api/discovery.ts';
import { startKindRefresher } from './api/kind-refresher.ts';
import { defaultNamespace, managedLabels } from './api/names.ts';
import { resourceTypes } from './api/resource-path.ts';
import { createTransport, observeRequests } from './api/transport.ts';
import { createConfigMapCache } from './context/config-map-cache.ts';
import { callApi, createClusterDataSource } from './context/data-source.ts';
import type { GlobalContext } from './context/global-context.ts';
import { followGlobalContext } from './context/global-context-watcher.ts';
import { createOpenApiDocuments } from './context/openapi-documents.ts';
import { createEventSink, type EventSink } from './events/events.ts';
import { type FollowedObjects, followObjects } from './followed-objects.ts';
import { type ClusterMetrics, createClusterMetrics } from './metrics/cluster-metrics.ts';
import { createPolicyCatalog, type PolicyCatalog } from './policies/catalog.ts';
import { policyKinds } from './policies/kinds.ts';
import { type PolicyWatcher, startPolicyWatcher } from './policies/watcher.ts';
import {
  type ClusterLog,
  type ClusterOptions,
  generatesAdmissionPolicies,
  silentLog,
} from './settings/cluster-options.ts';

/** The cluster, and the identity of this process in it. */
export interface ClusterConnection {
  readonly client: ApiClient;
  readonly namespace: string;
  /** The unique name of this replica. */
  readonly identity: string;
  readonly discovery: Discovery;
  readonly cel: CelCompilers;
  readonly metrics: ClusterMetrics;
  readonly log: ClusterLog;
  /** Logs an error of a watch. */
  warn(what: string, error: unknown): void;
}

export type ObservationOptions = Omit<ClusterOptions, 'webhook'>;

export async function connectToCluster(options: ObservationOptions): Promise<ClusterConnection> {
  const log = options.log ?? silentLog;
  const access = await findAccess(options);
  const namespace = options.namespace ?? access.namespace ?? defaultNamespace;
  const metrics = createClusterMetrics(namespace);
  const client = createClient(observeRequests(createTransport(access), metrics.queried));
  await ensureNamespace(client, namespace);
  return {
    metrics,
    client,
    namespace,
    identity: options.identity ?? `${hostname()}-${randomBytes(4).toString('hex')}`,
    discovery: await startDiscovery(client),
    cel: await loadCelCompilers(),
    log,
    warn: (what, error) => log.warn({ what, reason: messageOf(error) }, 'cannot be watched'),
  };
}

export interface Observers {
  /** The reporting controller of events. */
  readonly eventSource: string;
  readonly onSettings?: ((problems: readonly string[]) => void) | undefined;
  readonly onPolicies: () => void;
  readonly onGlobalContext?: (() => void) | undefined;
}

/** What admission and the background controller both need: policies, settings, and the data that policies read. */
export interface ObservedCluster {
  readonly objects: FollowedObjects;
  readonly catalog: PolicyCatalog;
  readonly watcher: PolicyWatcher;
  readonly globalContext: GlobalContext;
  readonly dataSource: DataSource;
  readonly events: EventSink;
  /** Writes queued events and closes the connections. */
  stop(): Promise<void>;
}

export function observeCluster(
  { client, namespace, discovery, cel, metrics, log, warn }: ClusterConnection,
  options: ObservationOptions,
  { eventSource, onSettings, onPolicies, onGlobalContext }: Observers,
): ObservedCluster {
  const timing = options.timing?.informer;
  const followed = { onError: warn, timing };
  const kinds = startKindRefresher(discovery, {
    definitions: () => objects.definitions(),
    onError: (error) => warn('discovery', error),
    onEnd: metrics.endOf('discovery-controller'),
  });
  const openApi = createOpenApiDocuments(client);
  const objects = followObjects({
    client,
    namespace,
    configMap: options.configMap ?? 'kymera',
    request: options.request,
    onSettings: (problems) => onSettings?.(problems),
    onKinds() {
      kinds.soon();
      openApi.outdate();
    },
    ...followed,
  });
  const catalog = createPolicyCatalog({
    kinds: policyKinds,
    cel,
    exceptionNamespaces: options.exceptionNamespaces ?? [],
    forceIgnore: options.forceIgnore ?? false,
    limits: options.policyLimits,
    omitGenerated: generatesAdmissionPolicies(options),
  });
  const announce = createCoalescedTask(async () => onPolicies(), {
    delayMs: 50,
    onEnd: metrics.endOf('policycache-controller'),
  });
  const watcher = startPolicyWatcher({
    client,
    discovery,
    catalog,
    onChange: () => announce.trigger(),
    selector: options.policySelector,
    log,
    ...followed,
  });
  const calls = {
    allowedHosts: options.allowedHosts ?? [],
    namespacedHosts: options.namespacedHosts,
    timeoutMs: options.apiCallTimeoutMs ?? 30_000,
    maxBytes: options.maxApiCallBytes ?? 10_000_000,
  };
  const configMaps = createConfigMapCache(client);
  const globalContext = followGlobalContext({
    client,
    discovery,
    call: (query) => callApi(client, query, calls),
    environment: systemEnvironment,
    onChange: () => onGlobalContext?.(),
    onError: warn,
  });
  const events = createEventSink({
    client,
    source: eventSource,
    host: hostname(),
    maximumQueued: options.maximumQueuedEvents,
    onError: (error) => log.warn({ reason: messageOf(error) }, 'an event was not written'),
  });
  return {
    objects,
    catalog,
    watcher,
    globalContext,
    events,
    dataSource: createClusterDataSource({
      client,
      kinds: () => discovery.current(),
      namespaces: objects.namespaces,
      configMaps,
      globalContext,
      openApi,
      namespace,
      calls,
    }),
    async stop() {
      await events.stop();
      await Promise.all(
        [announce, kinds, objects, watcher, configMaps, globalContext].map((each) => each.stop()),
      );
      client.close();
    },
  };
}

/** Outside a cluster the namespace of the Lease and the Secrets may be missing. Inside it exists, and we may not be allowed to read it. */
async function ensureNamespace(client: ApiClient, name: string): Promise<void> {
  try {
    await client.get(resourceTypes.namespaces, { name });
  } catch (error) {
    if (!hasStatus(error, 404)) {
      if (hasStatus(error, 403)) return;
      throw error;
    }
    const metadata = { name, labels: { ...managedLabels } };
    try {
      await client.create(resourceTypes.namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata });
    } catch (createError) {
      if (!(createError instanceof ApiError) || createError.status !== 409) throw createError;
    }
  }
}
