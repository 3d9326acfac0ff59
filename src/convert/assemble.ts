import { stringifyJson } from '../json/json-text.ts';
import { readBoolean, readNumber, readObject, readText, readTextMap } from '../json/read-field.ts';
import { isObject, type Json, type JsonObject } from '../json/value.ts';
import { autogenAnnotation, isAutogenName } from '../policy/autogen.ts';
import type { Exemption } from './exceptions.ts';
import { allOf, bool, precedence, within } from './expression/cel-text.ts';
import type { Mutation } from './mutation/mutate.ts';
import { autogenPrefix, type NamedGroup, overlap, policyNames } from './names.ts';
import { printPolicy } from './print.ts';
import { type ConvertedRule, resourcesOf } from './rule.ts';
import type { Variables } from './scope.ts';
import { noComments, readComments, type SourceComments } from './source-comments.ts';
import {
  type CelText,
  type Conversion,
  type ConversionTarget,
  type ConvertedDocument,
  type Refusal,
  refuseLength,
} from './types.ts';
import {
  allBefore,
  type NamedCondition,
  webhookConditionsOf,
  webhookConditionsPath,
} from './webhook-conditions.ts';

/** Rules that become one policy. */
export interface RuleGroup {
  readonly variables: Variables;
  readonly rules: ConvertedRule[];
}

interface Output {
  readonly to: ConversionTarget;
  /** The source of the old policy, for its comments. */
  readonly source?: string | undefined;
}

/** Makes policies of the groups. They run in the order of their names, so the names follow the order of the rules. */
export function assemble(
  old: JsonObject,
  groups: readonly RuleGroup[],
  { to, source }: Output,
): Omit<Conversion, 'refusals'> {
  const comments = source === undefined ? noComments : readComments(source);
  const filled = groups.filter(({ rules }) => rules.some(({ mutations }) => mutations.length > 0));
  const names = policyNames(
    nameOf(old),
    filled.map((group) => namedGroup(group, filled)),
  );
  const documents = filled.flatMap((group, index) => policyOf(old, group, names[index] ?? '', to, comments));
  const exempted = filled.flatMap(({ rules: [first] }, index) =>
    first?.exemption?.place === 'outside'
      ? [
          {
            name: names[index] ?? '',
            kind: 'MutatingPolicy',
            exceptions: first.exemption.exceptions,
          },
        ]
      : [],
  );
  return {
    documents,
    differences: [...lostTransactions(old, filled), ...keptChanges(old, filled, to), ...lostWarnings(old)],
    exempted,
  };
}

function nameOf(document: JsonObject): string {
  return readText(readObject(document, 'metadata') ?? {}, 'name') ?? '';
}

function namedGroup({ rules }: RuleGroup, groups: readonly RuleGroup[]): NamedGroup {
  const names = rules.map(({ rule }) => rule.name);
  const isOnly = groups.every(
    (group) =>
      group.rules === rules ||
      autogenPrefix(group.rules[0]?.rule.name ?? '') !== autogenPrefix(names[0] ?? ''),
  );
  return {
    rules: names,
    isWhole: isOnly && names.length > 1,
    resources: rules.slice(0, 1).flatMap(resourcesOf),
  };
}

/**
 * A failure in one policy leaves the changes of the others. Only rules for the same objects are affected, and only if failures are
 * ignored: otherwise the request is denied.
 */
function lostTransactions(old: JsonObject, groups: readonly RuleGroup[]): readonly Refusal[] {
  if (failurePolicyOf(readObject(old, 'spec') ?? {}) !== 'Ignore') return [];
  const named = groups.map((group) => namedGroup(group, groups));
  const shared = groups.flatMap((group, index) => {
    const own = named[index];
    const other = groups
      .slice(0, index)
      .find((_, before) => own !== undefined && overlap(named[before] ?? own, own));
    return other === undefined ? [] : [{ group, other }];
  });
  return shared.map(({ group, other }) => ({
    rule: group.rules[0]?.rule.name,
    path: group.rules[0]?.rule.path ?? 'spec.rules',
    reason: `if this rule of ${nameOf(old)} fails, the changes of rule ${other.rules[0]?.rule.name} stay: the rules match differently and become two policies`,
  }));
}

