import { stringifyJson } from '../json/json-text.ts';
import { nameOf } from '../json/metadata.ts';
import { readBoolean, readObject, readObjects, readText, readTexts } from '../json/read-field.ts';
import type { JsonObject } from '../json/value.ts';
import { autogenRules, isAutogenName } from '../policy/autogen.ts';
import { assemble, type RuleGroup } from './assemble.ts';
import {
  type ExemptingPolicy,
  type Exemption,
  exemptionOf,
  readsChangedObject,
  type TranslatedException,
} from './exceptions.ts';
import { allOf, bool, precedence, text } from './expression/cel-text.ts';
import { autogenPrefix, overlap } from './names.ts';
import { type ConvertedRule, convertRule, resourcesOf, type SourceRule } from './rule.ts';
import { Variables } from './scope.ts';
import { type Conversion, type ConversionTarget, NotConvertible, type Refusal } from './types.ts';
import { refusedCondition, webhookConditionsOf } from './webhook-conditions.ts';

export interface ConvertOptions {
  readonly to: ConversionTarget;
  /** Convert the rules that can be converted, even if others cannot. */
  readonly partial?: boolean | undefined;
  /** The source of the document, for its comments. */
  readonly source?: string | undefined;
  /** Exceptions, also those from other policies. */
  readonly exceptions?: readonly TranslatedException[] | undefined;
}

/**
 * Converts a ClusterPolicy or Policy to policies in CEL. Rules with the same match become one policy with several mutations, so
 * that a failure still drops all their changes.
 *
 * @example convertPolicy(document, { to: 'mutatingpolicy' }).documents[0]?.text
 */
export function convertPolicy(document: JsonObject, options: ConvertOptions): Conversion {
  const unsupported = unsupportedPolicy(document, options.to);
  if (unsupported !== undefined) return { documents: [], refusals: [unsupported], differences: [] };
  const rules = rulesOf(document);
  const refusals: Refusal[] = [];
  const groups: RuleGroup[] = [];
  const convert = (rule: SourceRule, variables: Variables): ConvertedRule => {
    const converted = convertRule(rule, options.to, variables);
    const exemption = exemptionOf(converted, policyOf(document), options.exceptions ?? [], options.to);
    return exemption === undefined ? converted : withExemption(converted, exemption);
  };
  for (const rule of rules) {
    try {
      const trial = convert(rule, new Variables());
      const prefix = autogenPrefix(rule.name);
      const last = groups.findLast(({ rules: [first] }) => autogenPrefix(first?.rule.name ?? '') === prefix);
      if (last !== undefined && hasSameMatch(last, trial)) last.rules.push(convert(rule, last.variables));
      else {
        refuseLateExemption(trial, groups);
        const variables = new Variables();
        groups.push({ variables, rules: [convert(rule, variables)] });
      }
    } catch (error) {
      if (!(error instanceof NotConvertible)) throw error;
      refusals.push({ rule: rule.name, path: error.path || rule.path, reason: error.reason });
    }
  }
  if (refusals.length > 0 && options.partial !== true) return { documents: [], refusals, differences: [] };
  const isOne = readText(readObject(document, 'spec') ?? {}, 'applyRules') === 'One';
  const refusal =
    refusedCondition(document, operationsOf(groups), options.to) ??
    (isOne ? applyOne(groups, options.to) : undefined);
  if (refusal !== undefined) return { documents: [], refusals: [...refusals, refusal], differences: [] };
  try {
    return { ...assemble(document, groups, options), refusals };
  } catch (error) {
    if (!(error instanceof NotConvertible)) throw error;
    const path = error.path || 'spec.rules';
    return { documents: [], refusals: [...refusals, { path, reason: error.reason }], differences: [] };
  }
}

/**
 * Limits each group to the first rule that changes the object: a variable holds the object as it was when the first mutation read it.
 * Returns why this is not possible.
 */
function applyOne(groups: readonly RuleGroup[], to: ConversionTarget): Refusal | undefined {
  const path = 'spec.applyRules';
  const own = groups.filter(({ rules }) => !isAutogenName(rules[0]?.rule.name ?? ''));
  if (own.length > 1) return { path, reason: 'only rules with the same match can depend on each other' };
  for (const { rules, variables } of groups) {
    if (rules.length < 2) continue;
    if (to === 'map') return { path, reason: 'a MutatingAdmissionPolicy applies all mutations' };
    if (rules.some(({ mutations }) => mutations.length > 1)) {
      return { path, reason: 'a rule with several mutations cannot be left out as a whole' };
    }
    const name = variables.define('original', 'object', `${path}: One`);
    const isUnchanged = text(`object == variables.${name}`, 'bool', precedence.relation);
    rules.splice(
      0,
      rules.length,
      ...rules.map((rule) => ({
        ...rule,
        preconditions: allOf([{ ...isUnchanged, total: true }, rule.preconditions ?? bool(true)]),
      })),
    );
  }
  return undefined;
}

