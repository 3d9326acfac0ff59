import { metadataOf, nameOf } from '../../json/metadata.ts';
import { readObject, readObjects, readText } from '../../json/read-field.ts';
import type { JsonObject } from '../../json/value.ts';
import type { CompiledPolicy } from '../../policy/compiled.ts';
import { isMutatingPolicy, policyId } from '../../policy/policy-id.ts';
import type { ApiClient } from '../api/client.ts';
import { ApiError, hasStatus } from '../api/cluster-error.ts';
import type { KindTable } from '../api/discovery.ts';
import { managedSelector } from '../api/names.ts';
import { type ResourceType, resourceTypes } from '../api/resource-path.ts';
import type { WebhookState } from '../policies/status.ts';
import { mutatingConfiguration, validatingConfiguration } from './configuration.ts';
import { differs, merged, withoutOutdated } from './configuration-update.ts';
import { mutatingConfigurationName, triggerConfigurationName, validatingConfigurationName } from './names.ts';
import { findOffenders } from './offending-policies.ts';
import { choiceOf, type RefusedSetting, refusedSettings, withoutSettings } from './refused-settings.ts';
import type { WebhookSettings } from './settings.ts';
import { triggerConfiguration } from './trigger-webhook.ts';

export interface WebhookWriterOptions {
  readonly client: ApiClient;
  /** Undefined while there is no CA. */
  settings(): WebhookSettings | undefined;
  policies(): readonly CompiledPolicy[];
  kinds(): KindTable;
  /** False: do not register the trigger webhook. */
  readonly withTriggers?: boolean | undefined;
  /** Rejects unless this server answers at the address that the API server will call. */
  probe(): Promise<void>;
  /** Called when the result of `stateOf` may have changed. */
  readonly onState: () => void;
  readonly onRefused?: ((policy: string, message: string) => void) | undefined;
  /** Called with the key in the ConfigMap. */
  readonly onRefusedSetting?: ((key: string, message: string) => void) | undefined;
}

export interface WebhookWriter {
  /** Updates the configurations. Called by the leader. */
  reconcile(): Promise<void>;
  stateOf(policy: CompiledPolicy): WebhookState;
}

export function createWebhookWriter(options: WebhookWriterOptions): WebhookWriter {
  const { client } = options;
  // Keyed by compiled policy, so that a changed policy is tried again. Changed settings reset all refusals.
  let refusals = new WeakMap<CompiledPolicy, string>();
  let refusedOfChoice: readonly RefusedSetting[] = [];
  let choice: string | undefined;
  // MutatingPolicies with conditions that an older API server does not know. The server evaluates them.
  let unconditional = new WeakSet<CompiledPolicy>();
  // The policies in the configuration that was written last.
  let written = new WeakSet<CompiledPolicy>();
  let unknownKinds: ReadonlyMap<string, readonly string[]> = new Map();
  const lastPut = new Map<string, JsonObject>();

  async function put(type: ResourceType, desired: JsonObject): Promise<void> {
    const found = await find(client, type, nameOf(desired));
    const existing =
      found === undefined ? undefined : withoutOutdated(found, lastPut.get(nameOf(desired)), desired);
    // Create a configuration only when the server is reachable. Keep an existing one during a rolling update.
    if (existing === undefined) await options.probe();
    if (existing === undefined) await client.create(type, desired);
    else if (existing !== found || differs(existing, desired))
      await client.update(type, merged(existing, desired));
    lastPut.set(nameOf(desired), desired);
  }

  /** Returns why the API server refuses a configuration. */
  async function refusalOf(type: ResourceType, document: JsonObject): Promise<string | undefined> {
    try {
      const metadata = { ...metadataOf(document), name: `${nameOf(document)}-check` };
      await client.create(type, { ...document, metadata }, { dryRun: true });
      return undefined;
    } catch (error) {
      if (isRefusal(error)) return withoutToken(error.message);
      throw error;
    }
  }

  /** The API server may quote paths, and a refusal is logged and written to the status of a policy. */
  function withoutToken(message: string): string {
    const token = options.settings()?.pathToken;
    return token === undefined ? message : message.replaceAll(token, 'TOKEN');
  }

  /** Returns why the API server refuses the configurations for these policies. */
  async function refusalOfPolicies(
    policies: readonly CompiledPolicy[],
    settings: WebhookSettings,
  ): Promise<string | undefined> {
    for (const [type, document] of documentsFor(policies, settings).documents) {
      const refusal = document === undefined ? undefined : await refusalOf(type, document);
      if (refusal !== undefined) return refusal;
    }
    return undefined;
  }

  /** The settings without those that the API server refuses. */
  function acceptedSettings(settings: WebhookSettings): WebhookSettings {
    const current = choiceOf(settings);
    if (current !== choice) {
      choice = current;
      refusedOfChoice = [];
      refusals = new WeakMap();
      unconditional = new WeakSet();
    }
    return withoutSettings(
      settings,
      refusedOfChoice.map(({ name }) => name),
    );
  }

  async function findRefusedSettings(settings: WebhookSettings): Promise<boolean> {
    const found = await refusedSettings(settings, (document) =>
      refusalOf(resourceTypes.validatingWebhooks, document),
    );
    refusedOfChoice = [...refusedOfChoice, ...found];
    for (const { key, message } of found) options.onRefusedSetting?.(key, message);
    return found.length > 0;
  }

  /** The configurations that depend on the policies. */
  function documentsFor(policies: readonly CompiledPolicy[], settings: WebhookSettings) {
    const mutating = mutatingConfiguration(
      policies,
      options.kinds(),
      settings,
      (policy) => !unconditional.has(policy),
    );
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

  /** Removes the trigger webhook when no policy needs it. */
  async function removeTriggers(): Promise<void> {
    const name = triggerConfigurationName;
    if ((await find(client, resourceTypes.validatingWebhooks, name)) === undefined) return;
    await client.delete(resourceTypes.validatingWebhooks, { name });
  }

  async function writeForPolicies(given: WebhookSettings): Promise<WebhookSettings> {
    for (let attempt = 0; ; attempt++) {
      const settings = acceptedSettings(given);
      const accepted = options.policies().filter((policy) => !refusals.has(policy));
      const { documents, unknown } = documentsFor(accepted, settings);
      try {
        for (const [type, document] of documents)
          await (document === undefined ? removeTriggers() : put(type, document));
        unknownKinds = unknown;
        written = new WeakSet(accepted);
        return settings;
      } catch (error) {
        if (!isRefusal(error) || attempt > 2) throw error;
        if (await findRefusedSettings(settings)) continue;
        const offenders = await findOffenders(accepted, (policies) => refusalOfPolicies(policies, settings));
        if (offenders.size === 0) throw error;
        for (const [policy, message] of offenders) {
          if (isMutatingPolicy(policy) && policy.matchConditions.length > 0 && !unconditional.has(policy)) {
            unconditional.add(policy);
            continue;
          }
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
        const accepted = await writeForPolicies(settings);
        await put(resourceTypes.validatingWebhooks, validatingConfiguration(accepted));
      } finally {
        options.onState();
      }
    },
    stateOf(policy) {
      const refusal = refusals.get(policy);
      const unknown = unknownKinds.get(policyId(policy));
      return {
        written: written.has(policy),
        refusal,
        unknownKinds: unknown,
      };
    },
  };
}

/** Removes the webhook configurations of this installation, and returns their names. */
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

/** PEM of the CA bundle in the webhook configurations of this installation; undefined if there are none. */
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
