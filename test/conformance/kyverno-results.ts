import { type CompiledPolicy, loadPolicies, type Result } from '../../src/index.ts';
import { isArray, isObject, type Json, type JsonObject } from '../../src/json/value.ts';
import type { Operation } from '../../src/policy/compiled.ts';
import { createSnapshot } from '../../src/policy/registry/registry.ts';
import type { CaseUser } from './case.ts';
import { type CompareMode, differences } from './compare.ts';
import { runObject } from './engine-run.ts';
import { type CorpusCase, type CorpusResult, oracleObject, readObjects, readText } from './kyverno-corpus.ts';
import { tidy, withDefaultNamespace } from './tidy.ts';

/** What differs from the real program's result, one line each. */
export async function corpusFailures(
  corpusCase: CorpusCase,
  result: CorpusResult,
): Promise<readonly string[]> {
  const files = [...(result.policyFiles ?? corpusCase.policies), ...(corpusCase.exceptions ?? [])];
  const loaded = loadPolicies(...files.map((file) => readText(corpusCase, file)));
  const input = readObjects(corpusCase, result.resource.file)[result.resource.doc];
  if (input === undefined) return [`no document ${result.resource.doc} in ${result.resource.file}`];
  const inputObjects = [...(corpusCase.existing ?? []), ...corpusCase.resources].flatMap((file) =>
    readObjects(corpusCase, file),
  );
  const steps = await chain(normalise(input), loaded.policies, (object, policy) =>
    runObject(
      object,
      { ...loaded, policies: [policy], snapshot: createSnapshot([policy], loaded.exceptions) },
      {
        operation: result.operation as Operation | undefined,
        userInfo: userOf(corpusCase.userinfo),
        values: corpusCase.values,
        objects: inputObjects,
      },
    ),
  );
  return [
    ...loaded.problems
      .filter(({ severity }) => severity === 'error')
      .map(({ code, message }) => `${code}: ${message}`),
    ...statusFailures(result, steps),
    ...objectFailures(corpusCase, result, steps),
  ];
}

interface Step {
  readonly policy: CompiledPolicy;
  readonly result: Result;
  readonly object: JsonObject;
}

async function chain(
  input: JsonObject,
  policies: readonly CompiledPolicy[],
  apply: (object: JsonObject, policy: CompiledPolicy) => Promise<Result>,
): Promise<readonly Step[]> {
  const steps: Step[] = [];
  let object = input;
  for (const policy of policies) {
    const result = await apply(object, policy);
    object = result.object ?? object;
    steps.push({ policy, result, object });
  }
  return steps;
}

/** Command line tests name a rule and its status. */
function statusFailures({ rule, result: wanted, policy }: CorpusResult, steps: readonly Step[]): string[] {
  if (rule === null) return [];
  const names = [rule, `autogen-${rule}`, `autogen-cronjob-${rule}`];
  const outcomes = steps
    .filter((step) => step.policy.key === policy)
    .flatMap((step) => step.result.outcomes)
    .filter((outcome) => names.includes(outcome.rule.name))
    .filter(
      (outcome) =>
        outcome.status !== 'skipped' || !['match', 'exclude', 'namespace'].includes(outcome.reason.type),
    );
  const statuses: readonly string[] = outcomes.map(({ status }) => statusNames[status]);
  if (statuses.includes(wanted)) return [];
  return [
    `rule ${rule}: expected ${wanted}, got ${outcomes.map((o) => `${o.status} (${o.message})`).join(', ') || 'no outcome'}`,
  ];
}

const statusNames = { applied: 'pass', unchanged: 'skip', skipped: 'skip', failed: 'error' } as const;

function objectFailures(corpusCase: CorpusCase, result: CorpusResult, steps: readonly Step[]): string[] {
  const last = steps.at(-1)?.object;
  const afterPolicy = steps.findLast((step) => step.policy.key === result.policy)?.object ?? last;
  if (last === undefined || afterPolicy === undefined) return ['no policy was loaded'];
  const failures: string[] = [];
  if (result.patchedResource !== null) {
    const expected = readObjects(corpusCase, result.patchedResource)[result.patchedDoc ?? 0] ?? {};
    const mode: CompareMode = corpusCase.check;
    const found = compare(mode === 'exact' ? normalise(expected) : expected, afterPolicy, mode);
    if (result.negate !== true) failures.push(...found);
    else if (found.length === 0) failures.push('the object fits an assertion that it must not fit');
  }
  const whole = oracleObject(corpusCase, result.resource);
  if (whole !== undefined && corpusCase.policies.length === steps.length) {
    failures.push(
      ...compare(normalise(whole as JsonObject), last, 'exact').map((line) => `whole object: ${line}`),
    );
  }
  return failures;
}

function compare(expected: JsonObject, actual: JsonObject, mode: CompareMode): string[] {
  return differences(tidy(expected) ?? {}, tidy(actual) ?? {}, mode);
}

function normalise(object: JsonObject): JsonObject {
  return withDefaultNamespace(object);
}

function userOf(document: JsonObject | undefined): CaseUser {
  const info = isObject(document?.['userInfo']) ? document['userInfo'] : {};
  return {
    username: String(info['username'] ?? ''),
    groups: textsIn(info['groups']),
    roles: textsIn(document?.['roles']),
    clusterRoles: textsIn(document?.['clusterRoles']),
  };
}

function textsIn(value: Json | undefined): readonly string[] {
  return isArray(value) ? value.map(String) : [];
}
