import type { ApiClient } from './api/client.ts';
import { ApiError, hasStatus } from './api/cluster-error.ts';
import { managedLabels } from './api/names.ts';
import { resourceTypes } from './api/resource-path.ts';

/** Outside a cluster nobody has made the namespace that holds Lease and Secrets. Inside it is there, and may not be read. */
export async function ensureNamespace(client: ApiClient, name: string): Promise<void> {
  try {
    await client.get(resourceTypes.namespaces, { name });
  } catch (error) {
    if (!hasStatus(error, 404)) {
      if (hasStatus(error, 403)) return;
      throw error;
    }
    const metadata = { name, labels: { ...managedLabels } };
    try {
      await client.create(resourceTypes.namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata });
    } catch (refusal) {
      if (!(refusal instanceof ApiError) || refusal.status !== 409) throw refusal;
    }
  }
}
