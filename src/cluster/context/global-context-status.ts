import { equal } from '../../json/equal.ts';
import { readObject, readText } from '../../json/read-field.ts';
import type { JsonObject } from '../../json/value.ts';
import type { ApiClient } from '../api/client.ts';
import { hasStatus } from '../api/cluster-error.ts';
import { globalContextKind } from '../policies/kinds.ts';
import { cutMessage, readyConditions, secondsOf } from '../policies/ready-condition.ts';
import type { GlobalContextState } from './global-context.ts';

/** A new refresh time alone is written at most this often. */
const refreshStepMs = 60_000;

/** The status that an entry should have, or undefined if it has it already. */
export function changedEntryStatus(state: GlobalContextState, now: Date): JsonObject | undefined {
  const { object, ready, message, refreshedAt } = state;
  const current = readObject(object, 'status') ?? {};
  const written = Date.parse(readText(current, 'lastRefreshTime') ?? '');
  const isOld = refreshedAt !== undefined && !(refreshedAt - written < refreshStepMs);
  const desired: JsonObject = {
    ...current,
    conditions: readyConditions(object, { ready, message: cutMessage(message) }, now),
    ready,
    ...(isOld ? { lastRefreshTime: secondsOf(new Date(refreshedAt)) } : {}),
  };
  return equal(current, desired) ? undefined : desired;
}

/** Writes the status of each entry whose status is outdated. Called by the leader. */
export async function writeEntryStatuses(
  client: ApiClient,
  states: readonly GlobalContextState[],
  now: Date,
): Promise<void> {
  let failure: unknown;
  for (const state of states) {
    const status = changedEntryStatus(state, now);
    if (status === undefined) continue;
    try {
      await client.update(globalContextKind.type, { ...state.object, status }, { subresource: 'status' });
    } catch (error) {
      // The entry changed or was deleted in the meantime; the next watch event triggers another write.
      if (!hasStatus(error, 404) && !hasStatus(error, 409)) failure = error;
    }
  }
  if (failure !== undefined) throw failure;
}
