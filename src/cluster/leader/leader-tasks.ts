import { Buffer } from 'node:buffer';
import type { Blockage } from '../../admission/blockage.ts';
import { requestsGeneration } from '../../convert/forms/generation.ts';
import type { CompiledPolicy } from '../../policy/compiled.ts';
import { followAdmissionPolicies } from '../admission-policies/follow.ts';
import { createAdmissionPolicyGenerator } from '../admission-policies/generator.ts';
import { createLoadProbe } from '../admission-policies/load-probe.ts';
import type { ApiClient } from '../api/client.ts';
import { messageOf } from '../api/cluster-error.ts';
import { createCoalescedTask } from '../api/coalesced-task.ts';
import type { Discovery } from '../api/discovery.ts';
import { startInformer } from '../api/informer.ts';
import { startLeaderElection } from '../api/leader-election.ts';
import { managedSelector } from '../api/names.ts';
import { resourceTypes } from '../api/resource-path.ts';
import type { Certificates } from '../certificates/certificates.ts';
import type { PathTokens } from '../certificates/path-tokens.ts';
import type { GlobalContextState } from '../context/global-context.ts';
import { writeEntryStatuses } from '../context/global-context-status.ts';
import type { ClusterMetrics, ControllerName } from '../metrics/cluster-metrics.ts';
import type { PolicyCatalog, PolicyRecord } from '../policies/catalog.ts';
import { stuckRuleNotes } from '../policies/shared-blockages.ts';
import { type AdmissionPolicyState, type BackgroundHealth, writeStatuses } from '../policies/status.ts';
import {
  type ClusterLog,
  type ClusterOptions,
  generatesAdmissionPolicies,
} from '../settings/cluster-options.ts';
import type { ClusterSettings } from '../settings/cluster-settings.ts';
import { policyReviewPath } from '../webhooks/names.ts';
import { probeServer, probeService } from '../webhooks/probe.ts';
import type { WebhookSettings, WebhookTarget } from '../webhooks/settings.ts';
import { createWebhookWriter, removeWebhooks } from '../webhooks/writer.ts';
import { isLastReplica } from './retire.ts';

export interface LeaderTaskOptions {
  readonly client: ApiClient;
  readonly namespace: string;
  readonly identity: string;
  readonly options: ClusterOptions;
  readonly catalog: PolicyCatalog;
  /** Whether the catalog contains all policies. */
  readonly policiesKnown: () => boolean;
  readonly discovery: Discovery;
  readonly certificates: Certificates | undefined;
  readonly pathTokens: PathTokens | undefined;
  readonly settings: () => ClusterSettings;
  readonly backgroundHealth: (policy: CompiledPolicy) => BackgroundHealth;
  /** The blockages that all replicas have seen. */
  readonly blockages: () => readonly Blockage[];
  readonly globalContext: () => readonly GlobalContextState[];
  readonly metrics: ClusterMetrics;
  readonly log: ClusterLog;
}

export interface LeaderTasks {
  isLeader(): boolean;
  /** Call it when something changed that webhook configurations or policy statuses depend on. */
  trigger(): void;
  /** Call it when a Secret with certificates changed or was deleted. */
  checkCertificates(): void;
  retire(): Promise<void>;
}

export const leaseName = 'kymera';
const defaultCertificateCheckMs = 60_000;
const defaultSettleMs = 5_000;

