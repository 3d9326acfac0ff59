import type { Json, JsonObject } from '../../json/value.ts';
import type { CompiledPolicy } from '../../policy/compiled.ts';
import type { KindTable } from '../api/discovery.ts';
import { managedLabels } from '../api/names.ts';
import { defaultTimeoutSeconds, type FailureGroup, failureGroup, hasOwnEntry } from '../policies/grouping.ts';
import { mayBeReinvoked } from '../policies/reinvocation.ts';
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

/** How the API server reaches this server. */
export type WebhookTarget = { readonly caBundle: string } & (
  | { readonly url: string }
  | { readonly service: { readonly namespace: string; readonly name: string; readonly port: number } }
);

export interface WebhookSettings {
  readonly target: WebhookTarget;
  /** The first segment of every path; without it paths start with the name of the webhook. */
  readonly pathToken?: string | undefined;
  /** The namespace of this installation. Policies never apply to it. */
  readonly namespace: string;
  /** From the ConfigMap. It replaces the default, which excludes kube-system. */
  readonly namespaceSelector?: JsonObject | undefined;
  readonly objectSelector?: JsonObject | undefined;
  /** For shared entries. A policy with its own matchConditions has its own entry. */
  readonly matchConditions?: readonly JsonObject[] | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly defaultTimeoutSeconds?: number | undefined;
}

export interface MutatingConfiguration {
  readonly document: JsonObject;
  /** Kinds in policies that the API server does not serve, by policy key. */
  readonly unknownKinds: ReadonlyMap<string, readonly string[]>;
}

/** The MutatingWebhookConfiguration that covers exactly what these policies match. */
export function mutatingConfiguration(
  policies: readonly CompiledPolicy[],
  kinds: KindTable,
  settings: WebhookSettings,
): MutatingConfiguration {
  const unknownKinds = new Map<string, readonly string[]>();
  const shared = { ignore: newEntry(settings), fail: newEntry(settings) };
  const local: LocalPolicy[] = [];
  const own: JsonObject[] = [];
  for (const policy of policies) {
    const found = interestsOf(policy, kinds);
    if (found.unknownKinds.length > 0) unknownKinds.set(policy.key, found.unknownKinds);
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
  const webhooks = [...together, ...own.sort(byName)];
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

const nameLabel = 'kubernetes.io/metadata.name';

/** Always excludes the server's own namespace: an unavailable server must be able to restart. */
export function namespaceSelector(
  { namespace, namespaceSelector: configured }: WebhookSettings,
  only?: readonly string[],
): JsonObject {
  const byName = (operator: string, values: readonly string[]) => ({
    key: nameLabel,
    operator,
    values: [...values],
  });
  const within = only === undefined ? [] : [byName('In', only)];
  if (configured === undefined) {
    const left = [...new Set(['kube-system', namespace])].sort();
    return { matchExpressions: [byName('NotIn', left), ...within] };
  }
  const expressions = configured['matchExpressions'];
  return {
    ...configured,
    matchExpressions: [
      ...(Array.isArray(expressions) ? expressions : []),
      byName('NotIn', [namespace]),
      ...within,
    ],
  };
}

export function clientConfig({ target, pathToken }: WebhookSettings, webhookPath: string): JsonObject {
  const path = pathToken === undefined ? webhookPath : `/${pathToken}${webhookPath}`;
  if ('url' in target) return { caBundle: target.caBundle, url: `${target.url.replace(/\/+$/, '')}${path}` };
  return { caBundle: target.caBundle, service: { ...target.service, path } };
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
