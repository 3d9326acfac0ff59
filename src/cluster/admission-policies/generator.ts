import type { RequestSettings } from '../../admission/policy-provider.ts';
import { requestsGeneration } from '../../convert/forms/generation.ts';
import { equal } from '../../json/equal.ts';
import { labelsOf, metadataOf, nameOf } from '../../json/metadata.ts';
import { readObjects, readText } from '../../json/read-field.ts';
import type { JsonObject } from '../../json/value.ts';
import type { CompiledPolicy } from '../../policy/compiled.ts';
import type { ApiClient } from '../api/client.ts';
import { ApiError, hasStatus } from '../api/cluster-error.ts';
import { managedLabels } from '../api/names.ts';
import { type ResourceType, resourceTypes } from '../api/resource-path.ts';
import { isGenerated, type PolicyRecord } from '../policies/catalog.ts';
import type { AdmissionPolicyState } from '../policies/status.ts';
import type { WebhookSettings } from '../webhooks/settings.ts';
import { type GeneratedPolicy, generatedPolicy } from './generated-policy.ts';
import { isOfProbe, type LoadProbe } from './load-probe.ts';
import {
  finalizersOf,
  isBeingDeleted,
  notServed,
  type OwnedObjects,
  ownedObjects,
  ownedTypes,
  removeObject,
} from './owned-objects.ts';

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
  /** Shows that the API server which answers us evaluates an object. */
  readonly probe: LoadProbe;
  /** How much longer other API servers may take to read what one has read, and all of them a webhook configuration. */
  readonly settleMs: number;
  /** Milliseconds of a clock that never goes back. */
  now(): number;
  /** Reconcile again after this time. Called at most once per run. */
  wake(milliseconds: number): void;
  /** Called when the result of `stateOf` may have changed. */
  readonly onState: () => void;
}

export interface AdmissionPolicyGenerator {
  /** Updates the MutatingAdmissionPolicies. Called by the leader. */
  reconcile(): Promise<void>;
  stateOf(record: PolicyRecord): AdmissionPolicyState;
}

type Written =
  | { readonly objects: readonly JsonObject[]; readonly isNew: boolean }
  | { readonly reason: string };
type GeneratedObjects = Extract<GeneratedPolicy, { policy: JsonObject }>;

const writtenTypes = [
  ['policy', resourceTypes.admissionPolicies],
  ['binding', resourceTypes.admissionPolicyBindings],
] as const;
const probeMs = 250;

/**
 * Generates MutatingAdmissionPolicies. A policy moves in steps, so that it is in force all the time: first the objects
 * are written. When the API server evaluates them, `status.generated` is true, and all replicas and the webhook
 * configuration leave the policy out. Back: `status.generated` is false, the webhook configuration contains the policy, then
 * the objects are deleted. A finalizer makes those who delete them wait for the same steps.
 */
export function createAdmissionPolicyGenerator(options: GeneratorOptions): AdmissionPolicyGenerator {
  const { client } = options;
  let states = new Map<string, AdmissionPolicyState>();
  /** When something was first seen, for what API servers need time to read. */
  const seenAt = new Map<string, number>();

  /** When the next run is needed, for the policy that waits the shortest time. */
  let nextRunMs = Number.POSITIVE_INFINITY;
  const runIn = (milliseconds: number) => {
    nextRunMs = Math.min(nextRunMs, milliseconds);
  };

  function hasSettled(what: string): boolean {
    const since = seenAt.get(what) ?? options.now();
    seenAt.set(what, since);
    const left = since + options.settleMs - options.now();
    if (left > 0) runIn(left);
    return left <= 0;
  }

  /** Creates or updates the objects of a policy, or returns why this is not possible. */
  async function write(generated: GeneratedObjects, owned: OwnedObjects): Promise<Written> {
    try {
      const found = await Promise.all(
        writtenTypes.map(async ([field, type]) => {
          const object = generated[field];
          const existing = owned.get(type)?.get(nameOf(object)) ?? (await find(type, nameOf(object)));
          return { type, object, existing };
        }),
      );
      const foreign = found.find(({ object, existing }) => existing && !isOwned(existing, object));
      if (foreign !== undefined) return { reason: foreignText(foreign.object) };
      const ending = found.find(({ existing }) => existing && isBeingDeleted(existing));
      if (ending !== undefined) return { reason: endingText(ending.object) };
      // A policy whose binding is refused would be deleted again.
      for (const { type, object, existing } of found)
        if (existing === undefined) await client.create(type, object, { dryRun: true });
      const objects: JsonObject[] = [];
      for (const { type, object, existing } of found) {
        if (existing === undefined) objects.push(await client.create(type, object));
        else if (!differs(existing, object)) objects.push(existing);
        else objects.push(await client.update(type, merged(existing, object)));
      }
      return { objects, isNew: found.some(({ existing }) => existing === undefined) };
    } catch (error) {
      // The objects may have been created or changed at the same time; the next run sees it.
      if (!(error instanceof ApiError) || ![400, 403, 422].includes(error.status)) throw error;
      const what = error.status === 403 ? 'it is not permitted' : 'the API server refused it';
      return { reason: `${what}: ${error.message}` };
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
    const written = await write(generated, owned);
    if ('reason' in written) return { generated: false, reason: written.reason };
    const uid = uidOf(object);
    // Somebody removed an object and its finalizer: the webhook takes over at once.
    if (written.isNew) seenAt.delete(`loaded ${uid}`);
    else if (isGenerated(object)) return { generated: true, isWanted: true };
    const isLoaded = seenAt.has(`loaded ${uid}`) || (await options.probe.passes(written.objects));
    if (!isLoaded) runIn(probeMs);
    return { generated: isLoaded && hasSettled(`loaded ${uid}`), isWanted: true };
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
        if (isOfProbe(object)) {
          const { isWanted = false, generated = false } = next.get(owner) ?? {};
          const isNeeded = isWanted && !generated && !seenAt.has(`loaded ${owner}`);
          if (!isNeeded) await removeObject(client, type, object);
        } else if (next.get(owner)?.isWanted === true) seenAt.delete(`called ${owner}`);
        else {
          seenAt.delete(`loaded ${owner}`);
          // A policy with the same name took it over.
          const isTaken = records.some(
            (record) => next.get(uidOf(record.object))?.isWanted === true && isNamedAfter(object, record),
          );
          if (!isTaken && mayDelete(byUid.get(owner), owner)) await removeObject(client, type, object);
        }
      }
    }
  }

  return {
    async reconcile() {
      nextRunMs = Number.POSITIVE_INFINITY;
      try {
        await reconcile();
      } finally {
        if (Number.isFinite(nextRunMs)) options.wake(nextRunMs);
        options.onState();
      }
    },
    // Before the first run, what the status says holds.
    stateOf: ({ object }) => states.get(uidOf(object)) ?? { generated: isGenerated(object) },
  };
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

function endingText(object: JsonObject): string {
  return `somebody deleted the ${readText(object, 'kind')} ${nameOf(object)}; it is written again after the webhook has taken over`;
}

/** Ignores labels and finalizers that others have added. */
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
    finalizers: [...new Set([...finalizersOf(existing), ...finalizersOf(desired)])],
  };
  return { ...existing, ...desired, metadata };
}
