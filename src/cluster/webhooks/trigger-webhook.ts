import type { Json, JsonObject } from '../../json/value.ts';
import type { CompiledPolicy } from '../../policy/compiled.ts';
import { policyId } from '../../policy/policy-id.ts';
import type { KindTable } from '../api/discovery.ts';
import {
  defaultTimeoutSeconds,
  type FailureGroup,
  failureGroup,
  hasOwnTriggerEntry,
} from '../policies/grouping.ts';
import { configuration } from './configuration.ts';
import {
  namespacesEntryName,
  policyEntryName,
  policyPath,
  sharedEntryName,
  sharedPath,
  triggerConfigurationName,
} from './names.ts';
import { type LocalPolicy, namespaceEntries } from './namespace-entries.ts';
import { addInterest, type Interest, type Interests, triggerInterestsOf, webhookRulesOf } from './rules.ts';
import { clientConfig, namespaceSelector, type WebhookSettings } from './settings.ts';

export interface TriggerConfiguration {
  /** Undefined if no policy has mutateExisting or generate rules. */
  readonly document: JsonObject | undefined;
  /** Kinds in policies that the API server does not serve, by `policyId`. */
  readonly unknownKinds: ReadonlyMap<string, readonly string[]>;
}

/**
 * The ValidatingWebhookConfiguration for requests that trigger mutateExisting and generate rules. It is validating because
 * the object is final then, and it covers only the kinds that these rules match.
 */
export function triggerConfiguration(
  policies: readonly CompiledPolicy[],
  kinds: KindTable,
  settings: WebhookSettings,
): TriggerConfiguration {
  const unknownKinds = new Map<string, readonly string[]>();
  const shared = { ignore: new Map<string, Interest>(), fail: new Map<string, Interest>() };
  const local: LocalPolicy[] = [];
  const own: JsonObject[] = [];
  for (const policy of policies) {
    const { interests, unknownKinds: unknown } = triggerInterestsOf(policy, kinds);
    if (unknown.length > 0) unknownKinds.set(policyId(policy), unknown);
    if (interests.size === 0) continue;
    const group = failureGroup(policy);
    const { namespace } = policy;
    if (hasOwnTriggerEntry(policy)) own.push(ownEntry(policy, group, interests, settings));
    else if (namespace !== undefined) local.push({ namespace, group, interests });
    else for (const interest of interests.values()) addInterest(shared[group], interest);
  }
  const together = (['ignore', 'fail'] as const).flatMap((group) => {
    const ofGroup = local.filter((each) => each.group === group);
    const common = { path: sharedPath(group, 'validate'), group, conditions: settings.matchConditions ?? [] };
    return [
      { name: sharedEntryName(group, 'validate'), interests: shared[group], namespaces: undefined },
      ...namespaceEntries(ofGroup, shared[group]).map(({ namespaces, interests }) => ({
        name: namespacesEntryName(namespaces[0] ?? '', group, 'validate'),
        interests,
        namespaces,
      })),
    ]
      .filter(({ interests }) => interests.size > 0)
      .map((each) => entry({ ...common, ...each }, settings));
  });
  const webhooks = [...together, ...own.sort(byName)];
  const document = configuration(
    'ValidatingWebhookConfiguration',
    triggerConfigurationName,
    webhooks,
    settings,
  );
  return { document: webhooks.length === 0 ? undefined : document, unknownKinds };
}

function ownEntry(
  { key, namespace, matchConditions }: CompiledPolicy,
  group: FailureGroup,
  interests: Interests,
  settings: WebhookSettings,
): JsonObject {
  return entry(
    {
      name: policyEntryName(key, group, 'validate'),
      path: policyPath(key, group, 'validate'),
      group,
      interests,
      conditions: matchConditions.map((condition) => ({ ...condition })),
      namespaces: namespace === undefined ? undefined : [namespace],
    },
    settings,
  );
}

interface TriggerEntry {
  readonly name: string;
  readonly path: string;
  readonly group: FailureGroup;
  readonly interests: Interests;
  readonly conditions: readonly JsonObject[];
  /** Restricts the entry to these namespaces. */
  readonly namespaces: readonly string[] | undefined;
}

function entry(
  { name, path, group, interests, conditions, namespaces }: TriggerEntry,
  settings: WebhookSettings,
): JsonObject {
  return {
    name,
    admissionReviewVersions: ['v1'],
    clientConfig: clientConfig(settings, path),
    failurePolicy: group === 'fail' ? 'Fail' : 'Ignore',
    ...(conditions.length === 0 ? {} : { matchConditions: [...conditions] }),
    matchPolicy: 'Equivalent',
    namespaceSelector: namespaceSelector(settings, namespaces),
    objectSelector: settings.objectSelector ?? {},
    rules: webhookRulesOf(interests) as unknown as Json,
    sideEffects: 'NoneOnDryRun',
    timeoutSeconds: settings.defaultTimeoutSeconds ?? defaultTimeoutSeconds,
  };
}

function byName(left: JsonObject, right: JsonObject): number {
  return String(left['name']) < String(right['name']) ? -1 : 1;
}
