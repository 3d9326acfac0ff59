import type { Failure } from '../../engine/outcome.ts';
import { requestFields } from '../../engine/request.ts';
import { didYouMean } from '../../expression/did-you-mean.ts';
import type { BudgetLimits } from '../../json/budget.ts';
import { readText } from '../../json/read-field.ts';
import { autogenAnnotation } from '../../policy/autogen.ts';
import type { CompiledPolicy, CompiledRule } from '../../policy/compiled.ts';
import { collectProblems, type PolicySource } from '../../policy/problem-collector.ts';
import type { Problem } from '../../problem.ts';
import { type Example, examplesFor, mayHold } from './example-object.ts';
import { objectPath, placeAt } from './example-value.ts';
import { onlyRule, tryOut } from './trial.ts';

/** A rule on an example needs a few hundred steps. */
const limits: BudgetLimits = { steps: 20_000, bytes: 1 << 20 };
const maximumTrials = 500;
const kindsPerBlock = 12;
/** How often a field that the kind can have is added before the rule is tried again. */
const maximumRounds = 8;

/** A rule that fails on every example of some kinds, because a variable reads a field that they do not have. */
interface FailingRule {
  readonly rule: CompiledRule;
  readonly kinds: readonly string[];
  readonly variable: string;
}

/** Warnings about rules, generated ones included, that fail on all objects of a kind and so deny them. */
export function failingRuleProblems(policy: CompiledPolicy, source: PolicySource): readonly Problem[] {
  const collector = collectProblems(source, policy.key);
  const failing = findFailingRules(policy);
  const isRepeated = ({ rule, variable }: FailingRule) =>
    rule.autogenOf !== undefined &&
    failing.some((other) => other.rule.name === rule.autogenOf && other.variable === variable);
  for (const found of failing) {
    if (isRepeated(found)) continue;
    const { rule, kinds, variable } = found;
    const written = rule.autogenOf ?? rule.name;
    const message = `the ${rule.autogenOf === undefined ? 'rule' : `generated rule ${rule.name}`} fails on every ${kinds.join(', ')}: {{ ${variable} }} does not exist there`;
    const hint =
      rule.autogenOf === undefined
        ? (misspelledField(variable) ?? `Match other kinds, or give a default: {{ ${variable} || '' }}.`)
        : `Disable autogen with the annotation ${autogenAnnotation}: none, or give a default.`;
    collector.at(rule.path, { rule: written }).warn(['mutate'], 'KYM_ALWAYS_FAILS', message, hint);
  }
  return collector.problems;
}

function misspelledField(variable: string): string | undefined {
  const field = /^request\.(\w+)/.exec(variable)?.[1] ?? '';
  const similar = requestFields.includes(field) ? undefined : didYouMean(field, requestFields);
  return similar === undefined ? undefined : `Did you mean request.${similar}?`;
}

function findFailingRules(policy: CompiledPolicy): readonly FailingRule[] {
  const found: FailingRule[] = [];
  let trials = 0;
  for (const rule of policy.rules) {
    if (rule.targets !== undefined) continue;
    const examples = groupByKind(examplesFor(policy, rule, kindsPerBlock));
    const variables = new Map<string, string[]>();
    for (const [kind, ofKind] of examples) {
      trials += ofKind.length;
      if (trials > maximumTrials) return found;
      const missing = ofKind.map((example) => missingVariable(policy, rule, example));
      const [first] = missing;
      if (first === undefined || missing.includes(undefined)) continue;
      variables.set(first, [...(variables.get(first) ?? []), kind]);
    }
    for (const [variable, kinds] of variables) found.push({ rule, kinds, variable });
  }
  return found;
}

function groupByKind(examples: readonly Example[]): ReadonlyMap<string, readonly Example[]> {
  const groups = new Map<string, Example[]>();
  for (const example of examples) {
    const kind = readText(example.object, 'kind') ?? '';
    groups.set(kind, [...(groups.get(kind) ?? []), example]);
  }
  return groups;
}

/** The variable that the rule cannot resolve for an example; undefined if it does not fail, or for another reason. */
function missingVariable(policy: CompiledPolicy, rule: CompiledRule, example: Example): string | undefined {
  let { object } = example;
  for (let round = 0; round < maximumRounds; round++) {
    const { failures } = tryOut([onlyRule(policy, rule)], example, object, 0, limits);
    const [failure] = failures;
    if (failure?.code !== 'KYM_VARIABLE_UNRESOLVED') return undefined;
    const variable = variableIn(failure);
    const path = variable === undefined ? undefined : objectPath(`{{ ${variable} }}`);
    if (path === undefined || !mayHold(object, path)) return variable;
    const filled = placeAt(object, path, 'example');
    if (filled === object) return variable;
    object = filled;
  }
  return undefined;
}

/** Fields of `request` that an example may lack and a request may have. */
const unknownInExamples = requestFields.filter((field) => field !== 'object' && field !== 'oldObject');

/** Examples have only what the rule itself implies about the requester and about data from a cluster. */
function variableIn({ detail }: Failure): string | undefined {
  const variable = /^failed to resolve (.+?) at path \//s.exec(detail)?.[1];
  const field = /^request\.(\w+)/.exec(variable ?? '')?.[1];
  if (field !== undefined && !unknownInExamples.includes(field)) return variable;
  return variable !== undefined && /^images\b/.test(variable) ? variable : undefined;
}
