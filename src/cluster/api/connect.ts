import { type ApiClient, createClient } from './client.ts';
import type { ClusterAccess } from './cluster-access.ts';
import { type AccessOptions, findAccess } from './kube-config.ts';
import { createTransport } from './transport.ts';

export interface Connection {
  readonly client: ApiClient;
  readonly access: ClusterAccess;
}

/** A client for the cluster that the options, the environment or the pod name. */
export async function connect(options: AccessOptions = {}): Promise<Connection> {
  const access = await findAccess(options);
  return { client: createClient(createTransport(access)), access };
}
