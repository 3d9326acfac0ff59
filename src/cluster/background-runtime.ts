import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { Readiness } from '../admission/policy-provider.ts';
import { ownIdentity } from './background-identity.ts';
import { type BackgroundPart, startBackgroundPart } from './background-part.ts';
import { messageOf } from './cluster-error.ts';
import { type BackgroundOptions, type ClusterOptions, silentLog } from './cluster-options.ts';
import { clusterReadiness } from './cluster-readiness.ts';
import { createCoalescedTask } from './coalesced-task.ts';
import { connect } from './connect.ts';
import { callApi, createClusterDataSource } from './data-source.ts';
import { startDiscovery } from './discovery.ts';
import { createEventSink } from './events.ts';
import { followObjects } from './followed-objects.ts';
import { followGlobalContext } from './global-context-watcher.ts';
import { startKindRefresher } from './kind-refresher.ts';
import { createConfigMapCache } from './object-cache.ts';
import { ensureNamespace } from './own-namespace.ts';
import { createPolicyCatalog } from './policy-catalog.ts';
import { policyKinds } from './policy-kinds.ts';
import { policySelection } from './policy-selection.ts';
import { startPolicyWatcher } from './policy-watcher.ts';
import { defaultNamespace } from './webhook-names.ts';

/** The work in the background on its own, without a server of admission reviews. */
export interface BackgroundRuntime {
  readonly background: BackgroundPart;
  readiness(): Readiness;
  droppedEvents(): number;
  stop(): Promise<void>;
}

export type BackgroundRuntimeOptions = Omit<ClusterOptions, 'webhook' | 'background'> & {
  readonly background: BackgroundOptions;
};

/** Resolves when policies and what they read are known. */
export async function startBackground(options: BackgroundRuntimeOptions): Promise<BackgroundRuntime> {
  const log = options.log ?? silentLog;
  const { client, access } = await connect(options);
  const namespace = options.namespace ?? access.namespace ?? defaultNamespace;
  const identity = options.identity ?? `${hostname()}-${randomBytes(4).toString('hex')}`;
  await ensureNamespace(client, namespace);
  const discovery = await startDiscovery(client);
  const warn = (what: string, error: unknown) =>
    log.warn({ what, reason: messageOf(error) }, 'cannot be followed');
  const followed = options.timing?.informer === undefined ? {} : { timing: options.timing.informer };
  const kinds = startKindRefresher(discovery, (error) => warn('discovery', error));
  const objects = followObjects({
    client,
    namespace,
    configMap: options.configMap ?? 'kymera',
    ...followed,
    onSettings() {},
    onKinds: () => kinds.soon(),
    onError: warn,
  });
  const catalog = createPolicyCatalog({
    kinds: policyKinds,
    exceptionNamespaces: options.exceptionNamespaces ?? [],
  });
  let background: BackgroundPart | undefined;
  const announce = createCoalescedTask(async () => background?.policiesChanged(), { delayMs: 50 });
  const watcher = startPolicyWatcher({
    client,
    discovery,
    catalog,
    onChange: () => announce.trigger(),
    ...policySelection(options, log),
    onError: warn,
    ...followed,
  });
  const limits = {
    allowedHosts: options.allowedHosts ?? [],
    timeoutMs: options.apiCallTimeoutMs ?? 30_000,
    maxBytes: options.maxApiCallBytes ?? 10_000_000,
  };
  const configMaps = createConfigMapCache(client);
  const globalContext = followGlobalContext({
    client,
    discovery,
    call: (query) => callApi(client, query, limits),
    environment: { now: () => new Date(), random: Math.random },
    onChange() {},
    onError: warn,
  });
  const events = createEventSink({
    client,
    source: 'kymera-background',
    host: hostname(),
    ...(options.maximumQueuedEvents === undefined ? {} : { maximumQueued: options.maximumQueuedEvents }),
    onError: (error) => log.warn({ reason: messageOf(error) }, 'an event was not written'),
  });
  const caches = clusterReadiness(() => new Map([...objects.informers, ...watcher.informers()]), undefined);

  async function stop(): Promise<void> {
    await background?.stop();
    await events.stop();
    await Promise.all([
      announce.stop(),
      kinds.stop(),
      objects.stop(),
      watcher.stop(),
      configMaps.stop(),
      globalContext.stop(),
    ]);
    client.close();
  }

  try {
    await caches.whenReady();
  } catch (error) {
    await stop();
    throw error;
  }
  const started = startBackgroundPart({
    client,
    namespace,
    identity,
    catalog,
    discovery,
    dataSource: createClusterDataSource({
      client,
      kinds: () => discovery.current(),
      namespaces: objects.namespaces,
      configMaps,
      globalContext,
      namespace,
      calls: limits,
    }),
    settings: objects.settings,
    log,
    events,
    policiesKnown: () => caches.whenReady(),
    user: () => ownIdentity(client),
    ...options.background,
    ...(options.omitEvents === undefined ? {} : { omitEvents: options.omitEvents }),
    ...(options.timing?.lease === undefined ? {} : { lease: options.timing.lease }),
    ...followed,
  });
  background = started;
  return {
    background: started,
    readiness() {
      const { ready, checks } = caches();
      const isSynced = started.hasSynced();
      const detail = isSynced ? (started.isLeader() ? 'leads' : 'waits for its turn') : 'not listed yet';
      return {
        ready: ready && isSynced,
        checks: [...checks, { name: 'update requests', ok: isSynced, detail }],
      };
    },
    droppedEvents: () => events.dropped(),
    stop,
  };
}
