import { readNumber, readObject, readText } from '../../json/read-field.ts';
import { sleep } from '../api/back-off.ts';
import type { ApiClient } from '../api/client.ts';
import { hasStatus } from '../api/cluster-error.ts';
import { resourceTypes } from '../api/resource-path.ts';

export interface ScaleDownOptions {
  readonly client: ApiClient;
  readonly namespace: string;
  readonly deployments: readonly string[];
  /** Whoever holds one of these still writes to the cluster. */
  readonly leases: readonly string[];
  readonly timeoutMs: number;
}

const pollMs = 500;

/**
 * Stops the servers of an installation, so that none of them writes back what is taken away next. Returns the leases that are still
 * held when time is up. A Deployment that is gone already is as good as stopped.
 */
export async function scaleDown(options: ScaleDownOptions): Promise<readonly string[]> {
  const { client, namespace, deployments, leases, timeoutMs } = options;
  const endsAt = Date.now() + timeoutMs;
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

/** Given up by its holder, or not renewed for as long as it lasts: by our own clock, which may differ from the holder's. */
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
    if (mark !== seen.mark) seen = { mark, at: Date.now() };
    if (Date.now() > seen.at + durationMs) return true;
    if (Date.now() > endsAt) return false;
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
