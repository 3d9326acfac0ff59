import type { Decision } from '../admission/decision.ts';
import { ApiError, ClusterAccessError } from '../cluster/cluster-error.ts';
import type { ClusterOptions } from '../cluster/cluster-options.ts';
import { type ClusterRuntime, startCluster } from '../cluster/runtime.ts';
import { registerBackgroundMetrics } from '../server/background-metrics.ts';
import { registerClusterMetrics } from '../server/cluster-metrics.ts';
import { type Gather, type RunningServer, startServer } from '../server/server.ts';
import type { ServingCertificate } from '../server/tls.ts';
import { triggerRoutes } from '../server/trigger-routes.ts';
import { scanInterval } from './background-options.ts';
import { inputError } from './input-error.ts';
import type { Io } from './io.ts';
import { loadCertificate, readPem, watchCertificate } from './serve-certificate.ts';
import type { ServeLog } from './serve-log.ts';
import { keptDecisions, type ServeOptions, urlOf } from './serve-options.ts';

export interface ClusterMember {
  readonly server: RunningServer;
  stop(graceMilliseconds: number): Promise<void>;
}

interface Surroundings {
  readonly io: Io;
  readonly log: ServeLog;
  /** Of the processes that share the port. */
  readonly gather: Gather | undefined;
}

const pollMilliseconds = 1_000;

/** A server that takes policies, data, settings and certificates from a cluster, and registers itself there. */
export async function startInCluster(
  options: ServeOptions,
  surroundings: Surroundings,
): Promise<ClusterMember> {
  const runtime = await startCluster(await clusterOptions(options, surroundings)).catch(accessFailure);
  try {
    return await startMember(runtime, options, surroundings);
  } catch (error) {
    await runtime.stop();
    throw error;
  }
}

async function clusterOptions(options: ServeOptions, { io, log }: Surroundings): Promise<ClusterOptions> {
  const authority = options.caBundle ?? options.tlsCert;
  return {
    webhook:
      options.webhookService === undefined
        ? { url: options.webhookUrl ?? urlOf(options, options.port ?? 0) }
        : { service: { name: options.webhookService } },
    env: io.env,
    log,
    ...(options.apiCallTimeout === undefined ? {} : { apiCallTimeoutMs: options.apiCallTimeout * 1000 }),
    ...(options.apiCallLimit === undefined ? {} : { maxApiCallBytes: options.apiCallLimit }),
    ...(options.kubeconfig === undefined ? {} : { kubeconfig: options.kubeconfig }),
    ...(options.kubeContext === undefined ? {} : { context: options.kubeContext }),
    ...(options.namespace === undefined ? {} : { namespace: options.namespace }),
    ...(options.configMap === undefined ? {} : { configMap: options.configMap }),
    ...(options.deployment === undefined ? {} : { deployment: options.deployment }),
    ...(options.policySelector === undefined ? {} : { policySelector: options.policySelector }),
    ...(options.exceptionNamespace === undefined ? {} : { exceptionNamespaces: options.exceptionNamespace }),
    ...(options.backgroundServiceAccount === undefined
      ? {}
      : { backgroundUser: options.backgroundServiceAccount }),
    ...(options.background === false ? { takeTriggers: false } : {}),
    ...(options.background === true ? { background: { scanIntervalMs: scanInterval(io) } } : {}),
    ...(options.allowHost === undefined ? {} : { allowedHosts: options.allowHost }),
    ...(options.omitEvents === undefined ? {} : { omitEvents: options.omitEvents }),
    ...(options.forceFailurePolicyIgnore === true ? { forceIgnore: true } : {}),
    ...(authority === undefined || options.tlsCert === undefined
      ? {}
      : { certificateAuthority: await readPem(authority, io) }),
  };
}

async function startMember(
  runtime: ClusterRuntime,
  options: ServeOptions,
  { io, log, gather }: Surroundings,
): Promise<ClusterMember> {
  const kept = keptDecisions(options);
  const server = await startServer({
    host: options.host,
    port: options.port ?? 0,
    certificate: runtime.certificate() ?? (await loadCertificate(options, io)),
    provider: runtime.provider,
    dataSource: runtime.dataSource,
    settings: () => runtime.settings(),
    roles: (user, namespace) => runtime.roles(user, namespace),
    kindOfResource: (resource) => runtime.kindOfResource(resource),
    otherWebhooks: new Map([
      [runtime.policyReviewPath, (body) => runtime.policyReviewer(body)],
      ...(runtime.triggers === undefined ? [] : triggerRoutes(runtime.triggers.reviewer)),
    ]),
    onDecision: (decision) => tell(runtime, decision),
    log,
    bodyLimit: options.bodyLimit,
    ...(options.clientCa === undefined ? {} : { clientCa: await readPem(options.clientCa, io) }),
    ...(kept === undefined ? {} : { keepDecisions: kept }),
    ...(options.metricsPort === undefined ? {} : { metricsPort: options.metricsPort }),
    ...(gather === undefined ? {} : { gather }),
  });
  const { background, triggers } = runtime;
  registerBackgroundMetrics(server.metrics.registry, {
    ...(triggers === undefined ? {} : { triggers: () => triggers.figures() }),
    ...(background === undefined ? {} : { work: () => background.figures() }),
  });
  registerClusterMetrics(server.metrics.registry, () => runtime.figures());
  const renew = (certificate: ServingCertificate | undefined) => {
    if (certificate !== undefined) server.setCertificate(certificate);
  };
  const unsubscribe = runtime.onCertificateChange(() => renew(runtime.certificate()));
  const watch = await watchCertificate(options, { io, log, interval: pollMilliseconds }, renew);
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

/** A dry run leaves no traces. */
function tell(runtime: ClusterRuntime, { request, response, outcomes, audited, dryRun }: Decision): void {
  if (!dryRun) runtime.recordReview({ request, outcomes, audited, denied: !response.allowed });
}

function accessFailure(error: unknown): never {
  if (!(error instanceof ClusterAccessError || error instanceof ApiError)) throw error;
  throw inputError('KYM_CLUSTER', error.message, { hint: 'see --kubeconfig and --kube-context' });
}
