import type { Outcome } from '../../engine/outcome.ts';
import type { JsonObject } from '../../json/value.ts';
import type { CompiledPolicy } from '../../policy/compiled.ts';
import { compareObjects } from '../compare-objects.ts';
import { type Evaluated, reportStatus } from '../evaluator.ts';
import { nameOf, namespaceOf, titleOf, withoutDefaultNamespace } from '../object-identity.ts';
import type { Resource } from '../resource-documents.ts';
import type { TestResult } from './document.ts';
import { pathNear } from './paths.ts';
import type { TestContext, TestRow } from './rows.ts';

export type Judgement = Pick<TestRow, 'verdict' | 'reason' | 'orderDiffers' | 'difference' | 'proposal'>;
type Expecting = Pick<TestContext, 'test' | 'expectedObjects'>;

/** One object with one expected result. */
export interface Judged {
  readonly result: TestResult;
  readonly policy: CompiledPolicy;
  readonly outcomes: readonly Outcome[];
  readonly evaluated: Evaluated;
  readonly resource: Resource;
}

/** Compares the outcome for one object with the expected result: first the status, then the whole object. */
export async function judge(judged: Judged, context: Expecting): Promise<Judgement> {
  const { result, policy, outcomes, evaluated } = judged;
  const run = outcomes.filter((outcome) => reportStatus(outcome) !== undefined);
  if (run.length === 0) {
    const why = outcomes[0] === undefined ? '' : `: ${outcomes[0].message}`;
    return { verdict: 'unverified', reason: `the rule does not apply to this object${why}` };
  }
  const actual = evaluated.steps.get(policy) ?? evaluated.after;
  const name = result.patchedResources;
  const expectation = name === undefined ? undefined : await expectationFor(actual, name, context);
  const wrong = run.find((outcome) => reportStatus(outcome) !== result.result);
  const file = expectation?.file ?? '';
  if (expectation?.missing !== undefined) {
    const proposal = wrong === undefined ? proposalFor(judged, actual, undefined, file) : {};
    return { verdict: 'unverified', reason: expectation.missing, ...proposal };
  }
  if (wrong !== undefined) {
    return {
      verdict: 'failed',
      reason: `expected ${result.result}, got ${reportStatus(wrong)}: ${wrong.message}`,
    };
  }
  const expected = expectation?.object;
  if (expected === undefined) return { verdict: 'passed', reason: '' };
  const judgement = compare(actual, expected, result.patchedResources ?? '');
  return judgement.verdict === 'failed'
    ? { ...judgement, ...proposalFor(judged, actual, expected, file) }
    : judgement;
}

/** Compares an object that a background rule changed or created with the expected file. */
export async function judgeObject(
  actual: JsonObject,
  name: string,
  context: Expecting,
  tidy: (object: JsonObject) => JsonObject = (object) => object,
): Promise<Judgement> {
  const { file, object: expected, missing } = await expectationFor(actual, name, context);
  const proposal = { file, object: withoutDefaultNamespace(tidy(actual), expected ?? actual) };
  if (expected === undefined) return { verdict: 'unverified', reason: missing ?? '', proposal };
  const judgement = compare(tidy(actual), tidy(expected), name);
  return judgement.verdict === 'failed' ? { ...judgement, proposal } : judgement;
}

/** A defaulted namespace is not written to the file. */
function proposalFor(
  { resource }: Judged,
  actual: JsonObject,
  expected: JsonObject | undefined,
  file: string,
): Pick<TestRow, 'proposal'> {
  const object = withoutDefaultNamespace(actual, expected ?? resource.object);
  return { proposal: { file, object } };
}

interface Expectation {
  readonly file: string;
  readonly object?: JsonObject | undefined;
  /** The reason why there is nothing to compare with. */
  readonly missing?: string | undefined;
}

async function expectationFor(actual: JsonObject, name: string, context: Expecting): Promise<Expectation> {
  const file = pathNear(context.test.file, name);
  const objects = await context.expectedObjects(file);
  if (objects === undefined) return { file, missing: `there is no file ${name}` };
  const object = objects.find((candidate) => isSameObject(candidate, actual));
  return object === undefined ? { file, missing: `${titleOf(actual)} is not in ${name}` } : { file, object };
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

/** Whether both have the same identity. */
export function isSameObject(a: JsonObject, b: JsonObject): boolean {
  return (
    a['apiVersion'] === b['apiVersion'] &&
    a['kind'] === b['kind'] &&
    nameOf(a) === nameOf(b) &&
    namespaceOf(a) === namespaceOf(b)
  );
}
