import type { Evaluated } from '../../offline/evaluator.ts';

export interface ApplyCounts {
  objects: number;
  changed: number;
  failed: number;
  applied: number;
  skipped: number;
  rulesFailed: number;
}

export function noCounts(): ApplyCounts {
  return { objects: 0, changed: 0, failed: 0, applied: 0, skipped: 0, rulesFailed: 0 };
}

export function countEvaluated(evaluated: Evaluated, counts: ApplyCounts): void {
  counts.objects++;
  if (evaluated.failedPolicies.length > 0) counts.failed++;
  else if (evaluated.after !== evaluated.before) counts.changed++;
  for (const outcome of evaluated.outcomes) {
    if (outcome.status === 'applied') counts.applied++;
    else if (outcome.status === 'failed') counts.rulesFailed++;
    else counts.skipped++;
  }
}

export function summaryOf(counts: ApplyCounts): string {
  const unchanged = counts.objects - counts.changed - counts.failed;
  const objects = `${counts.objects} object${counts.objects === 1 ? '' : 's'}`;
  return (
    `${objects}: ${counts.changed} changed, ${unchanged} unchanged, ${counts.failed} failed; ` +
    `rules: ${counts.applied} applied, ${counts.skipped} skipped, ${counts.rulesFailed} failed`
  );
}
