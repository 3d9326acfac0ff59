import { ApiError, ClusterAccessError } from '../../cluster/api/cluster-error.ts';
import { type BackgroundRuntime, startBackground } from '../../cluster/background-runtime.ts';
import { inputError } from '../../problem.ts';
import { startBackgroundServer } from '../../server/background-server.ts';
import { stopSignal } from '../input/stop-signal.ts';
import type { ExitCode, Io } from '../io.ts';
import { createServeLog } from './log.ts';
import { checkSelector, policyLimitsOf, scanInterval } from './options.ts';

/** The options of `kymera background`. */
export interface BackgroundCommandOptions {
  readonly kubeconfig?: string | undefined;
  readonly kubeContext?: string | undefined;
  readonly namespace?: string | undefined;
  readonly configMap?: string | undefined;
  readonly policySelector?: string | undefined;
  readonly exceptionNamespace?: readonly string[] | undefined;
  readonly allowHost?: readonly string[] | undefined;
  readonly policyRuleLimit: number;
  readonly policySizeLimit: number;
  readonly allowHostNamespaced?: readonly string[] | undefined;
  readonly omitEvents?: readonly string[] | undefined;
  readonly workers: number;
  readonly ttl: number;
  readonly host: string;
  readonly metricsPort?: number | undefined;
  readonly logLevel: string;
}

/** `kymera background`: runs until it receives a stop signal. */
export async function background(options: BackgroundCommandOptions, io: Io): Promise<ExitCode> {
  const log = createServeLog(options.logLevel, io.stderr);
  const scanIntervalMs = scanInterval(io);
  if (options.policySelector !== undefined) checkSelector(options.policySelector);
  try {
    const runtime = await startBackground({
      env: io.env,
      log,
      background: { scanIntervalMs, limits: { workers: options.workers, ttlMs: options.ttl * 1000 } },
      kubeconfig: options.kubeconfig,
      context: options.kubeContext,
      namespace: options.namespace,
      configMap: options.configMap,
      policySelector: options.policySelector,
      policyLimits: policyLimitsOf(options),
      exceptionNamespaces: options.exceptionNamespace,
      allowedHosts: options.allowHost,
      namespacedHosts: options.allowHostNamespaced,
      omitEvents: options.omitEvents,
    }).catch(accessFailure);
    await work(runtime, options, io, log);
    return 0;
  } finally {
    log.flush();
  }
}

async function work(
  runtime: BackgroundRuntime,
  { host, metricsPort }: BackgroundCommandOptions,
  io: Io,
  log: ReturnType<typeof createServeLog>,
): Promise<void> {
  const source = { work: () => runtime.background.metrics() };
  const server =
    metricsPort === undefined
      ? undefined
      : await startBackgroundServer({
          host,
          port: metricsPort,
          readiness: runtime.readiness,
          source,
          cluster: () => runtime.metrics(),
        });
  log.info(server === undefined ? {} : { port: server.port, host }, 'working');
  await stopSignal(io);
  log.info({}, 'stopping');
  await runtime.stop();
  await server?.stop();
  log.info({}, 'stopped');
}

function accessFailure(error: unknown): never {
  if (!(error instanceof ClusterAccessError || error instanceof ApiError)) throw error;
  throw inputError('KYM_CLUSTER', error.message, { hint: 'see --kubeconfig and --kube-context' });
}
