import { readNumber, readObject, readText } from '../../json/read-field.ts';
import { sleep } from '../api/back-off.ts';
import type { ApiClient } from '../api/client.ts';
import { hasStatus } from '../api/cluster-error.ts';
import { leaseHolder } from '../api/leader-election.ts';
import { resourceTypes } from '../api/resource-path.ts';

export interface RetireOptions {
  readonly client: ApiClient;
  readonly namespace: string;
  readonly leaseName: string;
  readonly deployment: string | undefined;
  /** How long another replica may take to acquire the Lease. */
  readonly waitMs: number;
}

/**
 * Whether the last replica is stopping: it must remove the webhook configurations. The Deployment tells. Without one, no
 * other replica acquires the Lease that was just released.
 */
export async function isLastReplica(options: RetireOptions): Promise<boolean> {
  const { client, namespace, leaseName, deployment, waitMs } = options;
  if (deployment !== undefined) return isGone(client, namespace, deployment);
  const endsAt = performance.now() + waitMs;
  while (performance.now() < endsAt) {
    await sleep(Math.min(500, waitMs));
    if ((await leaseHolder(client, { namespace, name: leaseName })) !== '') return false;
  }
  return true;
}

async function isGone(client: ApiClient, namespace: string, name: string): Promise<boolean> {
  try {
    const deployment = await client.get(resourceTypes.deployments, { namespace, name });
    const isDeleted = readText(readObject(deployment, 'metadata') ?? {}, 'deletionTimestamp') !== undefined;
    return isDeleted || readNumber(readObject(deployment, 'spec') ?? {}, 'replicas') === 0;
  } catch (error) {
    if (hasStatus(error, 404)) return true;
    throw error;
  }
}