/** After a failure that is ignored, a MutatingAdmissionPolicy keeps what its other mutations changed. */
function keptChanges(
  old: JsonObject,
  groups: readonly RuleGroup[],
  to: ConversionTarget,
): readonly Refusal[] {
  if (to !== 'map' || failurePolicyOf(readObject(old, 'spec') ?? {}) !== 'Ignore') return [];
  return groups
    .filter(({ rules }) => rules.flatMap(({ mutations }) => mutations).length > 1)
    .map(({ rules: [first] }) => ({
      rule: first?.rule.name,
      path: first?.rule.path ?? 'spec.rules',
      reason:
        'after a failure that is ignored, a MutatingAdmissionPolicy keeps what its other mutations changed',
    }));
}

function lostWarnings(old: JsonObject): readonly Refusal[] {
  const isLost = readBoolean(readObject(old, 'spec') ?? {}, 'emitWarning') === true;
  return isLost
    ? [{ path: 'spec.emitWarning', reason: 'a policy in CEL shows its changes in no warning' }]
    : [];
}

function failurePolicyOf(spec: JsonObject): string | undefined {
  const webhook = readObject(spec, 'webhookConfiguration') ?? {};
  return readText(webhook, 'failurePolicy') ?? readText(spec, 'failurePolicy');
}

function policyOf(
  old: JsonObject,
  group: RuleGroup,
  name: string,
  to: ConversionTarget,
  written: SourceComments,
): readonly ConvertedDocument[] {
  const comments = new Map<Json, readonly string[]>();
  const [first] = group.rules;
  if (first === undefined) return [];
  const isMap = to === 'map';
  const conditions = matchConditions(group, isMap, webhookConditionsOf(old));
  const mutations = group.rules.flatMap((rule) => {
    const isAlone = group.rules.length === 1;
    const kept = keptComments(rule, written);
    return rule.mutations.map((mutation, index) => {
      const guard = isAlone
        ? hasOneCondition(rule)
          ? bool(true)
          : mutation.guard
        : allOf([rule.preconditions ?? bool(true), mutation.guard]);
      return commented(
        mutationOf(mutation, guard),
        [...(index === 0 ? kept : []), origin(rule, mutation.origin)],
        comments,
      );
    });
  });
  const targetConditions = first.targets?.conditions ?? [];
  const readers = [
    ...mutations.map(expressionOf),
    ...targetConditions.map(({ expression }) => expression),
    readText(first.targets?.constraints ?? {}, 'expression') ?? '',
    ...(isMap ? [] : conditions.map(({ value }) => value.expression)),
  ];
  const used = usedVariables(group.variables, readers);
  const variables = used.map(({ name: variable, expression, origin: from }) =>
    commented({ name: variable, expression }, [from], comments),
  );
  const spec: JsonObject = {
    ...settings(old, first, to),
    matchConstraints: first.matchConstraints,
    ...(conditions.length > 0 && {
      matchConditions: conditions.map(({ value, from }) => commented(value, from, comments)),
    }),
    ...(first.targets !== undefined && {
      targetMatchConstraints: first.targets.constraints,
      ...(targetConditions.length > 0 && {
        targetMatchConditions: targetConditions.map((condition) =>
          commented(condition, [`${first.rule.path}.mutate.targets`], comments),
        ),
      }),
    }),
    ...(variables.length > 0 && { variables }),
    mutations,
  };
  const namespace = readText(readObject(old, 'metadata') ?? {}, 'namespace');
  const isNamespaced = readText(old, 'kind') === 'Policy';
  const document: JsonObject = {
    apiVersion: isMap ? 'admissionregistration.k8s.io/v1' : 'policies.kyverno.io/v1',
    kind: isMap ? 'MutatingAdmissionPolicy' : isNamespaced ? 'NamespacedMutatingPolicy' : 'MutatingPolicy',
    metadata: metadataOf(old, name, isNamespaced ? (namespace ?? 'default') : undefined),
    spec,
  };
  const kept = group.rules.map(({ rule }) => rule.name);
  const head = [
    ...written.policy,
    `Converted from ${readText(old, 'kind')} ${nameOf(old)}, rule${kept.length > 1 ? 's' : ''} ${kept.join(', ')}.`,
  ];
  const policy = { document, text: printPolicy(document, comments, head) };
  return isMap ? [policy, binding(name)] : [policy];
}

