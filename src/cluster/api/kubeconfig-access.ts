import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Agent } from 'node:http';
import type { RequestOptions } from 'node:https';
import { homedir } from 'node:os';
import { delimiter, dirname, resolve } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { parse } from 'yaml';
import { stringifyJson } from '../../json/json-text.ts';
import { readObject, readText } from '../../json/read-field.ts';
import { isObject, type Json } from '../../json/value.ts';
import type { AccessOptions, ClusterAccess, ConnectionSettings } from './cluster-access.ts';
import { ClusterAccessError, messageOf } from './cluster-error.ts';
import { proxyFromEnvironment } from './proxy.ts';

type Cluster = KubeConfig['clusters'][number];
type User = KubeConfig['users'][number];

/** Token files and exec plugins are read again after this time, as client-go does. */
const settingsLifeMs = 60_000;
const defaultPluginTimeoutMs = 60_000;
const serviceAccountFolder = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * Finds the API server as kubectl does. This module imports the client library, which is large: load it with a dynamic
 * import, and only when a command contacts a cluster.
 */
export async function loadAccess(
  options: AccessOptions = {},
  /** Prefix of the service account's folder, for tests. */
  root = '',
): Promise<ClusterAccess> {
  const env = options.env ?? process.env;
  const named = options.kubeconfig ?? env['KUBECONFIG'];
  const config = new KubeConfig();
  if (!named && env['KUBERNETES_SERVICE_HOST'] && existsSync(`${root}${serviceAccountFolder}/ca.crt`)) {
    config.loadFromCluster(root);
    const namespace = config.getContextObject(config.getCurrentContext())?.namespace?.trim();
    return accessOf(config, namespace, options);
  }
  const files = named ? named.split(delimiter).filter(Boolean) : [resolve(homedir(), '.kube', 'config')];
  selectContext(config, await readFiles(files), options.context);
  // kubectl's default namespace is not the namespace of a server.
  return accessOf(config, undefined, options);
}

/** Reads the files that exist. The first file that defines an entry wins, as in kubectl; `mergeConfig` refuses duplicates. */
async function readFiles(files: readonly string[]): Promise<readonly KubeConfig[]> {
  const configs: KubeConfig[] = [];
  let lastError: unknown;
  for (const file of files) {
    try {
      configs.push(parseFile(await readFile(file, 'utf8'), dirname(resolve(file))));
    } catch (error) {
      lastError = error;
    }
  }
  if (configs.length === 0) {
    throw new ClusterAccessError(`no kubeconfig can be read: ${messageOf(lastError)}`, { cause: lastError });
  }
  return configs;
}

