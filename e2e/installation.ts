import { readFileSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { parseAllDocuments } from 'yaml';
import type { JsonObject } from '../src/json/value.ts';
import { createKubectl, type Kubectl } from './kubectl.ts';
import type { Settings } from './settings.ts';
import { tokenKubeconfig } from './token-kubeconfig.ts';
import { waitFor } from './wait-for.ts';

/** The namespace in the manifests of the chart. */
export const ownNamespace = 'kymera';
export const accounts = ['admission', 'background', 'hooks'] as const;
export type Account = (typeof accounts)[number];

export function accountUser(account: Account): string {
  return `system:serviceaccount:${ownNamespace}:kymera-${account}`;
}

const manifests = new URL('../deploy/install.yaml', import.meta.url);

/** The objects of the chart with default values. */
export function installedObjects(): readonly JsonObject[] {
  return parseAllDocuments(readFileSync(manifests, 'utf8')).map((document) => document.toJS() as JsonObject);
}

const identityKinds = new Set([
  'Namespace',
  'ServiceAccount',
  'ClusterRole',
  'ClusterRoleBinding',
  'Role',
  'RoleBinding',
]);

/** Creates the service accounts of the chart with exactly its permissions. Idempotent. */
export async function installIdentities(settings: Settings): Promise<void> {
  const kubectl = createKubectl(settings, ownNamespace);
  const objects = installedObjects().filter(({ kind }) => identityKinds.has(String(kind)));
  await kubectl.sendOk('apply', objects, '--server-side', '--force-conflicts');
  for (const account of ['admission', 'background'] as const) {
    await hasRight(kubectl, account, 'list', 'namespaces');
  }
}

/** Waits until aggregated ClusterRoles have taken effect. */
export async function hasRight(
  kubectl: Kubectl,
  account: Account,
  verb: string,
  resource: string,
): Promise<void> {
  await waitFor(
    async () => {
      const question = ['auth', 'can-i', verb, resource, '--all-namespaces', `--as=${accountUser(account)}`];
      return (await kubectl.run(question)).stdout.startsWith('yes');
    },
    { what: `the right of ${account} to ${verb} ${resource}` },
  );
}

/** A kubeconfig with a token of the account, in `folder`. */
export async function accountKubeconfig(
  settings: Settings,
  account: Account,
  folder: string,
): Promise<string> {
  return tokenKubeconfig(createKubectl(settings, ownNamespace), `kymera-${account}`, folder);
}

/** Writes a copy of a kubeconfig that connects to the API server through a local port. */
export function throughPort(kubeconfig: string, port: number): string {
  const config = JSON.parse(readFileSync(kubeconfig, 'utf8')) as {
    clusters: readonly { cluster: { server: string } }[];
  };
  const clusters = config.clusters.map((entry) => ({
    ...entry,
    cluster: {
      ...entry.cluster,
      server: `https://127.0.0.1:${port}`,
      ...(isIP(new URL(entry.cluster.server).hostname) === 0
        ? { 'tls-server-name': new URL(entry.cluster.server).hostname }
        : {}),
    },
  }));
  const path = `${kubeconfig}.${port}`;
  writeFileSync(path, JSON.stringify({ ...config, clusters }), { mode: 0o600 });
  return path;
}

/** Grants an account further permissions as a user does: with a ClusterRole that has the aggregation label. */
export async function grant(
  kubectl: Kubectl,
  account: 'admission' | 'background',
  name: string,
  rules: readonly JsonObject[],
): Promise<void> {
  const labels = { [`rbac.kymera.io/aggregate-to-${account}-controller`]: 'true' };
  await kubectl.sendOk('apply', {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: `${name}-${account}`, labels },
    rules,
  });
}

export async function revoke(
  kubectl: Kubectl,
  account: 'admission' | 'background',
  name: string,
): Promise<void> {
  await kubectl.ok('delete', 'clusterrole', `${name}-${account}`, '--ignore-not-found');
}
