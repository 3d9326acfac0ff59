import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defaultRequestSettings, type RequestSettings } from '../../admission/policy-provider.ts';
import { checkPolicySelector } from '../../cluster/policies/selection.ts';
import { parseDuration } from '../../expression/duration.ts';
import { FieldPathError } from '../../patch/field-path/field-path.ts';
import { defaultPolicyLimits, type PolicyLimits } from '../../policy/policy-limits.ts';
import { inputError } from '../../problem.ts';
import { type PageFiles, readPageFiles } from '../../server/page.ts';
import { readWhole } from '../input/text-input.ts';
import type { Io } from '../io.ts';
import { packageRoot } from '../package-root.ts';

/** The options of `kymera serve`. */
export interface ServeOptions {
  readonly policies?: readonly string[] | undefined;
  readonly context?: readonly string[] | undefined;
  readonly host: string;
  readonly port?: number | undefined;
  readonly advertise?: readonly string[] | undefined;
  readonly tlsCert?: string | undefined;
  readonly tlsKey?: string | undefined;
  readonly caBundle?: string | undefined;
  readonly clientCa?: string | undefined;
  readonly stateDir?: string | undefined;
  readonly kubeconfig?: string | undefined;
  readonly kubeContext?: string | undefined;
  readonly webhookUrl?: string | undefined;
  readonly webhookService?: string | undefined;
  readonly namespace?: string | undefined;
  readonly configMap?: string | undefined;
  readonly deployment?: string | undefined;
  readonly policySelector?: string | undefined;
  readonly exceptionNamespace?: readonly string[] | undefined;
  readonly backgroundServiceAccount?: string | undefined;
  readonly background?: boolean | undefined;
  readonly allowHost?: readonly string[] | undefined;
  readonly policyRuleLimit: number;
  readonly policySizeLimit: number;
  readonly allowHostNamespaced?: readonly string[] | undefined;
  readonly apiCallTimeout?: number | undefined;
  readonly apiCallLimit?: number | undefined;
  readonly omitEvents?: readonly string[] | undefined;
  readonly forceFailurePolicyIgnore?: boolean | undefined;
  readonly admissionPolicies?: boolean | undefined;
  readonly workers: number;
  readonly bodyLimit: number;
  /** Serve the page at `/`. */
  readonly playground?: boolean | undefined;
  readonly liveTokenFile?: string | undefined;
  readonly metricsPort?: number | undefined;
  readonly debugDecisions?: number | true | undefined;
  readonly resourceFilters: string;
  readonly excludeUsernames?: readonly string[] | undefined;
  readonly excludeGroups?: readonly string[] | undefined;
  readonly excludeRoles?: readonly string[] | undefined;
  readonly excludeClusterRoles?: readonly string[] | undefined;
  readonly shutdownDelay?: number | undefined;
  readonly defaultRegistry?: string | undefined;
  readonly maxContextSize?: number | undefined;
  readonly grace: number;
  readonly logLevel: string;
  readonly printWebhookConfiguration?: boolean | undefined;
  readonly quiet?: boolean | undefined;
  readonly color?: boolean | undefined;
}

export const defaultPort = 9443;
/** Seconds until an API server notices, through the endpoints of the Service, that a replica stops. */
const clusterShutdownDelay = 5;
const defaultKeptDecisions = 100;

export function checkServeOptions(options: ServeOptions): void {
  const usage = (message: string) => inputError('KYM_USAGE', message);
  if ((options.tlsCert === undefined) !== (options.tlsKey === undefined))
    throw usage('--tls-cert and --tls-key must be set together');
  if ([...(options.policies ?? []), ...(options.context ?? [])].includes('-'))
    throw usage('standard input cannot be served: use files or folders');
  if (options.policySelector !== undefined) checkSelector(options.policySelector);
  if (isInCluster(options)) {
    if (options.printWebhookConfiguration === true)
      throw usage('in a cluster, the server writes the webhook configuration itself');
    if (options.policies !== undefined)
      throw usage('policies come from files or from a cluster, not from both');
  } else if (options.policies === undefined) {
    throw usage('set --policies to serve files, or --kubeconfig to serve a cluster');
  }
}