/** The tasks of the leader: certificates, webhook configurations, policy statuses. */
export function startLeaderTasks(given: LeaderTaskOptions): LeaderTasks {
  const { client, namespace, identity, options, catalog, discovery, metrics, log } = given;
  const { certificates, pathTokens } = given;
  const isManaging = options.registerWebhooks !== false;
  const complain = (what: string) => (error: unknown) =>
    log.warn({ what, reason: messageOf(error) }, 'failed; will be retried');
  const asLeader = (controller: ControllerName, what: string, run: () => Promise<void>, delayMs: number) => {
    const count = metrics.endOf(controller);
    return createCoalescedTask(async () => (election.isLeader() ? run() : undefined), {
      delayMs,
      onError: complain(what),
      onEnd: (failures) => (election.isLeader() ? count(failures) : undefined),
    });
  };

  // A new leader does not know what its predecessor wrote. It writes no status before it has read the configurations.
  let hasTried = !isManaging;
  const caBundle = () => options.certificateAuthority?.() ?? certificates?.caBundle();
  const writer = createWebhookWriter({
    client,
    settings: () => webhookSettings(given, caBundle()),
    policies: () => catalog.policies(),
    kinds: () => discovery.current(),
    withTriggers: options.takeTriggers !== false,
    probe: () => probe(given, caBundle() ?? ''),
    onState() {
      hasTried = true;
      statuses.trigger();
      admissionPolicies.trigger();
    },
    onRefused: (policy, message) => log.warn({ policy, message }, 'the API server refused the policy'),
    onRefusedSetting: (key, message) => log.warn({ problem: key, message }, 'an invalid setting is ignored'),
  });
  const webhooks = asLeader('webhook-controller', 'webhook configuration', () => writer.reconcile(), 100);
  const generates = generatesAdmissionPolicies(options);
  let wake: NodeJS.Timeout | undefined;
  const generator = createAdmissionPolicyGenerator({
    client,
    records: () => (given.policiesKnown() ? policyRecords(catalog) : undefined),
    exceptionsOf: (policy) => exceptionsOf(catalog, policy),
    webhooks: () => webhookSettings(given, caBundle()),
    request: () => given.settings().request,
    isServed: () => discovery.current().kindOfResource(resourceTypes.admissionPolicies) !== undefined,
    isCalled(policy) {
      const { written, refusal } = writer.stateOf(policy);
      return written || refusal !== undefined;
    },
    probe: createLoadProbe({ client, lease: { namespace, name: leaseName } }),
    settleMs: options.timing?.admissionPolicyMs ?? defaultSettleMs,
    now: () => performance.now(),
    wake(milliseconds) {
      clearTimeout(wake);
      wake = setTimeout(() => admissionPolicies.trigger(), milliseconds);
    },
    onState: () => statuses.trigger(),
  });
  const admissionPolicies = asLeader(
    'admissionpolicy-generator',
    'MutatingAdmissionPolicies',
    async () => (generates ? generator.reconcile() : undefined),
    100,
  );
  const admissionPolicyOf = (record: PolicyRecord) =>
    generates ? generator.stateOf(record) : disabledGeneration(record);
  const stateOf = (policy: CompiledPolicy, record: PolicyRecord) => ({
    admissionPolicy: admissionPolicyOf(record),
    ...(isManaging ? writer.stateOf(policy) : { written: true }),
    background: given.backgroundHealth(policy),
    stuckRules: stuckRuleNotes(given.blockages(), policy),
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
    async () => {
      await certificates?.maintain();
      await pathTokens?.maintain();
    },
    0,
  );
  const timer = setInterval(
    () => certificateTask.trigger(),
    options.timing?.certificateCheckMs ?? defaultCertificateCheckMs,
  );

  function trigger(): void {
    if (isManaging) webhooks.trigger();
    statuses.trigger();
    admissionPolicies.trigger();
  }

  // Restore a configuration that was edited or deleted by hand.
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
  const followedPolicies = generates
    ? followAdmissionPolicies({
        client,
        discovery,
        onChange: () => admissionPolicies.trigger(),
        onError: complain('MutatingAdmissionPolicies'),
      })
    : undefined;
  const election = startLeaderElection({
    client,
    namespace,
    name: leaseName,
    identity,
    ...(options.timing?.lease === undefined ? {} : { timing: options.timing.lease }),
    onChange(isLeader) {
      log.info({ identity }, isLeader ? 'became the leader' : 'is no longer the leader');
      if (!isLeader) return;
      certificateTask.trigger();
      trigger();
    },
    onError: complain('leader election'),
  });

  async function retire(): Promise<void> {
    let wasLeader = election.isLeader();
    clearInterval(timer);
    clearTimeout(wake);
    await Promise.all([
      webhooks.stop(),
      statuses.stop(),
      certificateTask.stop(),
      admissionPolicies.stop(),
      followedPolicies?.stop(),
      ...followed.map((each) => each.stop()),
    ]);
    // Another replica that stops at the same time may have released the Lease to us.
    wasLeader ||= election.isLeader();
    await election.stop();
    // After its Deployment was deleted, the leader may be dead already.
    const mayBeLast = wasLeader || options.deployment !== undefined;
    if (!mayBeLast || !isManaging) return;
    try {
      const waitMs = 2.5 * (options.timing?.lease?.retryMs ?? 2_000);
      if (await isLastReplica({ client, namespace, leaseName, deployment: options.deployment, waitMs })) {
        const removed = await removeWebhooks(client);
        log.info({ removed }, 'the last replica removed the webhook configurations');
        if (wasLeader)
          await writeStatuses(
            client,
            catalog.records(),
            (_, record) => ({ written: false, ended: true, admissionPolicy: admissionPolicyOf(record) }),
            new Date(),
          );
      }
    } catch (error) {
      log.warn(
        { reason: messageOf(error) },
        'the webhook configurations could not be removed: run kymera cleanup',
      );
    }
  }

  return {
    isLeader: () => election.isLeader(),
    trigger,
    checkCertificates: () => certificateTask.trigger(),
    retire,
  };
}

function policyRecords(catalog: PolicyCatalog): readonly PolicyRecord[] {
  return catalog.records().filter(({ kind }) => kind.type.group === 'policies.kyverno.io');
}

/** The exceptions for a MutatingPolicy, also those whose time is over. */
function exceptionsOf(catalog: PolicyCatalog, { kind, name }: CompiledPolicy): readonly string[] {
  return [...catalog.exceptions()]
    .filter(({ cel }) => cel?.policies.some((policy) => policy.kind === kind && policy.name === name))
    .map(({ key }) => key)
    .sort();
}

function disabledGeneration({ object }: PolicyRecord): AdmissionPolicyState {
  return requestsGeneration(object)
    ? { generated: false, reason: 'it is disabled in this server' }
    : { generated: false };
}

function webhookSettings(
  { namespace, options, settings, pathTokens }: LeaderTaskOptions,
  pem: string | undefined,
): WebhookSettings | undefined {
  const pathToken = pathTokens?.current();
  if (pem === undefined || (pathTokens !== undefined && pathToken === undefined)) return undefined;
  const chosen = settings();
  return {
    target: targetOf(options.webhook, namespace, Buffer.from(pem).toString('base64')),
    pathToken,
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

function probe({ client, namespace, options, pathTokens }: LeaderTaskOptions, ca: string): Promise<void> {
  const { webhook } = options;
  const token = pathTokens?.current();
  const path = token === undefined ? undefined : `/${token}${policyReviewPath}`;
  if ('url' in webhook) return probeServer(webhook.url, ca, { path });
  const { name, port = 443 } = webhook.service;
  return probeService(client, { namespace, name, port }, ca, path);
}
