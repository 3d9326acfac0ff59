import { equal } from '../json/equal.ts';
import type { JsonObject } from '../json/value.ts';
import type { CompiledPolicy } from '../policy/compiled.ts';
import { readObject, readObjects, readText, readTextMap } from '../policy/read-field.ts';
import type { ApiClient } from './client.ts';
import { ApiError, hasStatus } from './cluster-error.ts';
import type { KindTable } from './discovery.ts';
import { findOffenders } from './offending-policies.ts';
import { type ResourceType, resourceTypes } from './resource-path.ts';
import type { WebhookState } from './status.ts';
import { triggerConfiguration } from './trigger-webhook.ts';
import {
  mutatingConfiguration,
  validatingConfiguration,
  type WebhookSettings,
} from './webhook-configuration.ts';
import {
  managedSelector,
  mutatingConfigurationName,
  triggerConfigurationName,
  validatingConfigurationName,
} from './webhook-names.ts';

export interface WebhookWriterOptions {
  readonly client: ApiClient;
  /** Undefined while there is no certificate to trust. */
  settings(): WebhookSettings | undefined;
  policies(): readonly CompiledPolicy[];
  kinds(): KindTable;
  /** False: requests set off nothing in the background. */
  readonly withTriggers?: boolean;
  /** Rejects unless the server answers where the API server will call it. */
  probe(): Promise<void>;
  /** Called when what `stateOf` says may have changed. */
  readonly onState: () => void;
  readonly onRefused?: (policy: string, message: string) => void;
}

export interface WebhookWriter {
  /** Brings the configurations up to date. For the leader. */
  reconcile(): Promise<void>;
  stateOf(policy: CompiledPolicy): WebhookState;
}

export function createWebhookWriter(options: WebhookWriterOptions): WebhookWriter {
  const { client } = options;
  // By the compiled policy: when its author changes it, it gets another chance.
  const refusals = new WeakMap<CompiledPolicy, string>();
  const written = new WeakSet<CompiledPolicy>();
  let unknownKinds: ReadonlyMap<string, readonly string[]> = new Map();

  async function put(type: ResourceType, desired: JsonObject): Promise<void> {
    const existing = await find(client, type, nameOf(desired));
    // Nobody is sent to a server that cannot be reached; once it was, a rolling update is no reason to take it away.
    if (existing === undefined) await options.probe();
    if (existing === undefined) await client.create(type, desired);
    else if (differs(existing, desired)) await client.update(type, merged(existing, desired));
  }

  /** What the API server has against a configuration for these policies alone. */
  async function refusalOf(
    policies: readonly CompiledPolicy[],
    settings: WebhookSettings,
  ): Promise<string | undefined> {
    for (const [type, document] of documentsFor(policies, settings).documents) {
      if (document === undefined) continue;
      try {
        const metadata = { name: `${nameOf(document)}-check` };
        await client.create(type, { ...document, metadata }, { dryRun: true });
      } catch (error) {
        if (isRefusal(error)) return error.message;
        throw error;
      }
    }
    return undefined;
  }

  /** Everything that depends on the policies. */
  function documentsFor(policies: readonly CompiledPolicy[], settings: WebhookSettings) {
    const mutating = mutatingConfiguration(policies, options.kinds(), settings);
    const acting = options.withTriggers === false ? [] : policies;
    const triggers = triggerConfiguration(acting, options.kinds(), settings);
    const unknown = new Map(mutating.unknownKinds);
    for (const [key, names] of triggers.unknownKinds)
      unknown.set(key, [...new Set([...(unknown.get(key) ?? []), ...names])].sort());
    const documents: readonly (readonly [ResourceType, JsonObject | undefined])[] = [
      [resourceTypes.mutatingWebhooks, mutating.document],
      [resourceTypes.validatingWebhooks, triggers.document],
    ];
    return { documents, unknown };
  }

  /** Without a policy that acts in the background there is nothing to ask about. */
  async function removeTriggers(): Promise<void> {
    const name = triggerConfigurationName;
    if ((await find(client, resourceTypes.validatingWebhooks, name)) === undefined) return;
    await client.delete(resourceTypes.validatingWebhooks, { name });
  }

  async function writeForPolicies(settings: WebhookSettings): Promise<void> {
    for (let attempt = 0; ; attempt++) {
      const accepted = options.policies().filter((policy) => !refusals.has(policy));
      const { documents, unknown } = documentsFor(accepted, settings);
      try {
        for (const [type, document] of documents)
          await (document === undefined ? removeTriggers() : put(type, document));
        unknownKinds = unknown;
        for (const policy of accepted) written.add(policy);
        return;
      } catch (error) {
        if (!isRefusal(error) || attempt > 0) throw error;
        const offenders = await findOffenders(accepted, (policies) => refusalOf(policies, settings));
        if (offenders.size === 0) throw error;
        for (const [policy, message] of offenders) {
          refusals.set(policy, message);
          options.onRefused?.(policy.key, message);
        }
      }
    }
  }

  return {
    async reconcile() {
      const settings = options.settings();
      if (settings === undefined) return;
      try {
        await writeForPolicies(settings);
        await put(resourceTypes.validatingWebhooks, validatingConfiguration(settings));
      } finally {
        options.onState();
      }
    },
    stateOf(policy) {
      const refusal = refusals.get(policy);
      const unknown = unknownKinds.get(policy.key);
      return {
        written: written.has(policy),
        ...(refusal === undefined ? {} : { refusal }),
        ...(unknown === undefined ? {} : { unknownKinds: unknown }),
      };
    },
  };
}

