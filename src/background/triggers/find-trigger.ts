import { readObject, readText } from '../../json/read-field.ts';
import type { JsonObject } from '../../json/value.ts';
import { refTitle } from '../object-identity.ts';
import type { ObjectReader } from '../ports.ts';
import type { UpdateRequest } from '../queue/update-request.ts';

/** The trigger of a request, or why there is none; `wait` when the API server may not have carried out the request yet. */
export type FoundTrigger =
  | { readonly status: 'found'; readonly object: JsonObject | null }
  | { readonly status: 'none'; readonly message: string }
  | { readonly status: 'wait'; readonly message: string };

/**
 * Triggers are taken before the API server stores them, and others may refuse the request after that: so an object that was
 * created or updated must be there in the new form, and one that was deleted must be gone.
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
  const current = await reader.get(main);
  if (current === undefined) return { status: 'wait', message: `${title} is not there` };
  if (!isSame(current, trigger.uid)) return { status: 'none', message: `${title} is another by now` };
  if (oldVersion !== undefined && versionOf(current) === oldVersion)
    return { status: 'wait', message: `the update of ${title} was not carried out` };
  return { status: 'found', object: current };
}

function isSame(object: JsonObject, uid: string | undefined): boolean {
  return uid === undefined || readText(readObject(object, 'metadata') ?? {}, 'uid') === uid;
}

function isBeingDeleted(object: JsonObject): boolean {
  return readText(readObject(object, 'metadata') ?? {}, 'deletionTimestamp') !== undefined;
}

function versionOf(object: JsonObject): string | undefined {
  return readText(readObject(object, 'metadata') ?? {}, 'resourceVersion');
}
