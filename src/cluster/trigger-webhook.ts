import type { Json, JsonObject } from '../json/value.ts';
import type { CompiledPolicy } from '../policy/compiled.ts';
import type { KindTable } from './discovery.ts';
import {
  clientConfig,
  configuration,
  failureGroup,
  namespaceSelector,
  type WebhookSettings,
} from './webhook-configuration.ts';
import {
  type FailureGroup,
  policyEntryName,
  policyPath,
  sharedEntryName,
  sharedPath,
  triggerConfigurationName,
} from './webhook-names.ts';
import { addInterest, type Interest, triggerInterestsOf, webhookRulesOf } from './webhook-rules.ts';

export interface TriggerConfiguration {
  /** Undefined when no policy has rules that act in the background. */
  readonly document: JsonObject | undefined;
  /** Kinds that policies name and nothing serves, by policy key. */
  readonly unknownKinds: ReadonlyMap<string, readonly string[]>;
}

/**
 * The ValidatingWebhookConfiguration through which requests set off rules that act in the background: there the object is
 * final, and nothing but the kinds that these rules match is asked for.
 */
export function triggerConfiguration(
  policies: readonly CompiledPolicy[],
  kinds: KindTable,
  settings: WebhookSettings,
): TriggerConfiguration {
  const unknownKinds = new Map<string, readonly string[]>();
  const shared = { ignore: new Map<string, Interest>(), fail: new Map<string, Interest>() };
  const own: JsonObject[] = [];
  for (const policy of policies) {
    const found = triggerInterestsOf(policy, kinds);
    if (found.unknownKinds.length > 0) unknownKinds.set(policy.key, found.unknownKinds);
    if (found.interests.size === 0) continue;
    const group = failureGroup(policy);
    if (!hasOwnTriggerEntry(policy)) {
      for (const interest of found.interests.values()) addInterest(shared[group], interest);
      continue;
    }
    const conditions = policy.matchConditions.map((condition) => ({ ...condition }));
    const name = policyEntryName(policy.key, group, 'validate');
    own.push(
      entry(name, policyPath(policy.key, group, 'validate'), group, found.interests, conditions, settings),
    );
  }
  const together = (['ignore', 'fail'] as const)
    .filter((group) => shared[group].size > 0)
    .map((group) =>
      entry(
        sharedEntryName(group, 'validate'),
        sharedPath(group, 'validate'),
        group,
        shared[group],
        settings.matchConditions ?? [],
        settings,
      ),
    );
  const webhooks = [
    ...together,
    ...own.sort((left, right) => (String(left['name']) < String(right['name']) ? -1 : 1)),
  ];
  return {
    document:
      webhooks.length === 0
        ? undefined
        : configuration('ValidatingWebhookConfiguration', triggerConfigurationName, webhooks, settings),
    unknownKinds,
  };
}

/** Whether a policy is asked on a path of its own. */
export function hasOwnTriggerEntry({ matchConditions }: CompiledPolicy): boolean {
  return matchConditions.length > 0;
}

function entry(
  name: string,
  path: string,
  group: FailureGroup,
  interests: ReadonlyMap<string, Interest>,
  conditions: readonly JsonObject[],
  settings: WebhookSettings,
): JsonObject {
  return {
    name,
    admissionReviewVersions: ['v1'],
    clientConfig: clientConfig(settings.target, path),
    failurePolicy: group === 'fail' ? 'Fail' : 'Ignore',
    ...(conditions.length === 0 ? {} : { matchConditions: [...conditions] }),
    matchPolicy: 'Equivalent',
    namespaceSelector: namespaceSelector(settings),
    objectSelector: settings.objectSelector ?? {},
    rules: webhookRulesOf(interests) as unknown as Json,
    sideEffects: 'NoneOnDryRun',
    timeoutSeconds: settings.defaultTimeoutSeconds ?? 10,
  };
}
