import { setTimeout } from 'node:timers/promises';
import type { Decision } from '../../admission/decision.ts';
import { ApiError, ClusterAccessError } from '../../cluster/api/cluster-error.ts';
import { type ClusterRuntime, startCluster } from '../../cluster/runtime.ts';
import type { ClusterOptions } from '../../cluster/settings/cluster-options.ts';
import { asciiJson } from '../../json/json-text.ts';
import { inputError } from '../../problem.ts';
import { registerBackgroundMetrics } from '../../server/metrics/background-metrics.ts';
import { registerClusterMetrics } from '../../server/metrics/cluster-metrics.ts';
import { type Gather, type RunningServer, startServer } from '../../server/server.ts';
import type { ServingCertificate } from '../../server/tls.ts';
import { commandEnvironment } from '../environment.ts';
import type { Io } from '../io.ts';
import { type GivenAuthority, readAuthority } from './authority.ts';
import { loadCertificate, readPem, watchCertificate } from './certificate.ts';
import type { ServeLog } from './log.ts';
import {
  keptDecisions,
  playgroundPage,
  policyLimitsOf,
  readLiveToken,
  type ServeOptions,
  scanInterval,
  settingsOf,
  stateFolder,
  urlOf,
} from './options.ts';

export interface ClusterMember {
  readonly server: RunningServer;
  stop(graceMilliseconds: number): Promise<void>;
}

interface Environment {
  readonly io: Io;
  readonly log: ServeLog;
  /** Collects data from the processes that share the port. */
  readonly gather: Gather | undefined;
}

const pollMilliseconds = 1_000;
/** Time for the leader to update the webhook configurations, and for the API server to read them. */
const trustMilliseconds = 2_000;

/** A server that reads policies, data, settings and certificates from a cluster and registers itself there. */
export async function startInCluster(
  options: ServeOptions,
  environment: Environment,
): Promise<ClusterMember> {
  const authority = await readAuthority(options, environment);
  const runtime = await startCluster(clusterOptions(options, environment, authority)).catch(accessFailure);
  try {
    return await startMember(runtime, options, environment, authority);
  } catch (error) {
    await runtime.stop();
    throw error;
  }
}

function clusterOptions(
  options: ServeOptions,
  { io, log }: Environment,
  authority: GivenAuthority | undefined,
): ClusterOptions {
  return {
    request: settingsOf(options),
    webhook:
      options.webhookService === undefined
        ? { url: options.webhookUrl ?? urlOf(options, options.port ?? 0) }
        : { service: { name: options.webhookService } },
    env: io.env,
    log,
    ...(options.apiCallTimeout === undefined ? {} : { apiCallTimeoutMs: options.apiCallTimeout * 1000 }),
    maxApiCallBytes: options.apiCallLimit,
    kubeconfig: options.kubeconfig,
    context: options.kubeContext,
    namespace: options.namespace,
    configMap: options.configMap,
    deployment: options.deployment,
    policySelector: options.policySelector,
    policyLimits: policyLimitsOf(options),
    exceptionNamespaces: options.exceptionNamespace,
    backgroundUser: options.backgroundServiceAccount,
    ...(options.background === false ? { takeTriggers: false } : {}),
    ...(options.background === true ? { background: { scanIntervalMs: scanInterval(io) } } : {}),
    allowedHosts: options.allowHost,
    namespacedHosts: options.allowHostNamespaced,
    omitEvents: options.omitEvents,
    ...(options.forceFailurePolicyIgnore === true ? { forceIgnore: true } : {}),
    admissionPolicies: options.admissionPolicies,
    ...(authority === undefined ? {} : { certificateAuthority: () => authority.current() }),
  };
}

async function startMember(
  runtime: ClusterRuntime,
  options: ServeOptions,
  { io, log, gather }: Environment,
  authority: GivenAuthority | undefined,
): Promise<ClusterMember> {
  const kept = keptDecisions(options);
  const { background, triggers } = runtime;
  const server = await startServer({
    host: options.host,
    port: options.port ?? 0,
    certificate: runtime.certificate() ?? (await loadCertificate(options, io)),
    provider: runtime.provider,
    environment: commandEnvironment,
    dataSource: runtime.dataSource,
    settings: () => runtime.settings(),
    roles: (user, namespace) => runtime.roles(user, namespace),
    kindOfResource: (resource) => runtime.kindOfResource(resource),
    otherWebhooks: {
      policyvalidate: async (body) => asciiJson(await runtime.policyReviewer(body)),
      validate:
        triggers &&
        (async (body, scope, milliseconds) => asciiJson(await triggers.reviewer(body, scope, milliseconds))),
    },
    onDecision: (decision) => recordDecision(runtime, decision),
    pathTokens: runtime.pathTokens,
    onAbandoned: () => runtime.reviewAbandoned(),
    log,
    bodyLimit: options.bodyLimit,
    ...(options.clientCa === undefined ? {} : { clientCa: await readPem(options.clientCa, io) }),
    keepDecisions: kept,
    page: playgroundPage(options),
    liveToken: await readLiveToken(options, io),
    watchdogFolder: stateFolder(options, io),
    sharedBlockages: runtime.blockages,
    metricsPort: options.metricsPort,
    gather,
  });
  registerBackgroundMetrics(server.metrics.registry, {
    ...(triggers === undefined ? {} : { triggers: () => triggers.metrics() }),
    ...(background === undefined ? {} : { work: () => background.metrics() }),
  });
  registerClusterMetrics(server.metrics.registry, () => runtime.metrics());
  const renew = (certificate: ServingCertificate | undefined) => {
    if (certificate !== undefined) server.setCertificate(certificate);
  };
  const unsubscribe = runtime.onCertificateChange(() => renew(runtime.certificate()));
  const watching = { io, log, interval: pollMilliseconds };
  const watch = await watchCertificate(options, watching, renew, companionOf(authority, runtime));
  return {
    server,
    async stop(graceMilliseconds) {
      unsubscribe();
      watch?.stop();
      await runtime.retire();
      await server.stop(graceMilliseconds);
      await runtime.stop();
    },
  };
}

/** Publishes a new CA bundle before the new certificate is served. */
function companionOf(authority: GivenAuthority | undefined, runtime: ClusterRuntime) {
  if (authority === undefined) return undefined;
  const changed = async () => {
    if (!(await authority.refresh())) return;
    runtime.authorityChanged();
    await setTimeout(trustMilliseconds);
  };
  return { file: authority.file, changed };
}

/** A dry run has no side effects. */
function recordDecision(
  runtime: ClusterRuntime,
  { request, response, outcomes, audited, dryRun }: Decision,
): void {
  if (!dryRun) runtime.recordReview({ request, outcomes, audited, denied: !response.allowed });
}

function accessFailure(error: unknown): never {
  if (!(error instanceof ClusterAccessError || error instanceof ApiError)) throw error;
  throw inputError('KYM_CLUSTER', error.message, { hint: 'see --kubeconfig and --kube-context' });
}
