import type { Json, JsonObject } from '../../json/value.ts';
import type { CompiledPolicy } from '../../policy/compiled.ts';
import { isMutatingPolicy, policyId } from '../../policy/policy-id.ts';
import type { KindTable } from '../api/discovery.ts';
import { managedLabels } from '../api/names.ts';
import { defaultTimeoutSeconds, type FailureGroup, failureGroup, hasOwnEntry } from '../policies/grouping.ts';
import { mayBeReinvoked } from '../policies/reinvocation.ts';
import { celEntries, unservedResources } from './cel-entries.ts';
import {
  mutatingConfigurationName,
  namespacesEntryName,
  policyEntryName,
  policyPath,
  policyReviewPath,
  sharedEntryName,
  sharedPath,
  validatingConfigurationName,
} from './names.ts';
import { type LocalPolicy, namespaceEntries } from './namespace-entries.ts';
import { addInterest, type Interest, type Interests, interestsOf, webhookRulesOf } from './rules.ts';
import { clientConfig, namespaceSelector, type WebhookSettings } from './settings.ts';

export interface MutatingConfiguration {
  readonly document: JsonObject;
  /** Kinds in policies that the API server does not serve, by `policyId`. */
  readonly unknownKinds: ReadonlyMap<string, readonly string[]>;
}

/** The MutatingWebhookConfiguration that covers exactly what these policies match. */
export function mutatingConfiguration(
  policies: readonly CompiledPolicy[],
  kinds: KindTable,
  settings: WebhookSettings,
  /** Whether the API server evaluates conditions of a MutatingPolicy. */
  isConditional?: (policy: CompiledPolicy) => boolean,
): MutatingConfiguration {
  const unknownKinds = new Map<string, readonly string[]>();
  const shared = { ignore: newEntry(settings), fail: newEntry(settings) };
  const local: LocalPolicy[] = [];
  const own: JsonObject[] = [];
  for (const policy of policies) {
    if (isMutatingPolicy(policy)) {
      const unserved = unservedResources(policy, kinds);
      if (unserved.length > 0) unknownKinds.set(policyId(policy), unserved);
      continue;
    }
    const found = interestsOf(policy, kinds);
    if (found.unknownKinds.length > 0) unknownKinds.set(policyId(policy), found.unknownKinds);
    if (found.interests.size === 0) continue;
    const group = failureGroup(policy);
    if (hasOwnEntry(policy)) {
      own.push(ownEntry(policy, group, found.interests, settings));
      continue;
    }
    const entry = shared[group];
    if (policy.namespace === undefined) {
      entry.timeoutSeconds = Math.max(entry.timeoutSeconds, policy.timeoutSeconds ?? 0);
      for (const interest of found.interests.values()) addInterest(entry.interests, interest);
    } else local.push({ namespace: policy.namespace, group, interests: found.interests });
  }
  const sharing = { reinvocationPolicy: 'IfNeeded', conditions: settings.matchConditions ?? [] };
  const together = (['ignore', 'fail'] as const).flatMap((group) => {
    const entry = shared[group];
    const ofCluster = { name: sharedEntryName(group), entry };
    const ofNamespaces = namespaceEntries(
      local.filter((each) => each.group === group),
      entry.interests,
    ).map(({ namespaces, interests }) => ({
      name: namespacesEntryName(namespaces[0] ?? '', group),
      entry: { ...newEntry(settings), interests, namespaces },
    }));
    return [ofCluster, ...ofNamespaces]
      .filter((each) => each.entry.interests.size > 0)
      .map((each) => webhook(each.name, sharedPath(group), group, each.entry, settings, sharing));
  });
  const webhooks = [...together, ...own.sort(byName), ...celEntries(policies, settings, isConditional)];
  return {
    document: configuration('MutatingWebhookConfiguration', mutatingConfigurationName, webhooks, settings),
    unknownKinds,
  };
}

