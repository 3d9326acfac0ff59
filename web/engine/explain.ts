import type { Writer } from '../../src/analysis/blame/blame.ts';
import type { Outcome } from '../../src/engine/outcome.ts';
import type { Path } from '../../src/json/value.ts';
import type { Evaluated } from '../../src/offline/evaluator.ts';
import { noMask } from '../../src/offline/output/mask-secrets.ts';
import { plain } from '../../src/offline/output/paint.ts';
import { ruleBranch } from '../../src/offline/output/rule-branch.ts';
import type { Branch } from '../../src/offline/output/tree.ts';
import type { Resource } from '../../src/offline/resource-documents.ts';
import type { CompiledPolicy, CompiledRule } from '../../src/policy/compiled.ts';
import { writeYaml } from '../../src/yaml/writer.ts';
import type { PolicyLocation, PolicyNode, ReasonNode, RuleNode, WriterName } from './evaluation.ts';

/** The tree that `kymera explain` prints, with the location of each line in the policy and in the object. */
export function policyNodes(
  policies: readonly CompiledPolicy[],
  resource: Resource,
  evaluated: Evaluated,
): PolicyNode[] {
  return policies.map((policy) => ({
    policy: policy.key,
    at: policyLocation(policy, []),
    dropped: evaluated.failedPolicies.includes(policy),
    rules: [
      ...evaluated.outcomes
        .filter((outcome) => outcome.policy === policy)
        .map((outcome) => ruleNode(outcome, resource)),
      ...policy.generateRules.map(({ name, path }) =>
        ignoredRule(policy, name, path, 'generates objects in the background'),
      ),
      ...policy.otherRules.map(({ name, type }) =>
        ignoredRule(policy, name, ['spec', 'rules'], `${type} rules are ignored`),
      ),
    ],
  }));
}

function ignoredRule(policy: CompiledPolicy, rule: string, path: Path, message: string): RuleNode {
  return { rule, status: 'ignored', message, at: policyLocation(policy, path), reasons: [] };
}

function ruleNode(outcome: Outcome, resource: Resource): RuleNode {
  const { policy, rule, status, message } = outcome;
  const branch = ruleBranch(outcome, { paint: plain, mask: noMask });
  return {
    rule: rule.name,
    status,
    message,
    at: ruleLocation(policy, rule),
    reasons: branch.below.map((below) => reasonNode(below, outcome, resource)),
    ...(rule.autogenOf === undefined
      ? {}
      : { autogen: { of: rule.autogenOf, yaml: writeYaml(rule.document) } }),
  };
}

function reasonNode(branch: Branch, outcome: Outcome, resource: Resource): ReasonNode {
  const { rulePath, objectPath } = branch;
  const { policy, rule } = outcome;
  return {
    text: branch.text,
    below: branch.below.map((below) => reasonNode(below, outcome, resource)),
    policyAt:
      rulePath === undefined
        ? undefined
        : policyLocation(policy, [...rule.path, ...writtenPath(rule, rulePath)]),
    objectAt:
      objectPath === undefined || resource.file === ''
        ? undefined
        : { role: 'resources', file: resource.file, line: resource.line, path: objectPath },
  };
}

/** Deeper paths inside an autogen rule do not exist in the rule that the author wrote. */
function writtenPath(rule: CompiledRule, path: Path): Path {
  return rule.autogenOf === undefined ? path : path.slice(0, 2);
}

function ruleLocation(policy: CompiledPolicy, rule: Writer['rule']): PolicyLocation {
  return policyLocation(policy, rule.path);
}

export function writerName({ policy, rule }: Writer): WriterName {
  return { name: `${policy.key} › ${rule.name}`, at: ruleLocation(policy, rule) };
}

function policyLocation(policy: CompiledPolicy, path: Path): PolicyLocation {
  return { role: 'policies', file: policy.source.file, line: policy.source.line, path };
}
