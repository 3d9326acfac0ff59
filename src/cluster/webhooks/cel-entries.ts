import { readObject, readObjects, readText, readTextMap, readTexts } from '../../json/read-field.ts';
import type { Json, JsonObject } from '../../json/value.ts';
import type { CompiledPolicy } from '../../policy/compiled.ts';
import { groupPrefix, isMutatingPolicy } from '../../policy/policy-id.ts';
import type { KindTable } from '../api/discovery.ts';
import { celEntryId, defaultTimeoutSeconds, failureGroup } from '../policies/grouping.ts';
import { type NamedResource, protectionCondition } from '../policies/protected-kinds.ts';
import { celEntryName, celPath } from './names.ts';
import type { WebhookRule } from './rules.ts';
import { clientConfig, namespaceSelector, type WebhookSettings } from './settings.ts';

/** The API server allows no more conditions in one webhook. */
const mostConditions = 64;

/** The webhook entries of MutatingPolicies, sorted by name. */
export function celEntries(
  policies: readonly CompiledPolicy[],
  settings: WebhookSettings,
  isConditional: (policy: CompiledPolicy) => boolean = () => true,
): JsonObject[] {
  const byEntry = new Map<string, CompiledPolicy[]>();
  for (const policy of policies) {
    if (!isMutatingPolicy(policy) || celWebhookRules(policy).length === 0) continue;
    const id = celEntryId(policy);
    byEntry.set(id, [...(byEntry.get(id) ?? []), policy]);
  }
  const rank = (id: string) => (id.startsWith(groupPrefix) ? 0 : 1);
  return [...byEntry]
    .sort(([left], [right]) => rank(left) - rank(right) || (left < right ? -1 : 1))
    .map(([id, members]) => entry(id, members, settings, isConditional));
}

function entry(
  id: string,
  members: readonly CompiledPolicy[],
  settings: WebhookSettings,
  isConditional: (policy: CompiledPolicy) => boolean,
): JsonObject {
  const [policy] = members as [CompiledPolicy];
  const group = failureGroup(policy);
  const spec = readObject(policy.document, 'spec') ?? {};
  const constraints = readObject(spec, 'matchConstraints') ?? {};
  const rules = withoutRepeated(members.flatMap(celWebhookRules));
  const conditions = conditionsOf(isConditional(policy) ? policy.matchConditions : [], rules, settings);
  const within = policy.namespace === undefined ? undefined : [policy.namespace];
  return {
    name: celEntryName(id, group),
    admissionReviewVersions: ['v1'],
    clientConfig: clientConfig(settings, celPath(id, group)),
    failurePolicy: policy.failurePolicy,
    ...(conditions.length === 0 ? {} : { matchConditions: conditions }),
    matchPolicy: readText(constraints, 'matchPolicy') ?? 'Equivalent',
    ...selectorsOf(constraints, settings, within),
    reinvocationPolicy: readText(spec, 'reinvocationPolicy') ?? 'Never',
    rules: rules as unknown as Json,
    sideEffects: 'NoneOnDryRun',
    timeoutSeconds: Math.min(
      policy.timeoutSeconds ?? settings.defaultTimeoutSeconds ?? defaultTimeoutSeconds,
      30,
    ),
  };
}

/** The selectors of a policy, and those of all webhooks. */
export function selectorsOf(constraints: JsonObject, settings: WebhookSettings, within?: readonly string[]) {
  return {
    namespaceSelector: joined(
      readObject(constraints, 'namespaceSelector'),
      namespaceSelector(settings, within),
    ),
    objectSelector: joined(readObject(constraints, 'objectSelector'), settings.objectSelector ?? {}),
  };
}

/** The resource rules of a policy and of what is derived from it, as written. */
export function celWebhookRules(policy: CompiledPolicy): readonly WebhookRule[] {
  return policy.rules
    .filter(({ targets }) => targets === undefined)
    .flatMap(({ document }) => readObjects(readObject(document, 'matchConstraints') ?? {}, 'resourceRules'))
    .flatMap((rule): readonly WebhookRule[] => {
      const scope = scopeOf(readText(rule, 'scope') ?? '*', policy);
      if (scope === undefined) return [];
      const [apiGroups, apiVersions, resources] = ['apiGroups', 'apiVersions', 'resources'].map((field) =>
        readTexts(rule, field),
      ) as [string[], string[], string[]];
      const operations = readTexts(rule, 'operations') as WebhookRule['operations'];
      return [{ apiGroups, apiVersions, resources, operations, scope }];
    });
}

