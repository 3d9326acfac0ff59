import cluster from 'node:cluster';
import { createServer } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { inputError } from '../../problem.ts';
import type { RunningServer } from '../../server/server.ts';
import { stopSignal } from '../input/stop-signal.ts';
import type { ExitCode, Io } from '../io.ts';
import { paintFor } from '../output/style.ts';
import { bannerText, webhookText } from './banner.ts';
import { loadCertificate } from './certificate.ts';
import { createServeLog, type ServeLog } from './log.ts';
import {
  checkServeOptions,
  defaultPort,
  isInCluster,
  policyLimitsOf,
  type ServeOptions,
  shutdownDelayMilliseconds,
  urlOf,
} from './options.ts';
import { providePoliciesFromFiles } from './policies.ts';
import { startStandalone } from './standalone.ts';
import { gatherFromWorkers, portVariable, runWorkers } from './workers.ts';

/** `kymera serve`: serves until it receives a stop signal. */
export async function serve(options: ServeOptions, io: Io): Promise<ExitCode> {
  checkServeOptions(options);
  const log = createServeLog(options.logLevel, io.stderr);
  try {
    if (options.printWebhookConfiguration === true) return await printWebhookConfiguration(options, io, log);
    const serveHere = isInCluster(options) ? serveInCluster : serveAlone;
    if (cluster.isWorker) return await serveHere({ ...options, port: chosenPort(io) }, io, log);
    const port = options.port ?? (await defaultOrFreePort(options.host));
    if (options.workers === 1) return await serveHere({ ...options, port }, io, log);
    // Created before the workers start, so that all use the same one. In a cluster each worker is a replica.
    if (!isInCluster(options)) await loadCertificate(options, io);
    const fixed = { ...options, port: port === 0 ? await freePort(options.host) : port };
    return await runWorkers(fixed, io, log);
  } catch (error) {
    // The channel to the primary process would keep this one alive.
    cluster.worker?.disconnect();
    throw error;
  } finally {
    log.flush();
  }
}

/** The certificate is kept in the state folder, so a server that starts later uses the same one. */
async function printWebhookConfiguration(options: ServeOptions, io: Io, log: ServeLog): Promise<ExitCode> {
  const { port = defaultPort } = options;
  if (port === 0) throw inputError('KYM_USAGE', '--print-webhook-configuration needs a port: set --port');
  const { ca } = await loadCertificate(options, io);
  const limits = policyLimitsOf(options);
  const policies = await providePoliciesFromFiles({
    names: options.policies ?? [],
    io,
    log,
    limits,
    interval: 60_000,
  });
  policies.stop();
  const { all } = policies.current();
  await io.stdout.write(webhookText({ url: urlOf(options, port), policies: all.policies, ca }));
  return 0;
}

async function serveAlone(options: ServeOptions, io: Io, log: ServeLog): Promise<ExitCode> {
  const gather = cluster.isWorker ? gatherFromWorkers() : undefined;
  const standalone = await startStandalone(options, { io, log, gather: gather?.gather }).catch(listenFailure);
  gather?.answerFor(standalone.server);
  // Listen for signals before the greeting: whoever waits for it may stop the server at once.
  const stopped = stopSignal(io);
  if (!cluster.isWorker || cluster.worker?.id === 1) await printBanner(options, io, standalone);
  log.info({ port: standalone.server.port, host: options.host }, 'serving');
  await stopped;
  await announceStop(standalone.server, options, log);
  await standalone.stop(options.grace * 1000);
  log.info({}, 'stopped');
  // The channel to the primary process would keep this one alive.
  if (cluster.isWorker) process.disconnect();
  return 0;
}

async function serveInCluster(options: ServeOptions, io: Io, log: ServeLog): Promise<ExitCode> {
  const { startInCluster } = await import('./cluster.ts');
  const gather = cluster.isWorker ? gatherFromWorkers() : undefined;
  const member = await startInCluster(options, { io, log, gather: gather?.gather }).catch(listenFailure);
  gather?.answerFor(member.server);
  log.info({ port: member.server.port, host: options.host }, 'serving');
  await stopSignal(io);
  await announceStop(member.server, options, log);
  await member.stop(options.grace * 1000);
  log.info({}, 'stopped');
  if (cluster.isWorker) process.disconnect();
  return 0;
}

/** Keeps serving for callers that do not yet know that this server stops. */
async function announceStop(server: RunningServer, options: ServeOptions, log: ServeLog): Promise<void> {
  log.info({}, 'stopping');
  server.announceStop();
  const milliseconds = shutdownDelayMilliseconds(options);
  if (milliseconds > 0) await setTimeout(milliseconds);
}

async function printBanner(
  options: ServeOptions,
  io: Io,
  { server, policies, certificate }: Awaited<ReturnType<typeof startStandalone>>,
): Promise<void> {
  if (options.quiet === true) return;
  const banner = {
    url: urlOf(options, server.port),
    policies: policies.current().all.policies,
    cwd: io.cwd,
    ca: certificate.ca,
    asksForCertificate: options.clientCa !== undefined,
    playground: options.playground === true,
  };
  await io.stdout.write(bannerText(banner, paintFor(io.stdout, io, options.color)));
}

/** The primary process chose the port for all workers. */
function chosenPort({ env }: Io): number {
  return Number(env[portVariable]);
}

async function defaultOrFreePort(host: string): Promise<number> {
  return (await isFree(defaultPort, host)) ? defaultPort : 0;
}

function isFree(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer().once('error', () => resolve(false));
    probe.listen(port, host, () => probe.close(() => resolve(true)));
  });
}

function freePort(host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject);
    probe.listen(0, host, () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

function listenFailure(error: unknown): never {
  const code = (error as { code?: unknown } | null)?.code;
  const known: Readonly<Record<string, string>> = {
    EADDRINUSE: 'the port is in use',
    EACCES: 'permission to use the port is denied',
    EADDRNOTAVAIL: 'the address does not belong to this machine',
    ENOTFOUND: 'the host name cannot be resolved',
  };
  const reason = typeof code === 'string' ? known[code] : undefined;
  if (reason === undefined) throw error;
  throw inputError('KYM_LISTEN', reason, { hint: 'see --port and --host' });
}
