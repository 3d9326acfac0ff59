import { type ApiClient, createClient } from './client.ts';
import type { AccessOptions, ClusterAccess } from './cluster-access.ts';
import { createTransport } from './transport.ts';

export interface Connection {
  readonly client: ApiClient;
  readonly access: ClusterAccess;
}

/** Finds the API server as kubectl does. Throws ClusterAccessError if the configuration is missing or invalid. */
export async function findAccess(options: AccessOptions = {}): Promise<ClusterAccess> {
  const { loadAccess } = await import('./kubeconfig-access.ts');
  return loadAccess(options);
}

/** A client for the cluster that the options, the environment or the Pod determine. */
export async function connect(options: AccessOptions = {}): Promise<Connection> {
  const access = await findAccess(options);
  return { client: createClient(createTransport(access)), access };
}
