import { networkInterfaces } from 'node:os';
import type { Kubectl } from './kubectl.ts';

export const serviceName = 'kymera-e2e';

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.');
}

/** An address of this machine other than loopback, for endpoints of a Service. */
export function outsideAddress(): string | undefined {
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(
      ({ family, internal, address }) => family === 'IPv4' && !internal && !address.startsWith('169.254.'),
    )?.address;
}

/** A Service whose only endpoint is a port of this machine. */
export async function createService(
  kubectl: Kubectl,
  name: string,
  endpoint: { readonly host: string; readonly port: number },
): Promise<void> {
  await kubectl.sendOk('apply', [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name },
      spec: { ports: [{ name: 'https', port: 443, targetPort: endpoint.port }] },
    },
    // The controller manager creates the EndpointSlice.
    {
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: { name },
      subsets: [{ addresses: [{ ip: endpoint.host }], ports: [{ name: 'https', port: endpoint.port }] }],
    },
  ]);
}
