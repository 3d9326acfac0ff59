import { requestFor } from '../../admission/resource-request.ts';
import { runCelRule } from '../../engine/cel-rule.ts';
import { DataCache } from '../../engine/context/data-cache.ts';
import type { Request } from '../../engine/request.ts';
import type { RuleEffect } from '../../engine/rule.ts';
import { EvaluationError } from '../../expression/scope.ts';
import type { JsonObject } from '../../json/value.ts';
import type { CelHost, CompiledCelTargets } from '../../policy/compiled-cel.ts';
import { createEvaluate } from '../evaluate.ts';
import { refKey, refOf, refTitle } from '../object-identity.ts';
import type { ObjectReader, ObjectRef } from '../ports.ts';
import { isInScope } from '../scope.ts';
import { queryOf } from '../triggers/list-triggers.ts';
import { createCelHost } from '../triggers/triggered-rules.ts';
import type { TargetRun } from './mutate-existing.ts';
import type { FoundTarget } from './target-lookup.ts';

/** A target, or the error for one that cannot be read: the others are changed nevertheless. */
export type CelTarget = FoundTarget | { readonly error: unknown };

/** The existing objects that a MutatingPolicy changes for a trigger. Throws StoreError, BudgetError and errors of evaluation. */
export async function findCelTargets(
  run: TargetRun,
  targets: CompiledCelTargets,
  reader: ObjectReader,
): Promise<readonly CelTarget[]> {
  const found = new Map<string, CelTarget>();
  const { find } = targets;
  if (find !== undefined) {
    const trigger = run.request.object ?? run.request.oldObject ?? {};
    const host = hostOf(run, run.request);
    for (const object of await createEvaluate(run.evaluation)(() => find(trigger, host))) {
      const ref = refOf(object);
      const key = refKey(ref);
      if (found.has(key) || !isInScope(run.policy, ref, reader)) continue;
      // The expression may have read it from a cache.
      found.set(key, await readTarget(ref, reader));
    }
    return [...found.values()];
  }
  for (const selector of targets.kinds) {
    const { subresource } = selector;
    if (!subresource.literal) continue;
    const objects = await reader.list({ ...queryOf(selector), namespace: run.policy.namespace });
    for (const object of objects) {
      const ref = { ...refOf(object), subresource: subresource.pattern || undefined };
      const key = refKey(ref);
      if (found.has(key) || !isInScope(run.policy, ref, reader)) continue;
      try {
        if (!(await isSelected(object, subresource.pattern))) continue;
        found.set(key, ref.subresource === undefined ? { ref, object } : await readTarget(ref, reader));
      } catch (error) {
        found.set(key, { error });
      }
    }
  }
  return [...found.values()];

  function isSelected(object: JsonObject, subresource: string): Promise<boolean> {
    const host = hostOf(run, requestFor(object, { operation: null, subresource }));
    return createEvaluate(run.evaluation)(() => targets.selects(object, host));
  }
}

async function readTarget(ref: ObjectRef, reader: ObjectReader): Promise<CelTarget> {
  try {
    const object = await reader.get(ref);
    if (object !== undefined) return { ref, object };
    const error = new EvaluationError('KYM_TARGET_NOT_FOUND', `${refTitle(ref)} does not exist`);
    return { error };
  } catch (error) {
    return { error };
  }
}

/** Each target has its own budget. */
export function runCelTarget(
  run: TargetRun,
  targets: CompiledCelTargets,
  object: JsonObject,
): Promise<RuleEffect> {
  const host = hostOf(run, run.eachTarget === true ? requestOfTarget(object) : run.request);
  const program = { run: targets.run, admission: undefined };
  return createEvaluate(run.evaluation)(() => runCelRule(program, object, host).effect);
}

/** Without a trigger, the request describes the target. */
export function requestOfTarget(object: JsonObject): Request {
  return requestFor(object, { operation: null, variables: { operation: 'UPDATE' } });
}

function hostOf(run: TargetRun, request: Request): CelHost {
  const data = new DataCache(run.dataSource);
  return createCelHost(request, data, run.environment, run.exceptions ?? [], run.policy);
}
