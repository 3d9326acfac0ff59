import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { loadPolicies, type Outcome, type PolicySet, type Problem, type Result } from '../../src/index.ts';
import { equal } from '../../src/json/equal.ts';
import { stringifyJson } from '../../src/json/json-text.ts';
import type { Json, JsonObject } from '../../src/json/value.ts';
import { createSnapshot } from '../../src/policy/registry/registry.ts';
import { laterFailures } from './background-run.ts';
import type { CaseFile, ConformanceCase, ExpectedOutcome, ExpectedProblem } from './case.ts';
import { differences } from './compare.ts';
import { runObject } from './engine-run.ts';
import { expectedObjects, policyDocuments, resourcesOf, withName } from './short-form.ts';

export interface LocatedCaseFile extends CaseFile {
  /** Relative to the folder of cases. */
  readonly file: string;
}

export function readCaseFiles(folder: string): readonly LocatedCaseFile[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.yaml'))
    .sort()
    .map((file) => ({
      file,
      ...(parse(readFileSync(join(folder, file), 'utf8'), { maxAliasCount: 1000 }) as CaseFile),
    }));
}

/** What does not hold, one line each. */
export async function failuresOf(testCase: ConformanceCase): Promise<readonly string[]> {
  const { expect } = testCase;
  const loaded = load(testCase);
  const failures = problemFailures(loaded.problems, expect.problems);
  if (expect.later !== undefined) {
    const objects = testCase.objects?.map(withName) ?? [];
    const later = await laterFailures({ ...testCase, objects }, resourcesOf(testCase), loaded);
    return [...failures, ...later];
  }
  const runs = expect.object ?? expect.unchanged ?? expect.patch ?? expect.outcomes ?? expect.failed;
  if (runs === undefined) return expect.problems ? failures : ['the case expects nothing'];
  const resources = resourcesOf(testCase);
  const results = await Promise.all(resources.map((resource) => run(testCase, resource, loaded)));
  return [...failures, ...resultFailures(testCase, resources, results)];
}

function load(testCase: ConformanceCase): PolicySet {
  const text = typeof testCase.policy === 'string' ? [{ file: 'policy.yaml', text: testCase.policy }] : [];
  const documents = [...policyDocuments(testCase), ...(testCase.exceptions ?? [])];
  const files = documents.map((document, index) => ({
    file: `document-${index}.json`,
    text: stringifyJson(document),
  }));
  return loadPolicies(...text, ...files);
}

function run(testCase: ConformanceCase, resource: JsonObject, loaded: PolicySet): Promise<Result> {
  return runObject(
    resource,
    { ...loaded, snapshot: createSnapshot(loaded.policies, loaded.exceptions) },
    {
      ...testCase,
      oldObject: testCase.oldObject && withName(testCase.oldObject),
      objects: testCase.objects?.map(withName),
    },
  );
}

function problemFailures(
  problems: readonly Problem[],
  expected: readonly ExpectedProblem[] | undefined,
): string[] {
  const errors = problems.filter((problem) => problem.severity === 'error');
  if (expected === undefined) return errors.map((problem) => `unexpected problem: ${shownProblem(problem)}`);
  if (expected.length === 0) return problems.map((problem) => `unexpected problem: ${shownProblem(problem)}`);
  return expected
    .filter((wanted) => !problems.some((problem) => fits(problem, wanted)))
    .map(
      (wanted) =>
        `no problem ${stringifyJson(wanted)} among: ${problems.map(shownProblem).join('; ') || 'none'}`,
    );
}

function fits(problem: Problem, wanted: ExpectedProblem): boolean {
  return (
    problem.code === wanted.code &&
    (wanted.pointer === undefined || problem.pointer === wanted.pointer) &&
    (wanted.message === undefined || problem.message.includes(wanted.message))
  );
}

function shownProblem(problem: Problem): string {
  return `${problem.code} at ${problem.pointer}: ${problem.message}`;
}

