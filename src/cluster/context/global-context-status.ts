import { equal } from '../../json/equal.ts';
import { readObject, readText } from '../../json/read-field.ts';
import type { JsonObject } from '../../json/value.ts';
import type { ApiClient } from '../api/client.ts';
import { hasStatus } from '../api/cluster-error.ts';
import { globalContextKind } from '../policies/kinds.ts';
import { cutMessage, readyConditions, secondsOf } from '../policies/ready-condition.ts';
import type { GlobalContextState } from './global-context.ts';

/** A later refresh is not worth a write of its own before this long. */
const refreshStepMs = 60_000;

/** The status that an entry should have, or undefined when it has it. */
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

/** Writes the status of every entry that does not have it yet. For the leader. */
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
      // Changed or deleted meanwhile: the next event brings it up again.
      if (!hasStatus(error, 404) && !hasStatus(error, 409)) failure = error;
    }
  }
  if (failure !== undefined) throw failure;
}
