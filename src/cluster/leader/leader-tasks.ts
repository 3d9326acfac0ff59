import { Buffer } from 'node:buffer';
import type { CompiledPolicy } from '../../policy/compiled.ts';
import type { ApiClient } from '../api/client.ts';
import { messageOf } from '../api/cluster-error.ts';
import { createCoalescedTask } from '../api/coalesced-task.ts';
import type { Discovery } from '../api/discovery.ts';
import { startInformer } from '../api/informer.ts';
import { startLeaderElection } from '../api/lease.ts';
import { managedSelector } from '../api/names.ts';
import { resourceTypes } from '../api/resource-path.ts';
import type { Certificates } from '../certificates/certificates.ts';
import type { GlobalContextState } from '../context/global-context.ts';
import { writeEntryStatuses } from '../context/global-context-status.ts';
import type { ClusterMetrics, ControllerName } from '../metrics/cluster-metrics.ts';
import type { PolicyCatalog } from '../policies/catalog.ts';
import { type BackgroundHealth, writeStatuses } from '../policies/status.ts';
import type { ClusterLog, ClusterOptions } from '../settings/cluster-options.ts';
import type { ClusterSettings } from '../settings/cluster-settings.ts';
import type { WebhookSettings, WebhookTarget } from '../webhooks/configuration.ts';
import { probeServer, probeService } from '../webhooks/probe.ts';
import { createWebhookWriter, removeWebhooks } from '../webhooks/writer.ts';
import { isLastReplica } from './retire.ts';

export interface LeaderTaskOptions {
  readonly client: ApiClient;
  readonly namespace: string;
  readonly identity: string;
  readonly options: ClusterOptions;
  readonly catalog: PolicyCatalog;
  readonly discovery: Discovery;
  readonly certificates: Certificates | undefined;
  readonly settings: () => ClusterSettings;
  readonly backgroundHealth: (policy: CompiledPolicy) => BackgroundHealth;
  readonly globalContext: () => readonly GlobalContextState[];
  readonly metrics: ClusterMetrics;
  readonly log: ClusterLog;
}

export interface LeaderTasks {
  isLeader(): boolean;
  /** Something changed that what the leader writes may depend on. */
  trigger(): void;
  /** A Secret changed, or is gone. */
  checkCertificates(): void;
  retire(): Promise<void>;
}

export const leaseName = 'kymera';
const defaultCertificateCheckMs = 60_000;

