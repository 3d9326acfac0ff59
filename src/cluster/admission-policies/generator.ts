import type { RequestSettings } from '../../admission/policy-provider.ts';
import { requestsGeneration } from '../../convert/forms/generation.ts';
import { equal } from '../../json/equal.ts';
import { labelsOf, metadataOf, nameOf } from '../../json/metadata.ts';
import { readObjects, readText } from '../../json/read-field.ts';
import type { JsonObject } from '../../json/value.ts';
import type { CompiledPolicy } from '../../policy/compiled.ts';
import type { ApiClient } from '../api/client.ts';
import { ApiError, hasStatus } from '../api/cluster-error.ts';
import { managedLabels, managedSelector } from '../api/names.ts';
import { type ResourceType, resourceTypes } from '../api/resource-path.ts';
import { isGenerated, type PolicyRecord } from '../policies/catalog.ts';
import type { AdmissionPolicyState } from '../policies/status.ts';
import type { WebhookSettings } from '../webhooks/settings.ts';
import { type GeneratedPolicy, generatedPolicy } from './generated-policy.ts';

export interface GeneratorOptions {
  readonly client: ApiClient;
  /** Undefined until all policies are loaded. */
  records(): readonly PolicyRecord[] | undefined;
  /** The keys of the PolicyExceptions for a policy. */
  exceptionsOf(policy: CompiledPolicy): readonly string[];
  /** Undefined while the webhooks cannot be configured. */
  webhooks(): WebhookSettings | undefined;
  request(): RequestSettings;
  /** Whether the API server serves the kind. */
  isServed(): boolean;
  /** Whether the webhook configuration that was written last contains the policy, or the API server refused it. */
  isCalled(policy: CompiledPolicy): boolean;
  /** How long API servers may take to read an object that was written. */
  readonly settleMs: number;
  /** Milliseconds of a clock that never goes back. */
  now(): number;
  /** Reconcile again after this time. */
  wake(milliseconds: number): void;
  /** Called when the result of `stateOf` may have changed. */
  readonly onState: () => void;
}

export interface AdmissionPolicyGenerator {
  /** Updates the MutatingAdmissionPolicies. Called by the leader. */
  reconcile(): Promise<void>;
  stateOf(record: PolicyRecord): AdmissionPolicyState;
}

type GeneratedObjects = Extract<GeneratedPolicy, { policy: JsonObject }>;

const writtenTypes = [
  ['policy', resourceTypes.admissionPolicies],
  ['binding', resourceTypes.admissionPolicyBindings],
] as const;
/** In the order in which they are deleted: without a binding, a MutatingAdmissionPolicy does nothing. */
const ownedTypes = [resourceTypes.admissionPolicyBindings, resourceTypes.admissionPolicies] as const;
const notServed =
  'the API server does not serve MutatingAdmissionPolicies of admissionregistration.k8s.io/v1';

/**
 * Generates MutatingAdmissionPolicies. A policy moves in steps, so that it is in force all the time: first the objects
 * are written, then `status.generated` is true, and all replicas and the webhook configuration leave the policy out. Back:
 * `status.generated` is false, the webhook configuration contains the policy, then the objects are deleted.
 */