function parseFile(source: string, folder: string): KubeConfig {
  const document = parse(source) as Json;
  const config = new KubeConfig();
  config.loadFromString(stringifyJson(isObject(document) ? document : {}), { onInvalidEntry: 'filter' });
  config.makePathsAbsolute(folder);
  for (const user of config.users as Mutable<User>[]) {
    const exec = user.exec as { command?: string } | null | undefined;
    if (exec?.command?.includes('/')) exec.command = resolve(folder, exec.command);
    const tokenFile = tokenFileOf(document, user.name);
    if (tokenFile === undefined) continue;
    // The library reads a token file only as the service account's.
    delete (user as { token?: string }).token;
    user.authProvider = { name: 'tokenFile', config: { tokenFile: resolve(folder, tokenFile) } };
  }
  return config;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

function tokenFileOf(document: Json, name: string): string | undefined {
  const users = isObject(document) ? document['users'] : undefined;
  const entry = Array.isArray(users)
    ? users.find((user) => isObject(user) && user['name'] === name)
    : undefined;
  return isObject(entry) ? readText(readObject(entry, 'user') ?? {}, 'tokenFile') : undefined;
}

function selectContext(config: KubeConfig, configs: readonly KubeConfig[], wanted: string | undefined): void {
  const first = <T extends { readonly name: string }>(
    entries: (config: KubeConfig) => readonly T[],
    name: string | undefined,
  ) => configs.flatMap(entries).find((entry) => entry.name === name);
  const contextName = wanted ?? configs.map((each) => each.getCurrentContext()).find(Boolean) ?? '';
  const context = first((each) => each.getContexts(), contextName);
  if (context === undefined)
    throw new ClusterAccessError(`the kubeconfig has no context ${JSON.stringify(contextName)}`);
  const cluster = first((each) => each.getClusters(), context.cluster);
  if (cluster === undefined)
    throw new ClusterAccessError(`the context ${contextName} names no cluster with a server`);
  // Without a user the library ignores the cluster's certificate authority.
  const user = first((each) => each.getUsers(), context.user) ?? ({ name: '' } as User);
  checkAuthProvider(user);
  config.loadFromClusterAndUser(
    // TLS settings do not apply to plain HTTP, but the library refuses it otherwise.
    cluster.server.startsWith('http:') ? { ...cluster, skipTLSVerify: true } : cluster,
    withExecInfo(user, cluster),
  );
}

function checkAuthProvider({ authProvider }: User): void {
  if (!authProvider || authProvider.name === 'oidc' || authProvider.name === 'tokenFile') return;
  throw new ClusterAccessError(
    `the kubeconfig authenticates with the auth-provider ${JSON.stringify(String(authProvider.name))}, which Kubernetes has removed; use an exec plugin`,
  );
}

/** The library does not pass KUBERNETES_EXEC_INFO, which plugins need to choose the version of their output. */
function withExecInfo(user: User, cluster: Cluster): User {
  if (!user.exec) return user;
  const info = {
    apiVersion: user.exec.apiVersion ?? 'client.authentication.k8s.io/v1',
    kind: 'ExecCredential',
    spec: {
      interactive: false,
      cluster: {
        server: cluster.server,
        'tls-server-name': cluster.tlsServerName,
        'insecure-skip-tls-verify': cluster.skipTLSVerify,
        'certificate-authority-data': cluster.caData,
        'proxy-url': cluster.proxyUrl,
      },
    },
  };
  const env = [
    ...(user.exec.env ?? []),
    { name: 'KUBERNETES_EXEC_INFO', value: stringifyJson(info as unknown as Json) },
  ];
  return { ...user, exec: { ...user.exec, env } };
}

function accessOf(
  config: KubeConfig,
  namespace: string | undefined,
  { env = process.env, pluginTimeoutMs = defaultPluginTimeoutMs }: AccessOptions,
): ClusterAccess {
  useProxyOf(env, config);
  killSlowPlugins(config, pluginTimeoutMs);
  let agent: { readonly key: string; readonly agent: Agent } | undefined;
  let current: { readonly settings: ConnectionSettings; readonly loadedAt: number } | undefined;
  let pending: Promise<ConnectionSettings> | undefined;

  /** Keeps the agent, and with it the open connections, while the TLS settings are the same. */
  function pooledAgent(options: RequestOptions): Agent {
    const { ca, cert, key, servername, rejectUnauthorized } = options;
    const tlsKey = [ca, cert, key, servername, rejectUnauthorized].map(String).join('\0');
    if (agent?.key === tlsKey) return agent.agent;
    agent?.agent.destroy();
    // The library's agents open a connection per request unless told otherwise.
    const pool = { keepAlive: true, keepAliveMsecs: 15_000, maxFreeSockets: 8 };
    const created = Object.assign(options.agent as Agent, pool);
    agent = { key: tlsKey, agent: created };
    return created;
  }

  async function load(): Promise<ConnectionSettings> {
    const user = config.getCurrentUser();
    refuseExpiredToken(user);
    const options: RequestOptions = {};
    try {
      await withinTimeout(config.applyToHTTPSOptions(options), pluginTimeoutMs);
    } catch (error) {
      throw credentialError(user, error);
    }
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(options.headers ?? {})) headers[name] = String(value).trim();
    if (options.auth) headers['Authorization'] = `Basic ${Buffer.from(options.auth).toString('base64')}`;
    const settings = { agent: pooledAgent(options), headers };
    current = { settings, loadedAt: performance.now() };
    return settings;
  }

  return {
    server: config.getCurrentCluster()?.server ?? '',
    namespace,
    async settings(rejected) {
      const isRejected = rejected !== undefined && rejected === current?.settings;
      if (current !== undefined && !isRejected && performance.now() - current.loadedAt < settingsLifeMs)
        return current.settings;
      pending ??= load().finally(() => {
        pending = undefined;
      });
      return pending;
    },
    close: () => agent?.agent.destroy(),
  };
}