/** What one replica does for all: certificates, webhook configurations, status of policies. */
export function startLeaderTasks(given: LeaderTaskOptions): LeaderTasks {
  const { client, namespace, identity, options, catalog, discovery, certificates, metrics, log } = given;
  const isManaging = options.registerWebhooks !== false;
  const complain = (what: string) => (error: unknown) =>
    log.warn({ what, reason: messageOf(error) }, 'will be tried again');
  const asLeader = (controller: ControllerName, what: string, run: () => Promise<void>, delayMs: number) => {
    const count = metrics.endOf(controller);
    return createCoalescedTask(async () => (election.isLeader() ? run() : undefined), {
      delayMs,
      onError: complain(what),
      onEnd: (failures) => (election.isLeader() ? count(failures) : undefined),
    });
  };

  // A new leader knows nothing yet of what the one before it has written: it says nothing before it has looked.
  let hasTried = !isManaging;
  const caBundle = () => options.certificateAuthority?.() ?? certificates?.caBundle();
  const writer = createWebhookWriter({
    client,
    settings: () => webhookSettings(given, caBundle()),
    policies: () => catalog.policies(),
    kinds: () => discovery.current(),
    withTriggers: options.takeTriggers !== false,
    probe: () => probe(client, options.webhook, namespace, caBundle() ?? ''),
    onState() {
      hasTried = true;
      statuses.trigger();
    },
    onRefused: (policy, message) => log.warn({ policy, message }, 'the API server refuses the policy'),
    onRefusedSetting: (key, message) => log.warn({ problem: key, message }, 'a setting is not used'),
  });
  const webhooks = asLeader('webhook-controller', 'webhook configuration', () => writer.reconcile(), 100);
  const stateOf = (policy: CompiledPolicy) => ({
    ...(isManaging ? writer.stateOf(policy) : { written: true }),
    background: given.backgroundHealth(policy),
  });
  const statuses = asLeader(
    'policy-status-controller',
    'status of policies',
    async () => {
      await writeEntryStatuses(client, given.globalContext(), new Date());
      if (hasTried) await writeStatuses(client, catalog.records(), stateOf, new Date());
    },
    200,
  );
  const certificateTask = asLeader(
    'certmanager-controller',
    'certificates',
    async () => certificates?.maintain(),
    0,
  );
  const timer = setInterval(
    () => certificateTask.trigger(),
    options.timing?.certificateCheckMs ?? defaultCertificateCheckMs,
  );

  function trigger(): void {
    if (isManaging) webhooks.trigger();
    statuses.trigger();
  }

  // Somebody who edits or deletes a configuration by hand sees it come back.
  const followed = isManaging
    ? (['mutatingWebhooks', 'validatingWebhooks'] as const).map((name) =>
        startInformer({
          client,
          type: resourceTypes[name],
          kind: 'WebhookConfiguration',
          select: { labelSelector: managedSelector },
          onChange: () => webhooks.trigger(),
          onError: complain('webhook configurations'),
        }),
      )
    : [];
  const election = startLeaderElection({
    client,
    namespace,
    name: leaseName,
    identity,
    ...(options.timing?.lease === undefined ? {} : { timing: options.timing.lease }),
    onChange(isLeader) {
      log.info({ identity }, isLeader ? 'leads' : 'does not lead any more');
      if (!isLeader) return;
      certificateTask.trigger();
      trigger();
    },
    onError: complain('leader election'),
  });

  async function retire(): Promise<void> {
    let wasLeader = election.isLeader();
    clearInterval(timer);
    await Promise.all([
      webhooks.stop(),
      statuses.stop(),
      certificateTask.stop(),
      ...followed.map((each) => each.stop()),
    ]);
    // Another that goes at the same time may have handed it over meanwhile.
    wasLeader ||= election.isLeader();
    await election.stop();
    // A Deployment that is gone is gone for all, and the one that led may be dead.
    const mayBeLast = wasLeader || options.deployment !== undefined;
    if (!mayBeLast || !isManaging) return;
    try {
      const waitMs = 2.5 * (options.timing?.lease?.retryMs ?? 2_000);
      if (await isLastReplica({ client, namespace, leaseName, deployment: options.deployment, waitMs })) {
        const removed = await removeWebhooks(client);
        log.info({ removed }, 'the last replica takes the webhooks away');
        if (wasLeader)
          await writeStatuses(client, catalog.records(), () => ({ written: false, ended: true }), new Date());
      }
    } catch (error) {
      log.warn({ reason: messageOf(error) }, 'the webhooks could not be taken away: run kymera cleanup');
    }
  }

  return {
    isLeader: () => election.isLeader(),
    trigger,
    checkCertificates: () => certificateTask.trigger(),
    retire,
  };
}

function webhookSettings(
  { namespace, options, settings }: LeaderTaskOptions,
  pem: string | undefined,
): WebhookSettings | undefined {
  if (pem === undefined) return undefined;
  const chosen = settings();
  return {
    target: targetOf(options.webhook, namespace, Buffer.from(pem).toString('base64')),
    namespace,
    namespaceSelector: chosen.webhookNamespaceSelector,
    objectSelector: chosen.webhookObjectSelector,
    matchConditions: chosen.matchConditions,
    annotations: chosen.webhookAnnotations,
    labels: chosen.webhookLabels,
  };
}

function targetOf(webhook: ClusterOptions['webhook'], namespace: string, caBundle: string): WebhookTarget {
  if ('url' in webhook) return { url: webhook.url, caBundle };
  return { service: { namespace, name: webhook.service.name, port: webhook.service.port ?? 443 }, caBundle };
}

function probe(
  client: ApiClient,
  webhook: ClusterOptions['webhook'],
  namespace: string,
  ca: string,
): Promise<void> {
  if ('url' in webhook) return probeServer(webhook.url, ca);
  const { name, port = 443 } = webhook.service;
  return probeService(client, { namespace, name, port }, ca);
}
