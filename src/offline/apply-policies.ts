import type { ErrorCode } from '../errors.ts';
import type { Environment } from '../expression/scope.ts';
import { equal } from '../json/equal.ts';
import type { JsonObject } from '../json/value.ts';
import type { LoadResult } from '../policy/load.ts';
import type { Problem } from '../problem.ts';
import { createInputDataSource } from './data-source.ts';
import { evaluationWarnings } from './evaluation-warnings.ts';
import { createEvaluator } from './evaluator.ts';
import { titleOf, withoutDefaultNamespace } from './object-identity.ts';
import { createValuesLookup } from './request-values.ts';
import { resourceRole } from './resource-role.ts';

/** The changes of one rule to one object. */
export interface PolicyChange {
  /** `Deployment shop/web`. */
  readonly object: string;
  readonly policy: string;
  readonly rule: string;
  /** `add /metadata/labels/team`. */
  readonly operations: readonly string[];
}

/** A rule that failed. The object keeps no change of its policy. */
export interface PolicyFailure {
  readonly code: ErrorCode;
  readonly message: string;
}

export interface PolicyOutcome {
  /** In the order given; the same object (===) where nothing changed. */
  readonly objects: readonly JsonObject[];
  readonly changes: readonly PolicyChange[];
  readonly failures: readonly PolicyFailure[];
  readonly warnings: readonly Problem[];
}

/** Applies policies to a set of objects. The policies can read the objects of the set. */
export async function applyPolicies(
  loaded: Pick<LoadResult, 'policies' | 'exceptions' | 'globalContext'>,
  objects: readonly JsonObject[],
  environment: Environment,
): Promise<PolicyOutcome> {
  const evaluator = createEvaluator({
    policies: loaded.policies,
    exceptions: loaded.exceptions,
    values: createValuesLookup(),
    dataSource: createInputDataSource([...loaded.globalContext, ...objects], environment),
    others: objects,
    environment,
  });
  const results: JsonObject[] = [];
  const changes: PolicyChange[] = [];
  const failures: PolicyFailure[] = [];
  const warnings: Problem[] = [];
  for (const object of objects) {
    if (resourceRole(object) !== 'resource') {
      results.push(object);
      continue;
    }
    const { after, outcomes } = await evaluator.evaluate(object);
    const result = withoutDefaultNamespace(after, object);
    results.push(equal(result, object) ? object : result);
    warnings.push(...evaluationWarnings(titleOf(object), outcomes));
    for (const outcome of outcomes) {
      const subject = { object: titleOf(object), policy: outcome.policy.key, rule: outcome.rule.name };
      if (outcome.status === 'failed') {
        const message = `${subject.object}: policy ${subject.policy}, rule ${subject.rule}: ${outcome.message}`;
        failures.push({ code: outcome.failure.code, message });
      } else if (outcome.status === 'applied') {
        changes.push({ ...subject, operations: outcome.patch.map(({ op, path }) => `${op} ${path}`) });
      }
    }
  }
  return { objects: results, changes, failures, warnings };
}
