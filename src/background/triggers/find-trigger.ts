import { readObject, readText } from '../../json/read-field.ts';
import type { JsonObject } from '../../json/value.ts';
import { refTitle } from '../object-identity.ts';
import type { ObjectReader } from '../ports.ts';
import type { UpdateRequest } from '../queue/update-request.ts';

/** The trigger of a request, or why there is none; `wait` if the API server may not have stored it yet. */
export type FoundTrigger =
  | { readonly status: 'found'; readonly object: JsonObject | null }
  | { readonly status: 'none'; readonly message: string }
  | { readonly status: 'wait'; readonly message: string };

/**
 * Triggers arrive before the API server stores them, and other webhooks may still deny the request. So a created or updated
 * object must exist in its new version, and a deleted object must be gone.
 */
export async function findTrigger(request: UpdateRequest, reader: ObjectReader): Promise<FoundTrigger> {
  const { trigger, operation, admission, oldVersion } = request;
  const title = refTitle(trigger);
  const { subresource: _, ...main } = trigger;
  if (operation === 'DELETE') {
    const current = await reader.get(main);
    const isThere = current !== undefined && isSame(current, trigger.uid) && !isBeingDeleted(current);
    if (isThere) return { status: 'wait', message: `${title} was not deleted` };
    return { status: 'found', object: null };
  }
  const isReadable = trigger.subresource === undefined && operation !== 'CONNECT';
  if (!isReadable) return { status: 'found', object: readObject(admission, 'object') ?? null };
  // The review may be forged: only the stored object shows that the request happened.
  if (trigger.uid === undefined) return { status: 'none', message: `the request for ${title} has no uid` };
  const current = await reader.get(main);
  if (current === undefined) return { status: 'wait', message: `${title} does not exist` };
  if (!isSame(current, trigger.uid))
    return { status: 'none', message: `${title} was deleted and created again` };
  if (operation === 'CREATE' && !isRecent(current, request))
    return { status: 'none', message: `${title} was created long before the request` };
  if (oldVersion !== undefined && versionOf(current) === oldVersion)
    return { status: 'wait', message: `the update of ${title} was not stored` };
  return { status: 'found', object: current };
}

function isSame(object: JsonObject, uid: string | undefined): boolean {
  return uid === undefined || readText(readObject(object, 'metadata') ?? {}, 'uid') === uid;
}

/** Clocks may differ by some minutes. */
const maxAgeMs = 5 * 60_000;

/** Whether the object was created shortly before the review of its creation arrived. */
function isRecent(object: JsonObject, { receivedAt, createdAt }: UpdateRequest): boolean {
  const created = Date.parse(readText(readObject(object, 'metadata') ?? {}, 'creationTimestamp') ?? '');
  return (receivedAt ?? createdAt) - created <= maxAgeMs;
}

export function isBeingDeleted(object: JsonObject): boolean {
  return readText(readObject(object, 'metadata') ?? {}, 'deletionTimestamp') !== undefined;
}

function versionOf(object: JsonObject): string | undefined {
  return readText(readObject(object, 'metadata') ?? {}, 'resourceVersion');
}
