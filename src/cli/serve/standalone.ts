import { type Gather, type RunningServer, startServer } from '../../server/server.ts';
import type { ServingCertificate } from '../../server/tls.ts';
import { commandEnvironment } from '../environment.ts';
import { assumedKinds } from '../input/assumed-kinds.ts';
import type { Io } from '../io.ts';
import {
  loadCertificate,
  readPem,
  renewSelfSigned,
  type ServeCertificate,
  watchCertificate,
} from './certificate.ts';
import { provideContextFromFiles } from './context.ts';
import type { ServeLog } from './log.ts';
import {
  keptDecisions,
  playgroundPage,
  policyLimitsOf,
  readLiveToken,
  type ServeOptions,
  settingsOf,
  stateFolder,
} from './options.ts';
import { type FilePolicies, providePoliciesFromFiles } from './policies.ts';

export interface Standalone {
  readonly server: RunningServer;
  readonly policies: FilePolicies;
  readonly certificate: ServeCertificate;
  stop(graceMilliseconds: number): Promise<void>;
}

const pollMilliseconds = 500;

/** A server without a cluster: policies and data come from files. */
export async function startStandalone(
  options: ServeOptions,
  { io, log, gather }: { readonly io: Io; readonly log: ServeLog; readonly gather: Gather | undefined },
): Promise<Standalone> {
  const watching = { io, log, interval: pollMilliseconds };
  const certificate = await loadCertificate(options, io);
  const policies = await providePoliciesFromFiles({
    names: options.policies ?? [],
    limits: policyLimitsOf(options),
    ...watching,
  });
  const context = await provideContextFromFiles(options.context ?? [], watching);
  const settings = settingsOf(options);
  const kept = keptDecisions(options);
  let kinds = assumedKinds(policies.current().all.policies);
  policies.onChange(() => {
    kinds = assumedKinds(policies.current().all.policies);
  });
  const server = await startServer({
    host: options.host,
    port: options.port ?? 0,
    certificate,
    provider: policies,
    environment: commandEnvironment,
    dataSource: context.dataSource,
    checks: context.checks,
    settings: () => settings,
    kindOfResource: (resource) => kinds.kindOfResource(resource),
    log,
    bodyLimit: options.bodyLimit,
    ...(options.clientCa === undefined ? {} : { clientCa: await readPem(options.clientCa, io) }),
    keepDecisions: kept,
    page: playgroundPage(options),
    liveToken: await readLiveToken(options, io),
    watchdogFolder: stateFolder(options, io),
    metricsPort: options.metricsPort,
    gather,
  });
  const useCertificate = (changed: ServingCertificate) => server.setCertificate(changed);
  const certificateWatch =
    (await watchCertificate(options, watching, useCertificate)) ??
    renewSelfSigned(options, certificate, watching, useCertificate);
  return {
    server,
    policies,
    certificate,
    async stop(graceMilliseconds) {
      await server.stop(graceMilliseconds);
      policies.stop();
      context.stop();
      certificateWatch.stop();
    },
  };
}
