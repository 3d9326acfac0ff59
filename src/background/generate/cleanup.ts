import type { CompiledGenerateRule, CompiledPolicy } from '../../policy/compiled.ts';
import type { ObjectRef, ObjectStore } from '../ports.ts';
import { copiesOf, downstreamOf, downstreamOfRule } from './downstream.ts';
import { type GeneratedObject, removeObjects } from './generate.ts';

export interface CleanUp {
  readonly policy: Pick<CompiledPolicy, 'name' | 'namespace'>;
  readonly rule: CompiledGenerateRule;
  readonly store: ObjectStore;
  /** Asked before each deletion. */
  isActive?(): boolean;
}

type Cleaned = Promise<readonly GeneratedObject[]>;

/** A trigger is gone, or is none any more: what a synchronized rule made for it goes too. */
export async function cleanUpTrigger(run: CleanUp, trigger: ObjectRef): Cleaned {
  const { policy, rule, store, isActive } = run;
  if (!rule.synchronize) return [];
  return removeObjects(await downstreamOf(policy, rule, trigger, store), store, isActive);
}

/** A source is gone: what a synchronized rule copied from it goes too. */
export async function cleanUpSource(run: CleanUp, source: ObjectRef): Cleaned {
  const { policy, rule, store, isActive } = run;
  if (!rule.synchronize) return [];
  return removeObjects(await copiesOf(policy, rule, source, store), store, isActive);
}

/** A rule or its policy is gone: what it made goes too, unless the rule wants it to stay. */
export async function cleanUpRule(run: CleanUp): Cleaned {
  const { policy, rule, store, isActive } = run;
  if (!rule.synchronize || rule.orphanDownstreamOnPolicyDelete) return [];
  return removeObjects(await downstreamOfRule(policy, rule, store), store, isActive);
}
