import { request } from 'node:https';
import { isIPv6 } from 'node:net';
import type { ApiClient } from '../api/client.ts';
import { ClusterAccessError, messageOf } from '../api/cluster-error.ts';
import { readyEndpoints } from './service-endpoints.ts';

export interface ProbeOptions {
  readonly timeoutMs?: number | undefined;
  /** The name that the certificate must contain; by default the host of the address. */
  readonly servername?: string | undefined;
}

/** Calls the server's health check, at the address and with the CA that the API server will use. */
export function probeServer(address: string, ca: string, options: ProbeOptions = {}): Promise<void> {
  const { timeoutMs = 5_000, ...tls } = options;
  return new Promise((resolve, reject) => {
    const fail = (reason: string, cause?: unknown) =>
      reject(new ClusterAccessError(`the server cannot be reached at ${address}: ${reason}`, { cause }));
    const call = request(
      new URL('/healthz', address),
      { ca, ...tls, agent: false, method: 'GET' },
      (response) => {
        clearTimeout(timer);
        response.resume();
        if (response.statusCode === 200) resolve();
        else fail(`it answered ${response.statusCode}`);
      },
    );
    const timer = setTimeout(() => call.destroy(new Error('no response before the deadline')), timeoutMs);
    call.once('error', (error) => {
      clearTimeout(timer);
      fail(messageOf(error), error);
    });
    call.end();
  });
}

export interface ServicePlace {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}

const unknownHost: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'EAI_AGAIN']);

/** Calls the health check through a Service. Outside the cluster, where its name does not resolve, through an endpoint. */
export async function probeService(client: ApiClient, place: ServicePlace, ca: string): Promise<void> {
  const { namespace, name, port } = place;
  const host = `${name}.${namespace}.svc`;
  try {
    await probeServer(`https://${host}:${port}`, ca);
  } catch (error) {
    const { cause } = error as { readonly cause?: { readonly code?: unknown } | undefined };
    if (!unknownHost.has(cause?.code)) throw error;
    const [endpoint] = await readyEndpoints(client, place);
    if (endpoint === undefined)
      throw new ClusterAccessError(`the Service ${namespace}/${name} has no ready endpoints`);
    const address = isIPv6(endpoint.address) ? `[${endpoint.address}]` : endpoint.address;
    await probeServer(`https://${address}:${endpoint.port}`, ca, { servername: host });
  }
}
