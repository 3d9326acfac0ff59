import { dirname, join } from 'node:path';
import type { Outcome } from '../engine/outcome.ts';
import type { JsonObject } from '../json/value.ts';
import type { CompiledPolicy } from '../policy/compiled.ts';
import { compareObjects } from './compare-objects.ts';
import type { Evaluated } from './evaluator.ts';
import { nameOf, namespaceOf, titleOf } from './object-identity.ts';
import type { TestResult } from './test-document.ts';
import type { TestContext, TestRow } from './test-run.ts';

type Judgement = Pick<TestRow, 'verdict' | 'reason' | 'orderDiffers' | 'difference'>;

/** Holds what the rules did to one object against what is expected: first the status, then the whole object. */
export async function judge(
  result: TestResult,
  policy: CompiledPolicy,
  outcomes: readonly Outcome[],
  evaluated: Evaluated,
  context: Pick<TestContext, 'test' | 'expectedObjects'>,
): Promise<Judgement> {
  const run = outcomes.filter((outcome) => statusOf(outcome) !== undefined);
  if (run.length === 0) {
    const why = outcomes[0] === undefined ? '' : `: ${outcomes[0].message}`;
    return { verdict: 'unverified', reason: `the rule does not apply to this object${why}` };
  }
  const actual = evaluated.steps.get(policy) ?? evaluated.after;
  const expectation = await expectationFor(actual, result, context);
  if (expectation.missing !== undefined) return { verdict: 'unverified', reason: expectation.missing };
  const wrong = run.find((outcome) => statusOf(outcome) !== result.result);
  if (wrong !== undefined) {
    return {
      verdict: 'failed',
      reason: `expected ${result.result}, got ${statusOf(wrong)}: ${wrong.message}`,
    };
  }
  return expectation.object === undefined
    ? { verdict: 'passed', reason: '' }
    : compare(actual, expectation.object, result.patchedResources ?? '');
}

interface Expectation {
  /** Absent when the result expects a status only. */
  readonly object?: JsonObject;
  /** Why there is nothing to compare with. */
  readonly missing?: string;
}

async function expectationFor(
  actual: JsonObject,
  result: TestResult,
  context: Pick<TestContext, 'test' | 'expectedObjects'>,
): Promise<Expectation> {
  const file = result.patchedResources;
  if (file === undefined) return {};
  const objects = await context.expectedObjects(join(dirname(context.test.file), file));
  if (objects === undefined) return { missing: `there is no file ${file}` };
  const object = objects.find((candidate) => isSame(candidate, actual));
  return object === undefined ? { missing: `${titleOf(actual)} is not in ${file}` } : { object };
}

function compare(actual: JsonObject, expected: JsonObject, file: string): Judgement {
  switch (compareObjects(actual, expected)) {
    case 'equal':
      return { verdict: 'passed', reason: '' };
    case 'order':
      return { verdict: 'passed', reason: 'only the order of list items differs', orderDiffers: true };
    case 'different':
      return {
        verdict: 'failed',
        reason: `the object differs from ${file}`,
        difference: { expected, actual },
      };
  }
}

/** The status of Kyverno's report; undefined when the rule did not look at the object. */
export function statusOf(outcome: Outcome): 'pass' | 'skip' | 'error' | undefined {
  switch (outcome.status) {
    case 'applied':
      return 'pass';
    case 'failed':
      return 'error';
    case 'unchanged':
      return 'skip';
    case 'skipped': {
      const { type } = outcome.reason;
      return type === 'preconditions' || type === 'anchor' || type === 'exception' ? 'skip' : undefined;
    }
  }
}

function isSame(a: JsonObject, b: JsonObject): boolean {
  return (
    a['apiVersion'] === b['apiVersion'] &&
    a['kind'] === b['kind'] &&
    nameOf(a) === nameOf(b) &&
    namespaceOf(a) === namespaceOf(b)
  );
}
