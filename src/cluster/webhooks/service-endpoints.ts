import { readNumber, readObject, readObjects, readTexts } from '../../json/read-field.ts';
import type { ApiClient } from '../api/client.ts';
import type { ResourceType } from '../api/resource-path.ts';

export interface Endpoint {
  readonly address: string;
  readonly port: number;
}

const endpointSlices: ResourceType = {
  group: 'discovery.k8s.io',
  version: 'v1',
  resource: 'endpointslices',
  namespaced: true,
};

/** The ready endpoints of a Service. */
export async function readyEndpoints(
  client: ApiClient,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): Promise<readonly Endpoint[]> {
  const { items } = await client.list(endpointSlices, {
    namespace,
    labelSelector: `kubernetes.io/service-name=${name}`,
  });
  return items.flatMap((slice) => {
    const port = readNumber(readObjects(slice, 'ports')[0] ?? {}, 'port') ?? 443;
    return readObjects(slice, 'endpoints')
      .filter((endpoint) => readObject(endpoint, 'conditions')?.['ready'] !== false)
      .flatMap((endpoint) => readTexts(endpoint, 'addresses').map((address) => ({ address, port })));
  });
}