export function createAdmissionPolicyGenerator(options: GeneratorOptions): AdmissionPolicyGenerator {
  const { client } = options;
  let states = new Map<string, AdmissionPolicyState>();
  /** When something was first seen, for what API servers need time to read. */
  const seenAt = new Map<string, number>();

  function hasSettled(what: string): boolean {
    const since = seenAt.get(what) ?? options.now();
    seenAt.set(what, since);
    const left = since + options.settleMs - options.now();
    if (left > 0) options.wake(left);
    return left <= 0;
  }

  /** Creates or updates the objects of a policy. Returns why this is not possible. */
  async function write(generated: GeneratedObjects, owned: OwnedObjects): Promise<string | undefined> {
    try {
      const found = await Promise.all(
        writtenTypes.map(async ([field, type]) => {
          const object = generated[field];
          const existing = owned.get(type)?.get(nameOf(object)) ?? (await find(type, nameOf(object)));
          return { type, object, existing };
        }),
      );
      const foreign = found.find(({ object, existing }) => existing && !isOwned(existing, object));
      if (foreign !== undefined) return foreignText(foreign.object);
      // A policy whose binding is refused would be deleted again.
      for (const { type, object, existing } of found)
        if (existing === undefined) await client.create(type, object, { dryRun: true });
      for (const { type, object, existing } of found) {
        if (existing === undefined) await client.create(type, object);
        else if (differs(existing, object)) await client.update(type, merged(existing, object));
      }
      return undefined;
    } catch (error) {
      // The objects may have been created or changed at the same time; the next run sees it.
      if (!(error instanceof ApiError) || ![400, 403, 422].includes(error.status)) throw error;
      return `${error.status === 403 ? 'it is not permitted' : 'the API server refused it'}: ${error.message}`;
    }
  }

  /** Also finds an object without our label. */
  async function find(type: ResourceType, name: string): Promise<JsonObject | undefined> {
    try {
      return await client.get(type, { name });
    } catch (error) {
      if (hasStatus(error, 404)) return undefined;
      throw error;
    }
  }

  /** The state of a policy after its objects were written, if it wants any. */
  async function stateAfter(
    record: PolicyRecord,
    owned: OwnedObjects,
    webhooks: WebhookSettings,
  ): Promise<AdmissionPolicyState> {
    const { object, policy, hiddenBy } = record;
    if (policy === undefined || hiddenBy !== undefined || !requestsGeneration(object))
      return { generated: false };
    const context = { webhooks, request: options.request(), exceptions: options.exceptionsOf(policy) };
    const generated = generatedPolicy(object, policy, context);
    if ('reason' in generated) return { generated: false, reason: generated.reason };
    const reason = await write(generated, owned);
    if (reason !== undefined) return { generated: false, reason };
    return { generated: isGenerated(object) || hasSettled(`written ${uidOf(object)}`), isWanted: true };
  }

  /** Whether the objects of a policy can be deleted without a gap. */
  function mayDelete(record: PolicyRecord | undefined, uid: string): boolean {
    if (record?.policy === undefined || record.hiddenBy !== undefined) return true;
    if (isGenerated(record.object) || !options.isCalled(record.policy)) {
      seenAt.delete(`called ${uid}`);
      return false;
    }
    return hasSettled(`called ${uid}`);
  }

  async function reconcile(): Promise<void> {
    const [records, webhooks] = [options.records(), options.webhooks()];
    if (records === undefined || webhooks === undefined) return;
    const found = options.isServed() ? await ownedObjects(client) : { reason: notServed };
    const next = new Map<string, AdmissionPolicyState>();
    if ('reason' in found) {
      for (const { object } of records) {
        const reason = requestsGeneration(object) ? found.reason : undefined;
        next.set(uidOf(object), { generated: false, reason });
      }
    } else {
      for (const record of records)
        next.set(uidOf(record.object), await stateAfter(record, found.owned, webhooks));
      await removeUnwanted(found.owned, records, next);
    }
    states = next;
    for (const key of seenAt.keys()) if (!next.has(key.split(' ')[1] ?? '')) seenAt.delete(key);
  }

  async function removeUnwanted(
    owned: OwnedObjects,
    records: readonly PolicyRecord[],
    next: ReadonlyMap<string, AdmissionPolicyState>,
  ): Promise<void> {
    const byUid = new Map(records.map((record) => [uidOf(record.object), record]));
    for (const type of ownedTypes) {
      for (const object of owned.get(type)?.values() ?? []) {
        const owner = ownerUid(object);
        if (next.get(owner)?.isWanted === true) seenAt.delete(`called ${owner}`);
        else {
          seenAt.delete(`written ${owner}`);
          // A policy with the same name took it over.
          const isTaken = records.some(
            (record) => next.get(uidOf(record.object))?.isWanted === true && isNamedAfter(object, record),
          );
          if (!isTaken && mayDelete(byUid.get(owner), owner)) await remove(type, object);
        }
      }
    }
  }

  async function remove(type: ResourceType, object: JsonObject): Promise<void> {
    try {
      await client.delete(
        type,
        { name: nameOf(object) },
        { preconditions: { uid: readText(metadataOf(object), 'uid') ?? '' } },
      );
    } catch (error) {
      if (!hasStatus(error, 404) && !hasStatus(error, 409)) throw error;
    }
  }

  return {
    async reconcile() {
      try {
        await reconcile();
      } finally {
        options.onState();
      }
    },
    // Before the first run, what the status says holds.
    stateOf: ({ object }) => states.get(uidOf(object)) ?? { generated: isGenerated(object) },
  };
}

/** Our objects by type and name. */
type OwnedObjects = ReadonlyMap<ResourceType, ReadonlyMap<string, JsonObject>>;

async function ownedObjects(
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
    for (const name of found.owned.get(type)?.keys() ?? []) {
      await client.delete(type, { name });
      removed.push(name);
    }
  }
  return removed;
}

function uidOf(object: JsonObject): string {
  return readText(metadataOf(object), 'uid') ?? '';
}

function ownerUid(object: JsonObject): string {
  return readText(readObjects(metadataOf(object), 'ownerReferences')[0] ?? {}, 'uid') ?? '';
}

function isNamedAfter(object: JsonObject, record: PolicyRecord): boolean {
  const owner = readObjects(metadataOf(object), 'ownerReferences')[0] ?? {};
  return readText(owner, 'name') === nameOf(record.object);
}

/** Somebody may have removed the label. */
function isOwned(existing: JsonObject, desired: JsonObject): boolean {
  const [[key, value]] = Object.entries(managedLabels) as [[string, string]];
  return labelsOf(existing)[key] === value || ownerUid(existing) === ownerUid(desired);
}

function foreignText(object: JsonObject): string {
  return `a ${readText(object, 'kind')} ${nameOf(object)} exists that this server did not create; delete it, or rename the policy`;
}

/** Ignores labels that others have added. */
function differs(existing: JsonObject, desired: JsonObject): boolean {
  const { apiVersion = '', kind = '' } = desired;
  // Items of a list have no kind.
  return !equal(merged(existing, desired), { ...existing, apiVersion, kind });
}

function merged(existing: JsonObject, desired: JsonObject): JsonObject {
  const metadata = {
    ...metadataOf(existing),
    labels: { ...labelsOf(existing), ...labelsOf(desired) },
    ownerReferences: metadataOf(desired)['ownerReferences'] ?? [],
  };
  return { ...existing, ...desired, metadata };
}