function operationsOf(groups: readonly RuleGroup[]): ReadonlySet<string> {
  const constraints = groups.flatMap(({ rules }) => rules.map(({ matchConstraints }) => matchConstraints));
  return new Set(
    constraints.flatMap((each) =>
      readObjects(each, 'resourceRules').flatMap((rule) => readTexts(rule, 'operations')),
    ),
  );
}

function policyOf(document: JsonObject): ExemptingPolicy {
  const kind = readText(document, 'kind') ?? '';
  const name = nameOf(document);
  const namespace = readText(readObject(document, 'metadata') ?? {}, 'namespace') ?? 'default';
  return {
    key: kind === 'Policy' ? `${namespace}/${name}` : name,
    isNamespaced: kind === 'Policy',
    hasWebhookConditions: webhookConditionsOf(document).length > 0,
  };
}

function withExemption(rule: ConvertedRule, exemption: Exemption): ConvertedRule {
  const { place, test } = exemption;
  if (place === 'outside') return { ...rule, exemption };
  if (place === 'precondition')
    return { ...rule, exemption, preconditions: allOf([rule.preconditions ?? bool(true), test]) };
  const condition = { name: 'exceptions', expression: test.source };
  return { ...rule, exemption, matchConditions: [...rule.matchConditions, condition] };
}

/** Rules with the same match and the same exceptions become one policy, unless its mutations would test the exceptions. */
function hasSameMatch({ rules }: RuleGroup, rule: ConvertedRule): boolean {
  const [first] = rules;
  const key = ({ rule: { document }, exemption }: ConvertedRule): string =>
    stringifyJson([
      document['match'] ?? null,
      document['exclude'] ?? null,
      [...(exemption?.exceptions ?? [])],
    ]);
  const isAlone = ({ targets, exemption }: ConvertedRule): boolean =>
    targets !== undefined || exemption?.place === 'precondition';
  return first !== undefined && !isAlone(first) && !isAlone(rule) && key(first) === key(rule);
}

/** The exceptions of the new policy read the object as the policies of earlier rules left it. */
function refuseLateExemption(rule: ConvertedRule, groups: readonly RuleGroup[]): void {
  const { exemption } = rule;
  if (exemption === undefined || !readsChangedObject(exemption)) return;
  const own = { resources: resourcesOf(rule) };
  const isLater = groups.some(({ rules }) => overlap({ resources: rules.flatMap(resourcesOf) }, own));
  if (!isLater) return;
  throw new NotConvertible(
    rule.rule.path,
    `the exceptions ${exemption.exceptions.join(', ')} read the object before the first rule, which may change it`,
  );
}

function unsupportedPolicy(document: JsonObject, to: ConversionTarget): Refusal | undefined {
  const kind = readText(document, 'kind') ?? '';
  const [group = ''] = (readText(document, 'apiVersion') ?? '').split('/');
  if (!['kyverno.io', 'kymera.io'].includes(group) || !['ClusterPolicy', 'Policy'].includes(kind)) {
    return { path: 'kind', reason: 'only ClusterPolicies and Policies are converted' };
  }
  const spec = readObject(document, 'spec') ?? {};
  if (kind === 'Policy' && to === 'map') {
    return { path: 'kind', reason: 'a MutatingAdmissionPolicy cannot be limited to one namespace' };
  }
  const isExisting = readObjects(spec, 'rules').every(
    (rule) => readObjects(readObject(rule, 'mutate') ?? {}, 'targets').length > 0,
  );
  if (spec['admission'] === false && !isExisting) {
    return { path: 'spec.admission', reason: 'a policy without admission changes no request' };
  }
  return undefined;
}

/** The rules in the order in which they run, each followed by those that autogen makes of it. */
function rulesOf(document: JsonObject): readonly SourceRule[] {
  const written = readObjects(readObject(document, 'spec') ?? {}, 'rules');
  const generated = autogenRules(document);
  const own =
    generated.length === 0 ? written : written.filter((rule) => !isAutogenName(readText(rule, 'name') ?? ''));
  const spec = readObject(document, 'spec') ?? {};
  const sources = own.flatMap((rule) => splitTargets(sourceRule(rule, written.indexOf(rule), spec)));
  return [...sources, ...generated.map((rule) => sourceRule(rule.document, rule.source, spec))];
}

/** Each target of a rule becomes a policy of its own. */
function splitTargets(rule: SourceRule): readonly SourceRule[] {
  const mutate = readObject(rule.document, 'mutate') ?? {};
  const targets = readObjects(mutate, 'targets');
  if (targets.length < 2) return [rule];
  return targets.map((target, index) => ({
    ...rule,
    name: index === 0 ? rule.name : `${rule.name}-${index + 1}`,
    document: { ...rule.document, mutate: { ...mutate, targets: [target] } },
  }));
}

function sourceRule(document: JsonObject, index: number, spec: JsonObject): SourceRule {
  const onPolicyUpdate = [readObject(document, 'mutate') ?? {}, spec]
    .map((holder) => readBoolean(holder, 'mutateExistingOnPolicyUpdate'))
    .find((each) => each !== undefined);
  return {
    document,
    name: readText(document, 'name') ?? '',
    path: `spec.rules[${index}]`,
    onPolicyUpdate: onPolicyUpdate === true,
  };
}
