import type { CompiledGenerateRule, CompiledPolicy } from '../../policy/compiled.ts';
import type { ObjectRef, ObjectStore } from '../ports.ts';
import { copiesOf, downstreamOf, downstreamOfRule } from './downstream.ts';
import { type GeneratedObject, removeObjects } from './generate.ts';

export interface CleanUp {
  readonly policy: Pick<CompiledPolicy, 'name' | 'namespace'>;
  readonly rule: CompiledGenerateRule;
  readonly store: ObjectStore;
  /** Called before each deletion. */
  isActive?(): boolean;
}

type Cleaned = Promise<readonly GeneratedObject[]>;

/** The trigger was deleted or no longer matches: deletes what a synchronized rule generated for it. */
export async function cleanUpTrigger(run: CleanUp, trigger: ObjectRef): Cleaned {
  const { policy, rule, store, isActive } = run;
  if (!rule.synchronize) return [];
  return removeObjects(await downstreamOf(policy, rule, trigger, store), store, isActive);
}

/** The clone source was deleted: deletes the copies that a synchronized rule made. */
export async function cleanUpSource(run: CleanUp, source: ObjectRef): Cleaned {
  const { policy, rule, store, isActive } = run;
  if (!rule.synchronize) return [];
  return removeObjects(await copiesOf(policy, rule, source, store), store, isActive);
}

/** The rule or its policy was deleted: deletes what it generated, unless the rule orphans it. */
export async function cleanUpRule(run: CleanUp): Cleaned {
  const { policy, rule, store, isActive } = run;
  if (!rule.synchronize || rule.orphanDownstreamOnPolicyDelete) return [];
  return removeObjects(await downstreamOfRule(policy, rule, store), store, isActive);
}