function binding(name: string): ConvertedDocument {
  const document: JsonObject = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingAdmissionPolicyBinding',
    metadata: { name: `${name}-binding` },
    spec: { policyName: name },
  };
  return { document, text: printPolicy(document, new Map(), []) };
}

function metadataOf(old: JsonObject, name: string, namespace: string | undefined): JsonObject {
  const metadata = readObject(old, 'metadata') ?? {};
  const annotations = { ...readTextMap(metadata, 'annotations') };
  delete annotations[autogenAnnotation];
  delete annotations['kubectl.kubernetes.io/last-applied-configuration'];
  const labels = readTextMap(metadata, 'labels');
  return {
    name,
    ...(namespace !== undefined && { namespace }),
    ...(Object.keys(labels).length > 0 && { labels }),
    ...(Object.keys(annotations).length > 0 && { annotations }),
  };
}

/**
 * Kyverno's webhooks for ClusterPolicies are called again when another webhook changes the object. The API server runs a
 * MutatingAdmissionPolicy again even after its own change, which would append items twice.
 */
function settings(
  old: JsonObject,
  { rule, matchConstraints, targets }: ConvertedRule,
  to: ConversionTarget,
): JsonObject {
  const spec = readObject(old, 'spec') ?? {};
  const failurePolicy = failurePolicyOf(spec);
  const common = {
    ...(failurePolicy !== undefined && { failurePolicy }),
    reinvocationPolicy: to === 'map' ? 'Never' : 'IfNeeded',
  };
  if (to === 'map') return common;
  const timeoutSeconds =
    readNumber(readObject(spec, 'webhookConfiguration') ?? {}, 'timeoutSeconds') ??
    readNumber(spec, 'webhookTimeoutSeconds');
  const evaluation = {
    ...(readBoolean(spec, 'admission') === false && { admission: { enabled: false } }),
    ...(readBoolean(spec, 'background') === false && { background: { enabled: false } }),
    ...(targets !== undefined && { mutateExisting: { enabled: true } }),
    ...(targets !== undefined &&
      readBoolean(rule.document, 'skipBackgroundRequests') === false && { skipBackgroundRequests: false }),
  };
  return {
    ...common,
    ...(timeoutSeconds !== undefined && { webhookConfiguration: { timeoutSeconds } }),
    ...(Object.keys(evaluation).length > 0 && { evaluation }),
    // The rules for pod controllers are policies of their own.
    ...(stringifyJson(matchConstraints).includes('"pods"') && {
      autogen: { podControllers: { controllers: [] } },
    }),
  };
}

interface Condition {
  readonly value: { readonly name: string; readonly expression: string };
  readonly from: readonly string[];
}

/** The conditions of a policy with one rule include its preconditions; otherwise each mutation has its own. */
function matchConditions(
  { rules, variables }: RuleGroup,
  isMap: boolean,
  ofWebhook: readonly NamedCondition[],
): readonly Condition[] {
  const [first] = rules;
  if (first === undefined) return [];
  const { path } = first.rule;
  const written: Condition[] = first.matchConditions.map((value) => ({
    value,
    from: [
      first.exemption !== undefined && value.name === 'exceptions'
        ? exceptionsOrigin(first.exemption)
        : `${path}.match`,
    ],
  }));
  if (rules.length === 1) written.push(...ruleConditions(first));
  const conditions = written.map(({ value, from }) => ({
    value: isMap ? { ...value, expression: variables.inline(value.expression) } : value,
    from,
  }));
  return withWebhookConditions(conditions, ofWebhook);
}

