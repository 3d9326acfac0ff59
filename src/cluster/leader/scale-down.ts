import { readNumber, readObject, readText } from '../../json/read-field.ts';
import { sleep } from '../api/back-off.ts';
import type { ApiClient } from '../api/client.ts';
import { hasStatus } from '../api/cluster-error.ts';
import { resourceTypes } from '../api/resource-path.ts';

export interface ScaleDownOptions {
  readonly client: ApiClient;
  readonly namespace: string;
  readonly deployments: readonly string[];
  /** The holder of one of these Leases still writes to the cluster. */
  readonly leases: readonly string[];
  readonly timeoutMs: number;
}

const pollMs = 500;

/**
 * Stops the servers of an installation, so that none of them restores what is removed next. Returns the Leases that are
 * still held after the timeout. A Deployment that does not exist counts as stopped.
 */
export async function scaleDown(options: ScaleDownOptions): Promise<readonly string[]> {
  const { client, namespace, deployments, leases, timeoutMs } = options;
  const endsAt = performance.now() + timeoutMs;
  for (const name of deployments) {
    await client
      .patch(resourceTypes.deployments, { namespace, name }, { spec: { replicas: 0 } })
      .catch((error: unknown) => {
        if (!hasStatus(error, 404)) throw error;
      });
  }
  const waits = await Promise.all(leases.map((name) => becomesFree(client, { namespace, name }, endsAt)));
  return leases.filter((_, index) => waits[index] !== true);
}

/** Waits until the holder released the Lease, or did not renew it for its duration, measured with our own clock. */
async function becomesFree(
  client: ApiClient,
  place: { readonly namespace: string; readonly name: string },
  endsAt: number,
): Promise<boolean> {
  let seen = { mark: '', at: 0 };
  for (;;) {
    const { holder, renewed, durationMs } = await readLease(client, place);
    if (holder === '') return true;
    const mark = `${holder} ${renewed}`;
    if (mark !== seen.mark) seen = { mark, at: performance.now() };
    if (performance.now() > seen.at + durationMs) return true;
    if (performance.now() > endsAt) return false;
    await sleep(pollMs);
  }
}

async function readLease(client: ApiClient, place: { readonly namespace: string; readonly name: string }) {
  try {
    const spec = readObject(await client.get(resourceTypes.leases, place), 'spec') ?? {};
    return {
      holder: readText(spec, 'holderIdentity') ?? '',
      renewed: readText(spec, 'renewTime') ?? '',
      durationMs: (readNumber(spec, 'leaseDurationSeconds') ?? 0) * 1000,
    };
  } catch (error) {
    if (hasStatus(error, 404)) return { holder: '', renewed: '', durationMs: 0 };
    throw error;
  }
}