function resultFailures(
  { expect, ...testCase }: ConformanceCase,
  resources: readonly JsonObject[],
  results: readonly Result[],
): string[] {
  const failures: string[] = [];
  const outcomes = results.flatMap((result) => result.outcomes);
  if (expect.object !== undefined) {
    expectedObjects({ ...testCase, expect }).forEach((object, index) => {
      failures.push(...differences(object, results[index]?.object ?? null, 'ordered'));
    });
  }
  if (expect.unchanged) {
    results.forEach((result, index) => {
      if (result.patch.length > 0) failures.push(`changed: ${stringifyJson(result.patch)}`);
      else if (!isKept(result, resources[index])) failures.push('equal, but not the same object');
    });
  }
  if (expect.patch !== undefined && !equal(expect.patch, results[0]?.patch as unknown as Json)) {
    failures.push(`the patch is ${stringifyJson(results[0]?.patch)}`);
  }
  if (expect.outcomes !== undefined) failures.push(...outcomeFailures(expect.outcomes, outcomes));
  failures.push(...failedFailures(expect.failed?.message, outcomes, expect.outcomes));
  return failures;
}

/** Rules that undo one another may leave a copy; where no rule applied the object is the one that came in. */
function isKept(result: Result, resource: JsonObject | undefined): boolean {
  return (
    result.object === null ||
    result.object === resource ||
    result.outcomes.some(({ status }) => status === 'applied')
  );
}

/** The expected ones must occur in this order; others may stand between. */
function outcomeFailures(expected: readonly ExpectedOutcome[], outcomes: readonly Outcome[]): string[] {
  const shown = `among: ${outcomes.map(shownOutcome).join('; ') || 'none'}`;
  if (expected.length === 0)
    return outcomes.some(isLookedAt) ? [`outcomes where none were expected, ${shown}`] : [];
  let from = 0;
  for (const wanted of expected) {
    const at = outcomes.findIndex((outcome, index) => index >= from && isOutcome(outcome, wanted));
    if (at < 0) return [`no outcome ${stringifyJson(wanted)} in its place ${shown}`];
    from = at + 1;
  }
  return [];
}

function isLookedAt(outcome: Outcome): boolean {
  return outcome.status !== 'skipped' || !['match', 'exclude', 'namespace'].includes(outcome.reason.type);
}

function isOutcome(outcome: Outcome, wanted: ExpectedOutcome): boolean {
  return (
    outcome.rule.name === wanted.rule &&
    outcome.status === wanted.status &&
    (wanted.policy === undefined || outcome.policy.key === wanted.policy) &&
    (wanted.reason === undefined || shownOutcome(outcome).includes(wanted.reason))
  );
}

/** Failed rules that nobody expected are failures of the case. */
function failedFailures(
  message: string | undefined,
  outcomes: readonly Outcome[],
  expected: readonly ExpectedOutcome[] | undefined,
): string[] {
  const failed = outcomes.filter((outcome) => outcome.status === 'failed');
  if (message !== undefined) {
    return failed.some((outcome) => shownOutcome(outcome).includes(message))
      ? []
      : [`no failed rule says "${message}": ${failed.map(shownOutcome).join('; ') || 'none failed'}`];
  }
  const isExpected = (outcome: Outcome) => expected?.some((wanted) => isOutcome(outcome, wanted)) ?? false;
  return failed
    .filter((outcome) => !isExpected(outcome))
    .map((outcome) => `failed: ${shownOutcome(outcome)}`);
}

function shownOutcome(outcome: Outcome): string {
  return `${outcome.policy.key}/${outcome.rule.name} ${outcome.status}: ${outcome.message} ${stringifyJson(dataOf(outcome))}`;
}

function dataOf(outcome: Outcome): unknown {
  if (outcome.status === 'skipped') return outcome.reason;
  if (outcome.status === 'failed') return outcome.failure;
  return { misses: outcome.misses, elements: outcome.elements };
}
