import type { ApiClient } from '../api/client.ts';
import { hasStatus } from '../api/cluster-error.ts';
import type { PolicyRecord } from './catalog.ts';
import { changedStatus, type WebhookState } from './status.ts';

const notLoaded: WebhookState = { written: false };

/** Writes the status of every policy that does not have it yet. For the leader. */
export async function writeStatuses(
  client: ApiClient,
  records: readonly PolicyRecord[],
  stateOf: (policy: NonNullable<PolicyRecord['policy']>) => WebhookState,
  now: Date,
): Promise<void> {
  let failure: unknown;
  for (const record of records) {
    const state = record.policy === undefined ? notLoaded : stateOf(record.policy);
    const status = changedStatus(record, state, now);
    if (status === undefined) continue;
    try {
      await client.update(record.kind.type, { ...record.object, status }, { subresource: 'status' });
    } catch (error) {
      // Changed or deleted meanwhile: the next event brings it up again.
      if (!hasStatus(error, 404) && !hasStatus(error, 409)) failure = error;
    }
  }
  if (failure !== undefined) throw failure;
}
