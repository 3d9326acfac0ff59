import type { PolicyProvider, RequestSettings } from '../admission/policy-provider.ts';
import type { DataSource } from '../engine/context/data-source.ts';
import type { GroupVersionKind, UserInfo } from '../engine/request.ts';
import type { ResourceName } from './api/discovery.ts';
import { createListeners } from './api/listeners.ts';
import { startBackgroundMonitor } from './background/health.ts';
import { ownIdentity, serviceAccountIdentity } from './background/identity.ts';
import { type BackgroundPart, startBackgroundPart } from './background/part.ts';
import { startTriggers, type Triggers } from './background/triggers.ts';
import { startCertificates } from './certificates/certificates.ts';
import type { KeyPair } from './certificates/issuer.ts';
import { startPathTokens } from './certificates/path-tokens.ts';
import { clusterReadiness } from './cluster-readiness.ts';
import type { HeldRoles } from './context/role-resolver.ts';
import { eventNotes, type ReviewEvents } from './events/review-events.ts';
import { startLeaderTasks } from './leader/leader-tasks.ts';
import type { ClusterMetricsReport } from './metrics/cluster-metrics.ts';
import { connectToCluster, observeCluster } from './observed-cluster.ts';
import { type SharedBlockages, startSharedBlockages } from './policies/shared-blockages.ts';
import { createPolicyReviewer, type PolicyReviewer } from './policy-review.ts';
import type { ClusterOptions } from './settings/cluster-options.ts';
import type { ClusterSettings } from './settings/cluster-settings.ts';
import { policyReviewPath } from './webhooks/names.ts';
import { trustedBundle } from './webhooks/writer.ts';

/** Everything that a server needs from a cluster. */
export interface ClusterRuntime {
  readonly provider: PolicyProvider;
  readonly dataSource: DataSource;
  settings(): RequestSettings;
  /** All settings, including those that do not concern requests. */
  clusterSettings(): ClusterSettings;
  onSettingsChange(listener: () => void): () => void;
  roles(user: UserInfo, namespace: string): HeldRoles;
  kindOfResource(resource: ResourceName): GroupVersionKind | undefined;
  /** The serving certificate. Undefined if the user provides certificates. */
  certificate(): KeyPair | undefined;
  onCertificateChange(listener: () => void): () => void;
  certificateExpiresAt(): number | undefined;
  /** The tokens that webhook paths start with; undefined if this server does not manage the webhook configurations. */
  readonly pathTokens: (() => readonly string[]) | undefined;
  /** Call it when the API server gave up waiting for a review: it has then printed the token in the path. */
  reviewAbandoned(): void;
  /** Call it when the user's CA changed: it updates the webhook configurations. */
  authorityChanged(): void;
  /** The path of policy reviews. */
  readonly policyReviewPath: string;
  readonly policyReviewer: PolicyReviewer;
  /** Accepts triggers of mutateExisting and generate rules; undefined if disabled. */
  readonly triggers: Triggers | undefined;
  /** The background controller, if this process runs it. */
  readonly background: BackgroundPart | undefined;
  /** Queues the events of a review. */
  recordReview(review: ReviewEvents): void;
  /** The rules that have blocked a replica. */
  readonly blockages: SharedBlockages;
  /** For metrics. */
  metrics(): ClusterMetricsReport;
  isLeader(): boolean;
  /** Releases leadership and, in the last replica, removes the webhook configurations. Call it before connections are closed. */
  retire(): Promise<void>;
  stop(): Promise<void>;
}