/** Names of the webhook configurations of this installation that were removed. */
export async function removeWebhooks(client: ApiClient): Promise<readonly string[]> {
  const removed: string[] = [];
  for (const [type, name] of [
    [resourceTypes.mutatingWebhooks, mutatingConfigurationName],
    [resourceTypes.validatingWebhooks, validatingConfigurationName],
    [resourceTypes.validatingWebhooks, triggerConfigurationName],
  ] as const) {
    const labelled = await client.list(type, { labelSelector: managedSelector });
    for (const each of new Set([name, ...labelled.items.map(nameOf)])) {
      try {
        await client.delete(type, { name: each });
        removed.push(each);
      } catch (error) {
        if (!hasStatus(error, 404)) throw error;
      }
    }
  }
  return removed;
}

/** PEM of what the API server trusts where it calls this installation; undefined when it calls nothing. */
export async function trustedBundle(client: ApiClient): Promise<string | undefined> {
  const configuration = await find(client, resourceTypes.validatingWebhooks, validatingConfigurationName);
  const [webhook] = readObjects(configuration ?? {}, 'webhooks');
  const bundle = readText(readObject(webhook ?? {}, 'clientConfig') ?? {}, 'caBundle');
  return bundle === undefined ? undefined : Buffer.from(bundle, 'base64').toString('utf8');
}

async function find(client: ApiClient, type: ResourceType, name: string): Promise<JsonObject | undefined> {
  try {
    return await client.get(type, { name });
  } catch (error) {
    if (hasStatus(error, 404)) return undefined;
    throw error;
  }
}

function isRefusal(error: unknown): error is ApiError {
  return error instanceof ApiError && (error.status === 400 || error.status === 422);
}

/** Labels and annotations of others are left alone. */
function differs(existing: JsonObject, desired: JsonObject): boolean {
  if (!equal(existing['webhooks'] ?? [], desired['webhooks'] ?? [])) return true;
  const [have, want] = [metadataOf(existing), metadataOf(desired)];
  return ['labels', 'annotations'].some((field) => {
    const present = readTextMap(have, field);
    return Object.entries(readTextMap(want, field)).some(([key, value]) => present[key] !== value);
  });
}

function merged(existing: JsonObject, desired: JsonObject): JsonObject {
  const [have, want] = [metadataOf(existing), metadataOf(desired)];
  return {
    ...desired,
    metadata: {
      ...have,
      labels: { ...readTextMap(have, 'labels'), ...readTextMap(want, 'labels') },
      annotations: { ...readTextMap(have, 'annotations'), ...readTextMap(want, 'annotations') },
    },
  };
}

function metadataOf(object: JsonObject): JsonObject {
  return readObject(object, 'metadata') ?? {};
}

function nameOf(object: JsonObject): string {
  return String(metadataOf(object)['name'] ?? '');
}
