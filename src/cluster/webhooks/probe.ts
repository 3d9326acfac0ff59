import { request } from 'node:https';
import { isIPv6 } from 'node:net';
import type { ApiClient } from '../api/client.ts';
import { ClusterAccessError, messageOf } from '../api/cluster-error.ts';
import { readyEndpoints } from './service-endpoints.ts';

export interface ProbeOptions {
  readonly timeoutMs?: number | undefined;
  /** The name that the certificate must contain; by default the host of the address. */
  readonly servername?: string | undefined;
  /** The path of a webhook, with its token. */
  readonly path?: string | undefined;
}

/**
 * Calls the server's health check, at the address and with the CA that the API server will use. With a path it also checks
 * that the server accepts the token in it.
 */
export async function probeServer(address: string, ca: string, options: ProbeOptions = {}): Promise<void> {
  const { path } = options;
  const health = await statusOf(address, '/healthz', 'GET', ca, options);
  if (health !== 200) throw unreachable(address, `it answered ${health}`);
  // An empty body is refused, but only after the path was accepted.
  if (path !== undefined && (await statusOf(address, path, 'POST', ca, options)) === 404)
    throw unreachable(address, 'it does not accept the path of the webhook');
}

function statusOf(
  address: string,
  path: string,
  method: string,
  ca: string,
  { timeoutMs = 5_000, servername }: ProbeOptions,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const tls = servername === undefined ? { ca } : { ca, servername };
    const headers = { 'content-type': 'application/json' };
    const call = request(new URL(path, address), { ...tls, agent: false, method, headers }, (response) => {
      clearTimeout(timer);
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    const timer = setTimeout(() => call.destroy(new Error('no response before the deadline')), timeoutMs);
    call.once('error', (error) => {
      clearTimeout(timer);
      reject(unreachable(address, messageOf(error), error));
    });
    call.end();
  });
}

/** The message has only the origin: the path contains a token. */
function unreachable(address: string, reason: string, cause?: unknown): ClusterAccessError {
  return new ClusterAccessError(`the server cannot be reached at ${new URL(address).origin}: ${reason}`, {
    cause,
  });
}

export interface ServicePlace {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}

const unknownHost: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'EAI_AGAIN']);

/** Calls the health check through a Service. Outside the cluster, where its name does not resolve, through an endpoint. */
export async function probeService(
  client: ApiClient,
  place: ServicePlace,
  ca: string,
  path?: string,
): Promise<void> {
  const { namespace, name, port } = place;
  const host = `${name}.${namespace}.svc`;
  try {
    await probeServer(`https://${host}:${port}`, ca, { path });
  } catch (error) {
    const { cause } = error as { readonly cause?: { readonly code?: unknown } | undefined };
    if (!unknownHost.has(cause?.code)) throw error;
    const [endpoint] = await readyEndpoints(client, place);
    if (endpoint === undefined)
      throw new ClusterAccessError(`the Service ${namespace}/${name} has no ready endpoints`);
    const address = isIPv6(endpoint.address) ? `[${endpoint.address}]` : endpoint.address;
    await probeServer(`https://${address}:${endpoint.port}`, ca, { servername: host, path });
  }
}