/** The API server evaluates the conditions of the webhook first, so that a failure is not hidden by a condition of the rule. */
function withWebhookConditions(
  conditions: readonly Condition[],
  ofWebhook: readonly NamedCondition[],
): readonly Condition[] {
  if (ofWebhook.length === 0) return conditions;
  const from = [webhookConditionsPath];
  if (conditions.length === 0) return ofWebhook.map((value) => ({ value, from }));
  const expression = allBefore(
    ofWebhook,
    conditions.map(({ value }) => value),
  );
  const origins = new Set([...from, ...conditions.flatMap((condition) => condition.from)]);
  return [{ value: { name: 'conditions', expression }, from: [...origins] }];
}

function exceptionsOrigin({ exceptions }: Pick<Exemption, 'exceptions'>): string {
  return `PolicyException ${exceptions.join(', ')}`;
}

/** The anchors of the only mutation decide whether the policy applies. Those of a patch for existing objects test each target. */
function hasOneCondition({ mutations, targets }: ConvertedRule): boolean {
  return mutations.length === 1 && targets === undefined;
}

/** A precondition that fails must not be hidden by an anchor that does not hold, so they are one condition then. */
function ruleConditions(rule: ConvertedRule): readonly Condition[] {
  const { preconditions = bool(true), mutations, exemption } = rule;
  const { path } = rule.rule;
  const [only] = mutations;
  const anchors = hasOneCondition(rule) && only !== undefined ? only.guard : bool(true);
  const isTrue = ({ source }: CelText): boolean => source === 'true';
  const before = {
    value: { name: 'preconditions', expression: preconditions.source },
    from: [
      `${path}.preconditions`,
      ...(exemption?.place === 'precondition' ? [exceptionsOrigin(exemption)] : []),
    ],
  };
  const after = {
    value: { name: 'anchors', expression: anchors.source },
    from: [`anchors of ${only?.origin}`],
  };
  if (isTrue(anchors)) return isTrue(preconditions) ? [] : [before];
  if (isTrue(preconditions)) return [after];
  if (preconditions.total === true) return [before, after];
  const both = allOf([preconditions, anchors]);
  return [
    { value: { name: 'preconditions', expression: both.source }, from: [...before.from, ...after.from] },
  ];
}

function mutationOf({ type, expression }: Mutation, guard: CelText): JsonObject {
  const none = type === 'JSONPatch' ? '[]' : 'Object{}';
  const guarded =
    guard.source === 'true'
      ? expression
      : `${within(guard, precedence.or)}\n  ? ${expression.replaceAll('\n', '\n    ')}\n  : ${none}`;
  refuseLength(guarded);
  if (type === 'JSONPatch') return { patchType: type, jsonPatch: { expression: guarded } };
  return { patchType: type, applyConfiguration: { expression: guarded } };
}

/** The comments inside a rule. Rules that autogen made repeat none. */
function keptComments({ rule }: ConvertedRule, { rules }: SourceComments): readonly string[] {
  if (isAutogenName(rule.name)) return [];
  return rules[Number(/\[(\d+)\]$/.exec(rule.path)?.[1])] ?? [];
}

function expressionOf({ jsonPatch, applyConfiguration }: JsonObject): string {
  const body = jsonPatch ?? applyConfiguration ?? null;
  return isObject(body) ? (readText(body, 'expression') ?? '') : '';
}

function origin({ rule }: ConvertedRule, path: string): string {
  return `Rule ${rule.name}: ${path}`;
}

function commented<T extends Json>(
  value: T,
  lines: readonly string[],
  comments: Map<Json, readonly string[]>,
): T {
  comments.set(value, lines);
  return value;
}

/** Variables that an expression reads, and those that they read. */
function usedVariables(variables: Variables, readers: readonly string[]): Variables['list'] {
  const used = new Set<string>();
  const visit = (source: string): void => {
    for (const [, name = ''] of source.matchAll(/\bvariables\.(\w+)/g)) {
      if (used.has(name)) continue;
      used.add(name);
      visit(variables.list.find((variable) => variable.name === name)?.expression ?? '');
    }
  };
  for (const reader of readers) visit(reader);
  return variables.list.filter(({ name }) => used.has(name));
}