/** The library reads only the `proxy-url` of the kubeconfig. */
function useProxyOf(env: NonNullable<AccessOptions['env']>, config: KubeConfig): void {
  const cluster = config.getCurrentCluster() as Mutable<Cluster> | null;
  if (cluster === null || cluster.proxyUrl) return;
  const proxy = proxyFromEnvironment(cluster.server, env);
  if (proxy !== undefined) cluster.proxyUrl = proxy;
}

/** The library starts exec plugins without a time limit. The error of the timeout comes first: it says more. */
function killSlowPlugins(config: KubeConfig, pluginTimeoutMs: number): void {
  const timeout = pluginTimeoutMs + 1_000;
  const { authenticators } = config as unknown as { authenticators: readonly { execFn?: typeof spawn }[] };
  for (const authenticator of authenticators) {
    if (authenticator.execFn === undefined) continue;
    authenticator.execFn = ((command: string, args: readonly string[], options: object) =>
      spawn(command, args, { ...options, timeout, killSignal: 'SIGKILL' })) as typeof spawn;
  }
}

/** Version 1.4.0 of the library fails to refresh OIDC tokens, and sends no token at all if it cannot. */
function refuseExpiredToken(user: User | null): void {
  if (user?.authProvider?.name !== 'oidc') return;
  const hint = 'an exec plugin such as kubelogin renews tokens';
  const token: unknown = user.authProvider.config?.['id-token'];
  if (typeof token !== 'string' || token === '')
    throw new ClusterAccessError(`the OIDC user ${user.name} of the kubeconfig has no id-token; ${hint}`);
  const expiry = expiryOf(token);
  if (expiry === undefined)
    throw new ClusterAccessError(`the id-token of the OIDC user ${user.name} is not a JWT; ${hint}`);
  if (expiry * 1000 <= Date.now()) {
    const time = new Date(expiry * 1000).toISOString();
    throw new ClusterAccessError(
      `the id-token of the OIDC user ${user.name} expired at ${time}; log in again, or use exec: ${hint}`,
    );
  }
}

function expiryOf(token: string): number | undefined {
  try {
    const payload = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')) as Json;
    const expiry = isObject(payload) ? payload['exp'] : undefined;
    return typeof expiry === 'number' && Number.isFinite(expiry) ? expiry : undefined;
  } catch {
    return undefined;
  }
}

/** An exec plugin may wait for input that never comes. */
function withinTimeout(work: Promise<void>, pluginTimeoutMs: number): Promise<void> {
  return new Promise((done, fail) => {
    const error = new ClusterAccessError(`no credentials within ${pluginTimeoutMs / 1000} seconds`);
    const timer = setTimeout(() => fail(error), pluginTimeoutMs);
    work.then(done, fail).finally(() => clearTimeout(timer));
  });
}

/** Does not quote output of a plugin: it may contain a token. */
function credentialError(user: User | null, error: unknown): ClusterAccessError {
  const command: unknown = user?.exec?.command;
  const cause = { cause: error };
  if (typeof command !== 'string')
    return new ClusterAccessError(`credentials of the kubeconfig cannot be read: ${messageOf(error)}`, cause);
  if (error instanceof SyntaxError || error instanceof TypeError)
    return new ClusterAccessError(`the exec plugin ${command} did not print an ExecCredential as JSON`);
  return new ClusterAccessError(
    `the exec plugin ${command} failed: ${messageOf(error).trim() || 'no message'}`,
    cause,
  );
}