/** Resolves when the caches are synced and a serving certificate exists. */
export async function startCluster(options: ClusterOptions): Promise<ClusterRuntime> {
  const connection = await connectToCluster(options);
  const { client, namespace, identity, discovery, cel, metrics, log, warn } = connection;
  const changed = {
    policies: createListeners(),
    settings: createListeners(),
    certificate: createListeners(),
  };
  const observed = observeCluster(connection, options, {
    eventSource: 'kymera-admission',
    onSettings(problems) {
      for (const problem of problems) log.warn({ problem }, 'an invalid setting is ignored');
      changed.settings.notify();
      leader.trigger();
    },
    onPolicies() {
      changed.policies.notify();
      background?.policiesChanged();
      monitor.check();
      leader.trigger();
    },
    onGlobalContext: () => leader.trigger(),
  });
  const { objects, catalog, watcher, globalContext, dataSource, events } = observed;

  let arePoliciesKnown = false;
  void watcher.synced.then(() => {
    arePoliciesKnown = true;
    leader.trigger();
  });

  const names = webhookNames(options.webhook, namespace);
  const certificates =
    options.certificateAuthority === undefined
      ? startCertificates({
          client,
          namespace,
          names,
          ...(options.timing?.certificateLife === undefined ? {} : { life: options.timing.certificateLife }),
          trusted: () => trustedBundle(client),
          onChange() {
            changed.certificate.notify();
            leader.checkCertificates();
            leader.trigger();
          },
          onError: (error) => warn('certificates', error),
        })
      : undefined;
  const pathTokens =
    options.registerWebhooks === false
      ? undefined
      : startPathTokens({
          client,
          namespace,
          timing: options.timing?.pathTokens,
          onChange() {
            leader.checkCertificates();
            leader.trigger();
          },
          onError: (error) => warn('path tokens', error),
        });
  const blockages = startSharedBlockages({
    client,
    namespace,
    onChange: () => leader.trigger(),
    onError: (error) => warn('blocked rules', error),
  });
  const leader = startLeaderTasks({
    client,
    namespace,
    identity,
    options,
    catalog,
    policiesKnown: () => arePoliciesKnown,
    discovery,
    certificates,
    pathTokens,
    settings: objects.settings,
    blockages: () => blockages.known(),
    backgroundHealth: (policy) => monitor.healthOf(policy),
    // Where Kyverno runs, it writes the status of the entries.
    globalContext: () => (watcher.isKyvernoInstalled() ? [] : globalContext.states()),
    metrics,
    log,
  });
  const unsubscribe = discovery.onChange(() => leader.trigger());
  const takesTriggers = options.takeTriggers !== false;
  const backgroundIdentity = async () =>
    options.backgroundUser === undefined
      ? ownIdentity(client)
      : serviceAccountIdentity(options.backgroundUser);
  const monitor = startBackgroundMonitor({
    client,
    namespace,
    policies: () => catalog.policies(),
    kinds: () => discovery.current(),
    identity: backgroundIdentity,
    isLeader: () => leader.isLeader(),
    runsHere: options.background !== undefined,
    isOff: !takesTriggers,
    onChange: () => leader.trigger(),
    onError: (error) => warn('the background', error),
  });

  const readiness = clusterReadiness(
    () => new Map([...objects.informers, ...watcher.informers()]),
    certificates,
    pathTokens,
  );

  const triggers = takesTriggers
    ? startTriggers({
        client,
        namespace,
        policies: () => catalog.sets(),
        settings: objects.settings,
        roles: objects.rolesOf,
        kindOfResource: (resource) => discovery.current().kindOfResource(resource),
        dataSource,
        events,
        omitEvents: new Set(options.omitEvents ?? []),
        backgroundUser: options.backgroundUser,
        log,
      })
    : undefined;
  const background =
    options.background === undefined
      ? undefined
      : startBackgroundPart({
          client,
          namespace,
          identity,
          catalog,
          discovery,
          dataSource,
          settings: objects.settings,
          metrics,
          log,
          events,
          policiesKnown: () => readiness.whenReady(),
          user: backgroundIdentity,
          ...options.background,
          ...(options.omitEvents === undefined ? {} : { omitEvents: options.omitEvents }),
          ...(options.timing?.lease === undefined ? {} : { lease: options.timing.lease }),
        });

  let retired: Promise<void> | undefined;
  const runtime: ClusterRuntime = {
    provider: { current: () => catalog.sets(), readiness, onChange: changed.policies.subscribe },
    dataSource,
    settings: () => objects.settings().request,
    clusterSettings: objects.settings,
    onSettingsChange: changed.settings.subscribe,
    roles: objects.rolesOf,
    kindOfResource: (resource) => discovery.current().kindOfResource(resource),
    certificate: () => certificates?.serving(),
    onCertificateChange: changed.certificate.subscribe,
    certificateExpiresAt: () => certificates?.expiresAt(),
    pathTokens: pathTokens && (() => pathTokens.accepted()),
    reviewAbandoned: () => pathTokens?.exposed(),
    authorityChanged: () => leader.trigger(),
    policyReviewPath,
    policyReviewer: createPolicyReviewer({
      client,
      cel,
      selects: watcher.selects,
      kinds: () => discovery.current(),
      exceptionNamespaces: options.exceptionNamespaces ?? [],
      limits: options.policyLimits,
      ...(takesTriggers ? { backgroundIdentity } : {}),
    }),
    triggers,
    background,
    blockages,
    recordReview(review) {
      const { generateSuccessEvents, successEventActions } = objects.settings();
      const omitted = new Set(options.omitEvents ?? []);
      events.add(
        eventNotes(review, { omitted, success: generateSuccessEvents, successActions: successEventActions }),
      );
    },
    metrics: () => metrics.report(discovery.current(), events.dropped()),
    isLeader: () => leader.isLeader(),
    retire() {
      retired ??= leader.retire();
      return retired;
    },
    async stop() {
      await runtime.retire();
      unsubscribe();
      await Promise.all([triggers?.stop(), background?.stop(), monitor.stop()]);
      await Promise.all([certificates?.stop(), pathTokens?.stop(), blockages.stop()]);
      await observed.stop();
    },
  };
  leader.trigger();
  try {
    await readiness.whenReady();
  } catch (error) {
    await runtime.stop();
    throw error;
  }
  return runtime;
}

/** The names at which the API server calls; the certificate must contain them. */
function webhookNames(webhook: ClusterOptions['webhook'], namespace: string): readonly string[] {
  if ('url' in webhook) return [new URL(webhook.url).hostname.replace(/^\[|\]$/g, '')];
  const service = `${webhook.service.name}.${namespace}`;
  return [`${service}.svc`, service, webhook.service.name, `${service}.svc.cluster.local`];
}
