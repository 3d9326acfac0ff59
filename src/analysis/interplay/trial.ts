import type { DataSource } from '../../engine/context/data-source.ts';
import { mutateSync } from '../../engine/mutate.ts';
import type { Failure, Outcome } from '../../engine/outcome.ts';
import type { Request } from '../../engine/request.ts';
import type { Environment } from '../../expression/scope.ts';
import { Suspend } from '../../expression/scope.ts';
import { type BudgetLimits, spendInner, spendSteps } from '../../json/budget.ts';
import { readObject, readText } from '../../json/read-field.ts';
import type { JsonObject } from '../../json/value.ts';
import type { CompiledPolicy, CompiledRule } from '../../policy/compiled.ts';
import { createSnapshot } from '../../policy/registry/registry.ts';
import type { Example } from './example-object.ts';

/** The result of running policies on an example object. */
export interface Trial {
  readonly object: JsonObject;
  /** The rules that changed something. */
  readonly applied: readonly CompiledRule[];
  /** The applied rules, and the rules that matched without changing anything. */
  readonly matched: ReadonlySet<CompiledRule>;
  /** A rule failed, so the example is not meaningful. */
  readonly failed: boolean;
  readonly failures: readonly Failure[];
}

/** To index a rule, which evaluation does not count. */
const stepsPerRule = 100;

/** Runs policies on an object with the request of the example; each round has another time. */
export function tryOut(
  policies: readonly CompiledPolicy[],
  example: Example,
  object: JsonObject,
  round: number,
  limits?: BudgetLimits,
): Trial {
  spendSteps(stepsPerRule * policies.reduce((sum, { rules }) => sum + rules.length, 0));
  const snapshot = createSnapshot(policies, [], { order: 'given' });
  const options = { dataSource: namespaceData(example), environment: environmentOf(round), limits };
  try {
    const result = spendInner(() => mutateSync(requestOf(example, object), snapshot, options));
    return {
      object: result.object ?? object,
      applied: rulesWith(result.outcomes, ['applied']),
      matched: new Set(rulesWith(result.outcomes, ['applied', 'unchanged'])),
      failed: result.failedPolicies.length > 0,
      failures: result.outcomes.flatMap((outcome) => (outcome.status === 'failed' ? [outcome.failure] : [])),
    };
  } catch (error) {
    if (error instanceof Suspend)
      return { object, applied: [], matched: new Set(), failed: true, failures: [] };
    throw error;
  }
}

function rulesWith(
  outcomes: readonly Outcome[],
  statuses: readonly Outcome['status'][],
): readonly CompiledRule[] {
  return outcomes.flatMap(({ status, rule }) => (statuses.includes(status) ? [rule] : []));
}

/** The policy with one of its rules. */
export function onlyRule(policy: CompiledPolicy, rule: CompiledRule): CompiledPolicy {
  return { ...policy, rules: [rule] };
}

function requestOf({ operation, user }: Example, object: JsonObject): Request {
  const metadata = readObject(object, 'metadata') ?? {};
  const [name, namespace] = [readText(metadata, 'name') ?? '', readText(metadata, 'namespace') ?? ''];
  const [version = '', group = ''] = (readText(object, 'apiVersion') ?? '').split('/').reverse();
  const kind = { group, version, kind: readText(object, 'kind') ?? '' };
  const oldObject = operation === 'UPDATE' ? object : null;
  const userInfo = user && { userInfo: { username: user.info.username, groups: user.info.groups } };
  return {
    operation,
    kind,
    subresource: '',
    name,
    namespace,
    object,
    oldObject,
    user,
    variables: { kind, name, namespace, operation, ...userInfo, ...(oldObject && { oldObject }), object },
  };
}

function namespaceData({ namespaceLabels }: Example): DataSource {
  return {
    read: ({ type }) =>
      type === 'namespaceLabels'
        ? { found: true, value: namespaceLabels }
        : { found: false, error: 'no cluster is available' },
  };
}

const hour = 3_600_000;

function environmentOf(round: number): Environment {
  let state = round * 7_919 + 1;
  return {
    now: () => new Date(Date.UTC(2024, 0, 2, 3, 4, 5) + round * hour),
    random: () => {
      state = (state * 48_271) % 2_147_483_647;
      return state / 2_147_483_647;
    },
  };
}
