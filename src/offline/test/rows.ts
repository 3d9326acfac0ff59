import { kindOf } from '../../admission/resource-request.ts';
import { backgroundRules } from '../../background/background-rule.ts';
import type { Outcome } from '../../engine/outcome.ts';
import type { JsonObject } from '../../json/value.ts';
import type { CompiledPolicy, Operation } from '../../policy/compiled.ts';
import { evaluationWarnings } from '../evaluation-warnings.ts';
import type { Evaluated, Evaluator } from '../evaluator.ts';
import { nameOf, namespaceOf, titleOf } from '../object-identity.ts';
import type { Resource } from '../resource-documents.ts';
import { checkBackgroundRules } from './background.ts';
import type { ResourceReference, TestDocument, TestResult } from './document.ts';
import type { TestFilter } from './filter.ts';
import { judge } from './judgement.ts';
import type { TestSetup } from './setup.ts';

/** One row of the report: one expected result for one object. */
export interface TestRow {
  readonly policy: string;
  readonly rule: string;
  readonly resource: string;
  readonly expected: string;
  /**
   * `unverified`: there is nothing to compare (no such rule, object or expected document); a failure unless lenient.
   * `skipped`: not supported here, such as a validate rule.
   */
  readonly verdict: 'passed' | 'failed' | 'unverified' | 'skipped';
  readonly reason: string;
  /** Only the order of list items differs. */
  readonly orderDiffers?: boolean | undefined;
  readonly difference?: { readonly expected: JsonObject; readonly actual: JsonObject } | undefined;
  /** The object that the expected file must contain for the test to pass. */
  readonly proposal?: { readonly file: string; readonly object: JsonObject } | undefined;
}

export interface TestContext extends TestSetup {
  readonly test: TestDocument;
  readonly evaluator: Evaluator;
  readonly filter: TestFilter | undefined;
  /** Objects of the expected files, by path. */
  expectedObjects(file: string): Promise<readonly JsonObject[] | undefined>;
}

/** Checks every expected result of one test document. Also returns the outcomes of the tested rules. */
export async function runTest(
  context: TestContext,
): Promise<{ readonly rows: readonly TestRow[]; readonly outcomes: readonly Outcome[] }> {
  const rows: TestRow[] = [];
  const outcomes: Outcome[] = [];
  const evaluate = rememberEvaluations(context.evaluator);
  for (const result of context.test.results) {
    rows.push(...(await checkResult(result, context, evaluate, outcomes)));
  }
  const { filter } = context;
  return { rows: filter === undefined ? rows : rows.filter((row) => filter.matches(row)), outcomes };
}

type Evaluate = (resource: Resource, operation: Operation | undefined) => Promise<Evaluated>;

function rememberEvaluations(evaluator: Evaluator): Evaluate {
  const known = new Map<Operation | undefined, Map<Resource, Promise<Evaluated>>>();
  return (resource, operation) => {
    const forOperation = known.get(operation) ?? new Map<Resource, Promise<Evaluated>>();
    known.set(operation, forOperation);
    const evaluated = forOperation.get(resource) ?? evaluator.evaluate(resource.object, operation);
    forOperation.set(resource, evaluated);
    return evaluated;
  };
}