/** The entry of a single policy. */
function ownEntry(
  policy: CompiledPolicy,
  group: FailureGroup,
  interests: Interests,
  settings: WebhookSettings,
): JsonObject {
  const conditions = policy.matchConditions.map((condition) => ({ ...condition }));
  const entry = {
    interests,
    timeoutSeconds: policy.timeoutSeconds ?? newEntry(settings).timeoutSeconds,
    ...(policy.namespace === undefined ? {} : { namespaces: [policy.namespace] }),
  };
  return webhook(policyEntryName(policy.key, group), policyPath(policy.key, group), group, entry, settings, {
    reinvocationPolicy: mayBeReinvoked(policy) ? 'IfNeeded' : 'Never',
    conditions: conditions.length > 0 ? conditions : (settings.matchConditions ?? []),
  });
}

/**
 * Reviews policies when they are created or updated. With failurePolicy Ignore and without DELETE, policies can be fixed and
 * deleted while the server is unavailable. A policy that was not reviewed is checked when it is loaded.
 */
export function validatingConfiguration(settings: WebhookSettings): JsonObject {
  const rule = (group: string, resources: readonly string[]) => ({
    apiGroups: [group],
    apiVersions: ['*'],
    operations: ['CREATE', 'UPDATE'],
    resources: [...resources],
    scope: '*',
  });
  const entry: JsonObject = {
    name: 'validate.policy.kymera.io',
    admissionReviewVersions: ['v1'],
    clientConfig: clientConfig(settings, policyReviewPath),
    failurePolicy: 'Ignore',
    matchPolicy: 'Exact',
    namespaceSelector: {},
    objectSelector: {},
    rules: [
      rule('kymera.io', ['kymeraclusterpolicies', 'kymerapolicies']),
      rule('kyverno.io', ['clusterpolicies', 'globalcontextentries', 'policies', 'policyexceptions']),
      rule('policies.kyverno.io', ['mutatingpolicies', 'namespacedmutatingpolicies', 'policyexceptions']),
      rule('policy.nirmata.io', ['policies']),
    ],
    sideEffects: 'None',
    timeoutSeconds: settings.defaultTimeoutSeconds ?? defaultTimeoutSeconds,
  };
  return configuration('ValidatingWebhookConfiguration', validatingConfigurationName, [entry], settings);
}

interface Entry {
  readonly interests: Interests;
  readonly timeoutSeconds: number;
  /** Restricts the entry to these namespaces. */
  readonly namespaces?: readonly string[] | undefined;
}

interface SharedEntry extends Entry {
  readonly interests: Map<string, Interest>;
  timeoutSeconds: number;
}

function newEntry(settings: WebhookSettings): SharedEntry {
  return { interests: new Map(), timeoutSeconds: settings.defaultTimeoutSeconds ?? defaultTimeoutSeconds };
}

function webhook(
  name: string,
  path: string,
  group: FailureGroup,
  entry: Entry,
  settings: WebhookSettings,
  own: { readonly reinvocationPolicy: string; readonly conditions: readonly JsonObject[] },
): JsonObject {
  return {
    name,
    admissionReviewVersions: ['v1'],
    clientConfig: clientConfig(settings, path),
    failurePolicy: group === 'fail' ? 'Fail' : 'Ignore',
    ...(own.conditions.length === 0 ? {} : { matchConditions: own.conditions }),
    matchPolicy: 'Equivalent',
    namespaceSelector: namespaceSelector(settings, entry.namespaces),
    objectSelector: settings.objectSelector ?? {},
    reinvocationPolicy: own.reinvocationPolicy,
    rules: webhookRulesOf(entry.interests) as unknown as Json,
    sideEffects: 'NoneOnDryRun',
    timeoutSeconds: Math.min(entry.timeoutSeconds, 30),
  };
}

export function configuration(
  kind: string,
  name: string,
  webhooks: readonly JsonObject[],
  settings: WebhookSettings,
): JsonObject {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind,
    metadata: {
      name,
      labels: { ...settings.labels, ...managedLabels },
      ...(settings.annotations === undefined ? {} : { annotations: { ...settings.annotations } }),
    },
    webhooks: [...webhooks],
  };
}

function byName(left: JsonObject, right: JsonObject): number {
  return String(left['name']) < String(right['name']) ? -1 : 1;
}
