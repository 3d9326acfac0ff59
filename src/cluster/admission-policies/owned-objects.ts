import { metadataOf, nameOf } from '../../json/metadata.ts';
import { readText, readTexts } from '../../json/read-field.ts';
import type { JsonObject } from '../../json/value.ts';
import type { ApiClient } from '../api/client.ts';
import { type ApiError, hasStatus } from '../api/cluster-error.ts';
import { managedSelector } from '../api/names.ts';
import { type ResourceType, resourceTypes } from '../api/resource-path.ts';

/**
 * On all generated objects. The API server evaluates an object that is being deleted until its finalizers are gone, so that
 * the webhook can take over before.
 */
export const finalizer = 'kymera.io/admission-policy';

/** In the order in which they are deleted: without a binding, a MutatingAdmissionPolicy does nothing. */
export const ownedTypes = [resourceTypes.admissionPolicyBindings, resourceTypes.admissionPolicies] as const;
export const notServed =
  'the API server does not serve MutatingAdmissionPolicies of admissionregistration.k8s.io/v1';

/** Our objects by type and name. */
export type OwnedObjects = ReadonlyMap<ResourceType, ReadonlyMap<string, JsonObject>>;

export async function ownedObjects(
  client: ApiClient,
): Promise<{ readonly owned: OwnedObjects } | { readonly reason: string }> {
  const owned = new Map<ResourceType, ReadonlyMap<string, JsonObject>>();
  for (const type of ownedTypes) {
    try {
      const { items } = await client.list(type, { labelSelector: managedSelector });
      owned.set(type, new Map(items.map((item) => [nameOf(item), item])));
    } catch (error) {
      if (hasStatus(error, 404)) return { reason: notServed };
      if (hasStatus(error, 403)) return { reason: `it is not permitted: ${(error as ApiError).message}` };
      throw error;
    }
  }
  return { owned };
}

/** Deletes the MutatingAdmissionPolicies of this installation, and returns their names. */
export async function removeAdmissionPolicies(client: ApiClient): Promise<readonly string[]> {
  const found = await ownedObjects(client);
  if ('reason' in found) return [];
  const removed: string[] = [];
  for (const type of ownedTypes) {
    for (const object of found.owned.get(type)?.values() ?? []) {
      await removeObject(client, type, object);
      removed.push(nameOf(object));
    }
  }
  return removed;
}

export function isBeingDeleted(object: JsonObject): boolean {
  return readText(metadataOf(object), 'deletionTimestamp') !== undefined;
}

export function finalizersOf(object: JsonObject): readonly string[] {
  return readTexts(metadataOf(object), 'finalizers');
}

/** Others may write the object at the same time. */
const mostAttempts = 5;

/** Deletes an object, and removes our finalizer from it. */
export async function removeObject(client: ApiClient, type: ResourceType, object: JsonObject): Promise<void> {
  const place = { name: nameOf(object) };
  const uid = readText(metadataOf(object), 'uid') ?? '';
  for (let attempt = 0; attempt < mostAttempts; attempt++) {
    try {
      const left = await client.get(type, place);
      if (readText(metadataOf(left), 'uid') !== uid) return;
      const others = finalizersOf(left).filter((each) => each !== finalizer);
      const isHeld = others.length < finalizersOf(left).length;
      if (!isBeingDeleted(left)) await client.delete(type, place, { preconditions: { uid } });
      else if (isHeld)
        await client.update(type, { ...left, metadata: { ...metadataOf(left), finalizers: others } });
      if (!isHeld || isBeingDeleted(left)) return;
    } catch (error) {
      if (hasStatus(error, 404)) return;
      if (!hasStatus(error, 409)) throw error;
    }
  }
}
