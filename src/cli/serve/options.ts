import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { defaultRequestSettings, type RequestSettings } from '../../admission/policy-provider.ts';
import { inputError } from '../../input-error.ts';
import { checkSelector } from '../input/policy-selector.ts';
import type { Io } from '../io.ts';

/** The command line of `kymera serve`. */
export interface ServeOptions {
  readonly policies?: readonly string[];
  readonly context?: readonly string[];
  readonly host: string;
  readonly port?: number;
  readonly advertise?: readonly string[];
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly caBundle?: string;
  readonly clientCa?: string;
  readonly stateDir?: string;
  readonly kubeconfig?: string;
  readonly kubeContext?: string;
  readonly webhookUrl?: string;
  readonly webhookService?: string;
  readonly namespace?: string;
  readonly configMap?: string;
  readonly deployment?: string;
  readonly policySelector?: string;
  readonly exceptionNamespace?: readonly string[];
  readonly backgroundServiceAccount?: string;
  readonly background?: boolean;
  readonly allowHost?: readonly string[];
  readonly apiCallTimeout?: number;
  readonly apiCallLimit?: number;
  readonly omitEvents?: readonly string[];
  readonly forceFailurePolicyIgnore?: boolean;
  readonly workers: number;
  readonly bodyLimit: number;
  readonly metricsPort?: number;
  readonly debugDecisions?: number | true;
  readonly resourceFilters: string;
  readonly excludeUsernames?: readonly string[];
  readonly excludeGroups?: readonly string[];
  readonly excludeRoles?: readonly string[];
  readonly excludeClusterRoles?: readonly string[];
  readonly shutdownDelay?: number;
  readonly defaultRegistry?: string;
  readonly maxContextSize?: number;
  readonly grace: number;
  readonly logLevel: string;
  readonly quiet?: boolean;
  readonly color?: boolean;
}

export const defaultPort = 9443;
/** Seconds that it takes an API server to learn, by way of the Service's endpoints, that a replica is going. */
const clusterShutdownDelay = 5;
const defaultKeptDecisions = 100;

export function checkServeOptions(options: ServeOptions): void {
  const usage = (message: string) => inputError('KYM_USAGE', message);
  if ((options.tlsCert === undefined) !== (options.tlsKey === undefined))
    throw usage('--tls-cert and --tls-key belong together');
  if ([...(options.policies ?? []), ...(options.context ?? [])].includes('-'))
    throw usage('standard input cannot be served: name files or folders');
  if (options.policySelector !== undefined) checkSelector(options.policySelector);
  if (isInCluster(options)) {
    if (options.policies !== undefined)
      throw usage('policies come from files or from a cluster, not from both');
  } else if (options.policies === undefined) {
    throw usage('name policies to serve with --policies, or a cluster with --kubeconfig');
  }
}

/** Told of a cluster, rather than of files. */
export function isInCluster(options: ServeOptions): boolean {
  return (
    options.kubeconfig !== undefined ||
    options.kubeContext !== undefined ||
    options.webhookUrl !== undefined ||
    options.webhookService !== undefined
  );
}

/** Nobody is told where a server that stands alone can be reached, so there is nothing to wait for. */
export function shutdownDelayMilliseconds(options: ServeOptions): number {
  return (options.shutdownDelay ?? (isInCluster(options) ? clusterShutdownDelay : 0)) * 1000;
}

export function settingsOf(options: ServeOptions): RequestSettings {
  return {
    ...defaultRequestSettings,
    resourceFilters: options.resourceFilters,
    excludeUsernames: options.excludeUsernames ?? [],
    excludeGroups: options.excludeGroups ?? [],
    excludeRoles: options.excludeRoles ?? [],
    excludeClusterRoles: options.excludeClusterRoles ?? [],
    defaultRegistry: options.defaultRegistry ?? defaultRequestSettings.defaultRegistry,
    maxContextSize: options.maxContextSize ?? defaultRequestSettings.maxContextSize,
  };
}

export function keptDecisions({ debugDecisions }: ServeOptions): number | undefined {
  return debugDecisions === true ? defaultKeptDecisions : debugDecisions;
}

/** Where state belongs on this machine, unless told otherwise. */
export function stateFolder({ stateDir }: ServeOptions, { cwd, env }: Io): string {
  if (stateDir !== undefined) return resolve(cwd, stateDir);
  const base = env['XDG_STATE_HOME'];
  return join(base === undefined || base === '' ? join(homedir(), '.local', 'state') : base, 'kymera');
}

/** How callers may name the server. */
export function servedNames({ host, advertise }: ServeOptions): readonly string[] {
  const isAnyAddress = host === '0.0.0.0' || host === '::';
  return [
    ...new Set([...(advertise ?? []), ...(isAnyAddress ? [] : [host]), '127.0.0.1', '::1', 'localhost']),
  ];
}

export function urlOf(options: ServeOptions, port: number): string {
  const name = servedNames(options)[0] ?? 'localhost';
  return `https://${name.includes(':') ? `[${name}]` : name}:${port}`;
}