/** A namespace selector does not exclude cluster-scoped objects, so the scope has to. Undefined: nothing is left. */
function scopeOf(written: string, { namespace }: CompiledPolicy): WebhookRule['scope'] | undefined {
  if (namespace === undefined) return written as WebhookRule['scope'];
  return written === 'Cluster' ? undefined : 'Namespaced';
}

/** The conditions of all webhooks, and one that keeps wildcards from protected kinds. */
export function requiredConditions(
  rules: readonly WebhookRule[],
  settings: WebhookSettings,
): readonly JsonObject[] {
  const protection = rules.some(({ resources }) => resources.some(isWildcard))
    ? [{ name: 'kymera.io/protected-kinds', expression: protectionCondition(namedResources(rules)) }]
    : [];
  return [...(settings.matchConditions ?? []), ...protection];
}

/** The required conditions, and those of the policy. */
function conditionsOf(
  matchConditions: CompiledPolicy['matchConditions'],
  rules: readonly WebhookRule[],
  settings: WebhookSettings,
): readonly JsonObject[] {
  const required = requiredConditions(rules, settings);
  const names = new Set(required.map(({ name }) => name));
  // The server evaluates all conditions of a policy, so that those which do not fit are not lost.
  const fits = required.length + matchConditions.length <= mostConditions;
  return [
    ...required,
    ...(fits ? matchConditions.filter(({ name }) => !names.has(name)) : []).map((each) => ({ ...each })),
  ];
}

function isWildcard(resource: string): boolean {
  return resource.startsWith('*');
}

function namedResources(rules: readonly WebhookRule[]): readonly NamedResource[] {
  return rules.flatMap(({ apiGroups, resources }) =>
    resources
      .filter((resource) => !isWildcard(resource))
      .flatMap((resource) => apiGroups.map((group) => ({ group, resource: resource.split('/')[0] ?? '' }))),
  );
}

/** The resources that a policy names, as `resource.group`. */
export function celResources(policy: CompiledPolicy): readonly string[] {
  return namedResources(celWebhookRules(policy)).map(({ group, resource }) => `${resource}.${group}`);
}

/** The resources that a policy names and the API server does not serve. */
export function unservedResources(policy: CompiledPolicy, kinds: KindTable): readonly string[] {
  const unserved = policy.rules
    .filter(({ autogenOf }) => autogenOf === undefined)
    .flatMap(({ match }) => match.any ?? [])
    .flatMap((block) => block.kinds ?? [])
    .filter(
      ({ group, version, resource }) =>
        resource?.literal === true &&
        !kinds.kinds.some(
          (served) =>
            resource.matches(served.resource) &&
            group.matches(served.group) &&
            version.matches(served.version),
        ),
    );
  return [...new Set(unserved.map(({ text }) => text))].sort();
}

function withoutRepeated(rules: readonly WebhookRule[]): readonly WebhookRule[] {
  return [...new Map(rules.map((rule) => [JSON.stringify(rule), rule])).values()];
}

/** A selector that requires both. */
function joined(written: JsonObject | undefined, required: JsonObject): JsonObject {
  if (written === undefined) return required;
  const [labels, others] = [readTextMap(written, 'matchLabels'), readTextMap(required, 'matchLabels')];
  const conflicts = Object.keys(labels).filter(
    (key) => Object.hasOwn(others, key) && others[key] !== labels[key],
  );
  const matchLabels = { ...labels, ...others };
  const matchExpressions = [
    ...readObjects(written, 'matchExpressions'),
    ...conflicts.map((key) => ({ key, operator: 'In', values: [labels[key] ?? ''] })),
    ...readObjects(required, 'matchExpressions'),
  ];
  return {
    ...(matchExpressions.length === 0 ? {} : { matchExpressions }),
    ...(Object.keys(matchLabels).length === 0 ? {} : { matchLabels }),
  };
}