/** Whether policies come from a cluster. */
export function isInCluster(options: ServeOptions): boolean {
  return (
    options.kubeconfig !== undefined ||
    options.kubeContext !== undefined ||
    options.webhookUrl !== undefined ||
    options.webhookService !== undefined
  );
}

/** A standalone server has no Service whose endpoints must be updated, so it need not wait. */
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

export function policyLimitsOf({
  policyRuleLimit,
  policySizeLimit,
}: Pick<ServeOptions, 'policyRuleLimit' | 'policySizeLimit'>): PolicyLimits {
  return { ...defaultPolicyLimits, rules: policyRuleLimit, bytes: policySizeLimit };
}

export function keptDecisions({ debugDecisions }: ServeOptions): number | undefined {
  return debugDecisions === true ? defaultKeptDecisions : debugDecisions;
}

/** The state folder: --state-dir, or the default of the platform. */
export function stateFolder({ stateDir }: ServeOptions, { cwd, env }: Io): string {
  if (stateDir !== undefined) return resolve(cwd, stateDir);
  const base = env['XDG_STATE_HOME'];
  return join(base === undefined || base === '' ? join(homedir(), '.local', 'state') : base, 'kymera');
}

/** The host names and addresses of the server. */
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

/** Throws InputError for an invalid --policy-selector. */
export function checkSelector(selector: string): void {
  try {
    checkPolicySelector(selector);
  } catch (error) {
    if (!(error instanceof FieldPathError)) throw error;
    throw inputError('KYM_USAGE', `--policy-selector: ${error.message}`);
  }
}

export const scanIntervalVariable = 'BACKGROUND_SCAN_INTERVAL';
const defaultScanIntervalMs = 3_600_000;

/** The resync interval in ms from the environment, as in Kyverno; 0 disables it. */
export function scanInterval({ env }: Io): number {
  const text = env[scanIntervalVariable]?.trim() ?? '';
  if (text === '') return defaultScanIntervalMs;
  if (/^0+[a-z]*$/.test(text)) return 0;
  const nanoseconds = parseDuration(text);
  if (nanoseconds === undefined || nanoseconds < 1_000_000_000n) {
    throw inputError(
      'KYM_USAGE',
      `${scanIntervalVariable} must be a duration of at least a second, or 0: ${text}`,
    );
  }
  return Number(nanoseconds / 1_000_000n);
}

/** The page for `--playground`. Throws InputError if it is not built. */
export function playgroundPage({ playground }: ServeOptions): PageFiles | undefined {
  if (playground !== true) return undefined;
  const page = readPageFiles(fileURLToPath(new URL('dist/web', packageRoot)));
  if (page === undefined) {
    throw inputError('KYM_INPUT_NOT_FOUND', '--playground: the page is not built', {
      hint: 'run npm run build:web',
    });
  }
  return page;
}

const shortestToken = 16;

/** The token in `--live-token-file`. Throws InputError if it can be guessed, or if there is no page that could use it. */
export async function readLiveToken(
  { liveTokenFile: file, playground }: ServeOptions,
  io: Io,
): Promise<string | undefined> {
  if (file === undefined) return undefined;
  if (playground !== true) {
    throw inputError('KYM_USAGE', '--live-token-file needs the page that shows the live view', {
      hint: 'add --playground',
    });
  }
  const token = (await readWhole(file, io)).trim();
  if (token.length < shortestToken || /[^\x21-\x7e]/.test(token)) {
    throw inputError(
      'KYM_USAGE',
      `the token of the live view must have at least ${shortestToken} visible ASCII characters`,
      {
        file,
        hint: `create one, for example with: openssl rand -hex 32 > ${file}`,
      },
    );
  }
  return token;
}
