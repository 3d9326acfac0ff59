import { read, readObject } from '../../json/read-field.ts';
import type { JsonObject } from '../../json/value.ts';
import type { Reporter } from '../../problem.ts';
import { effectReads } from './rule-reads.ts';

const changing = ['random', 'time_now', 'time_now_utc', 'time_since'] as const;

/** Functions in a rule whose results differ on each evaluation. */
export function changingCalls(rule: JsonObject): readonly string[] {
  const { calls } = effectReads(rule);
  return changing.filter((name) => calls.has(name));
}

/** A patch that differs on each evaluation would change its targets at every reconcile. */
export function adviseOnReconcile(rule: JsonObject, reporter: Reporter): void {
  if (read(readObject(rule, 'mutate') ?? {}, 'targets') === undefined) return;
  const calls = changingCalls(rule);
  if (calls.length === 0) return;
  const message = `the patch differs on each evaluation (${calls.join(', ')}), so the rule is not reconciled`;
  const hint = 'It runs when a trigger is admitted, and on policy changes with mutateExistingOnPolicyUpdate.';
  reporter.warn(['mutate'], 'KYM_NOT_RECONCILED', message, hint);
}