async function checkResult(
  result: TestResult,
  context: TestContext,
  evaluate: Evaluate,
  seen: Outcome[],
): Promise<TestRow[]> {
  const row = (resource: string, verdict: TestRow['verdict'], reason: string): TestRow => ({
    policy: result.policy,
    rule: result.rule,
    resource,
    expected: result.result,
    verdict,
    reason,
  });
  const whole = result.resources.map((reference) => reference.name).join(', ') || '(all)';
  const policy = findPolicy(result, context.policies);
  if (policy === undefined) {
    const other = context.ignored.find(
      ({ name }) => name === result.policy.slice(result.policy.indexOf('/') + 1),
    );
    return other === undefined
      ? [row(whole, 'unverified', `there is no policy ${result.policy}`)]
      : [row(whole, 'skipped', `${other.kind} is not a supported kind of policy`)];
  }
  const acting = backgroundRules(policy).filter(
    ({ rule }) => result.rule === '' || result.rule === rule.name,
  );
  const hasOthers = policy.rules.some(({ targets }) => targets === undefined);
  if (acting.length > 0 && (result.rule !== '' || !hasOthers)) {
    const checked = await checkBackgroundRules({ result, policy, rules: acting, context });
    return checked.map(({ resource, ...judged }) => ({ ...row(resource, 'passed', ''), ...judged }));
  }
  const otherRule = policy.otherRules.find(({ name }) => ruleNames(name).includes(result.rule));
  if (otherRule !== undefined) return [row(whole, 'skipped', `${otherRule.type} rules are not supported`)];
  // CEL policies have no rules of their own, so a name says nothing.
  const rules = policy.rules.filter(
    ({ name, mutation }) =>
      result.rule === '' || mutation.type === 'cel' || ruleNames(result.rule).includes(name),
  );
  if (rules.length === 0) {
    const written = policy.rules.filter((rule) => rule.autogenOf === undefined);
    const known = [...written, ...policy.generateRules, ...policy.otherRules]
      .map(({ name }) => name)
      .join(', ');
    return result.rule === ''
      ? [row(whole, 'skipped', 'the policy has no mutate rule')]
      : [row(whole, 'unverified', `the policy has no rule ${result.rule}; it has ${known}`)];
  }
  const { found, missing } = findResources(result, context.resources);
  const rows = missing.map((reference) =>
    row(describe(reference, result.kind), 'unverified', 'there is no such object among the resources'),
  );
  for (const resource of found) {
    const title = titleOf(resource.object);
    const subject = { policy: result.policy, rule: result.rule, resource: title };
    if (context.filter?.matches(subject) === false) continue;
    const evaluated = await evaluate(resource, result.operation);
    const outcomes = evaluated.outcomes.filter(
      (outcome) => outcome.policy === policy && rules.includes(outcome.rule),
    );
    seen.push(...outcomes);
    evaluationWarnings(title, outcomes).forEach(context.warn);
    const judged = await judge({ result, policy, outcomes, evaluated, resource }, context);
    rows.push({ ...row(title, 'passed', ''), ...judged });
  }
  return rows;
}

function findPolicy(
  { policy: name, policyKinds }: TestResult,
  policies: readonly CompiledPolicy[],
): CompiledPolicy | undefined {
  const bare = name.slice(name.indexOf('/') + 1);
  const known = policies.filter(({ kind }) => policyKinds === undefined || policyKinds.includes(kind));
  return known.find((policy) => policy.key === name) ?? known.find((policy) => policy.name === bare);
}

/** The name of a rule and of its autogen rules. */
function ruleNames(rule: string): readonly string[] {
  return [rule, `autogen-${rule}`, `autogen-cronjob-${rule}`];
}

function findResources(
  result: TestResult,
  resources: readonly Resource[],
): { found: readonly Resource[]; missing: readonly ResourceReference[] } {
  const ofKind = (resource: Resource) =>
    result.kind === '' || kindOf(resource.object).kind === bareKind(result.kind);
  if (result.resources.length === 0) return { found: resources.filter(ofKind), missing: [] };
  const found = new Set<Resource>();
  const missing: ResourceReference[] = [];
  for (const reference of result.resources) {
    const named = resources.filter((resource) => fits(reference, resource.object) && ofKind(resource));
    if (named.length === 0) missing.push(reference);
    for (const resource of named) found.add(resource);
  }
  return { found: [...found], missing };
}

/** `apps/v1/Deployment` names the kind Deployment. */
function bareKind(kind: string): string {
  return kind.slice(kind.lastIndexOf('/') + 1);
}

function fits(reference: ResourceReference, object: JsonObject): boolean {
  return (
    reference.name === nameOf(object) &&
    (reference.namespace === undefined || reference.namespace === namespaceOf(object)) &&
    (reference.apiVersion === undefined || reference.apiVersion === object['apiVersion']) &&
    (reference.kind === undefined || reference.kind === object['kind'])
  );
}

function describe(reference: ResourceReference, kind: string): string {
  const name =
    reference.namespace === undefined ? reference.name : `${reference.namespace}/${reference.name}`;
  return `${reference.kind ?? kind} ${name}`.trim();
}
