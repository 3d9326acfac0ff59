import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, dirname, resolve } from 'node:path';
import { parse } from 'yaml';
import { readBoolean, readObject, readObjects, readText } from '../../json/read-field.ts';
import { isObject, type Json, type JsonObject, member } from '../../json/value.ts';
import type { ClusterAccess, Credentials, ServerTrust } from './cluster-access.ts';
import { ClusterAccessError, messageOf } from './cluster-error.ts';
import { createExecCredentials } from './exec-credential.ts';
import { inClusterAccess, tokenFromFile } from './in-cluster.ts';

export interface AccessOptions {
  /** A kubeconfig file; without it $KUBECONFIG, then the pod's service account, then ~/.kube/config. */
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

/** Finds the API server as kubectl does. Throws ClusterAccessError with what is missing. */
export async function findAccess(options: AccessOptions = {}): Promise<ClusterAccess> {
  const env = options.env ?? process.env;
  const named = options.kubeconfig ?? env['KUBECONFIG'];
  if (named === undefined || named === '') {
    const inCluster = await inClusterAccess(env);
    if (inCluster !== undefined) return inCluster;
  }
  const files = named ? named.split(delimiter).filter(Boolean) : [resolve(homedir(), '.kube', 'config')];
  return accessOf(await readFiles(files), options.context);
}

interface NamedEntries {
  readonly clusters: Map<string, Entry>;
  readonly users: Map<string, Entry>;
  readonly contexts: Map<string, Entry>;
  currentContext: string | undefined;
}

interface Entry {
  readonly value: JsonObject;
  /** Relative paths are relative to the file they stand in. */
  readonly folder: string;
}

async function readFiles(files: readonly string[]): Promise<NamedEntries> {
  const entries: NamedEntries = {
    clusters: new Map(),
    users: new Map(),
    contexts: new Map(),
    currentContext: undefined,
  };
  let lastError: unknown;
  let readable = 0;
  for (const file of files) {
    try {
      addEntries(entries, parse(await readFile(file, 'utf8')) as Json, dirname(resolve(file)));
      readable += 1;
    } catch (error) {
      lastError = error;
    }
  }
  if (readable === 0) {
    throw new ClusterAccessError(`no kubeconfig can be read: ${messageOf(lastError)}`, { cause: lastError });
  }
  return entries;
}

/** The first file that names something wins, as for kubectl. */
function addEntries(entries: NamedEntries, document: Json, folder: string): void {
  if (!isObject(document)) return;
  for (const [list, single, into] of [
    ['clusters', 'cluster', entries.clusters],
    ['users', 'user', entries.users],
    ['contexts', 'context', entries.contexts],
  ] as const) {
    for (const item of readObjects(document, list)) {
      const name = readText(item, 'name') ?? '';
      if (!into.has(name)) into.set(name, { value: readObject(item, single) ?? {}, folder });
    }
  }
  entries.currentContext ??= readText(document, 'current-context');
}

async function accessOf(entries: NamedEntries, wanted: string | undefined): Promise<ClusterAccess> {
  const contextName = wanted ?? entries.currentContext ?? '';
  const context = entries.contexts.get(contextName)?.value;
  if (context === undefined)
    throw new ClusterAccessError(`the kubeconfig has no context ${JSON.stringify(contextName)}`);
  const cluster = entries.clusters.get(readText(context, 'cluster') ?? '');
  const server = cluster === undefined ? undefined : readText(cluster.value, 'server');
  if (cluster === undefined || server === undefined)
    throw new ClusterAccessError(`the context ${contextName} names no cluster with a server`);
  const user = entries.users.get(readText(context, 'user') ?? '') ?? { value: {}, folder: '.' };
  return {
    server: server.replace(/\/+$/, ''),
    tls: await trustOf(cluster),
    // Where kubectl works by default is no place for a server: it is never subject to its own policies.
    namespace: undefined,
    credentials: await credentialsOf(user, server),
  };
}

async function trustOf(entry: Entry): Promise<ServerTrust> {
  const ca = await dataOrFile(entry, 'certificate-authority');
  const servername = readText(entry.value, 'tls-server-name');
  return {
    ca,
    servername,
    ...(readBoolean(entry.value, 'insecure-skip-tls-verify') === true ? { rejectUnauthorized: false } : {}),
  };
}

async function credentialsOf(entry: Entry, server: string): Promise<ClusterAccess['credentials']> {
  const user = entry.value;
  if (member(user, 'auth-provider') !== undefined) {
    throw new ClusterAccessError(
      'the kubeconfig signs in with an auth-provider, which Kubernetes has given up; use an exec plugin such as kubelogin',
    );
  }
  const exec = readObject(user, 'exec');
  if (exec !== undefined) return createExecCredentials(exec, entry.folder, server);
  const tokenFile = readText(user, 'tokenFile');
  if (tokenFile !== undefined) {
    const token = tokenFromFile(resolve(entry.folder, tokenFile));
    return async () => ({ authorization: `Bearer ${await token()}` });
  }
  const cert = await dataOrFile(entry, 'client-certificate');
  const key = await dataOrFile(entry, 'client-key');
  const authorization = authorizationOf(user);
  const fixed: Credentials = {
    cert,
    key,
    authorization,
  };
  return async () => fixed;
}

function authorizationOf(user: JsonObject): string | undefined {
  const token = readText(user, 'token');
  if (token !== undefined) return `Bearer ${token}`;
  const username = readText(user, 'username');
  if (username === undefined) return undefined;
  return `Basic ${Buffer.from(`${username}:${readText(user, 'password') ?? ''}`).toString('base64')}`;
}

async function dataOrFile({ value, folder }: Entry, field: string): Promise<string | undefined> {
  const data = readText(value, `${field}-data`);
  if (data !== undefined) return Buffer.from(data, 'base64').toString('utf8');
  const file = readText(value, field);
  if (file === undefined) return undefined;
  try {
    return await readFile(resolve(folder, file), 'utf8');
  } catch (error) {
    throw new ClusterAccessError(`${field} of the kubeconfig cannot be read: ${messageOf(error)}`, {
      cause: error,
    });
  }
}
