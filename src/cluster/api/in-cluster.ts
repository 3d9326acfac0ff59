import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClusterAccess } from './cluster-access.ts';

const serviceAccountFolder = '/var/run/secrets/kubernetes.io/serviceaccount';
/** The kubelet renews projected tokens well before they end. */
const tokenLifeMs = 60_000;

/** Access with the service account of the pod; undefined outside a pod. */
export async function inClusterAccess(
  env: Readonly<Record<string, string | undefined>>,
  folder = serviceAccountFolder,
): Promise<ClusterAccess | undefined> {
  const host = env['KUBERNETES_SERVICE_HOST'];
  const port = env['KUBERNETES_SERVICE_PORT'] ?? '443';
  if (!host) return undefined;
  const token = tokenFromFile(join(folder, 'token'));
  const ca = await readFile(join(folder, 'ca.crt'), 'utf8').catch(() => undefined);
  const namespace = await readFile(join(folder, 'namespace'), 'utf8').catch(() => undefined);
  if (ca === undefined) return undefined;
  return {
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    tls: { ca },
    namespace: namespace?.trim(),
    credentials: async () => ({ authorization: `Bearer ${await token()}` }),
  };
}

/** Reads a token again once a minute. */
export function tokenFromFile(file: string, now: () => number = Date.now): () => Promise<string> {
  let known: { readonly token: string; readonly readAt: number } | undefined;
  return async () => {
    if (known === undefined || now() - known.readAt > tokenLifeMs) {
      known = { token: (await readFile(file, 'utf8')).trim(), readAt: now() };
    }
    return known.token;
  };
}
