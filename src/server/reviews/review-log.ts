import type { Decision } from '../../admission/decision.ts';
import { failureText } from '../../admission/failure-text.ts';
import { appliedAnnotation } from '../../admission/review-response.ts';
import type { Outcome } from '../../engine/outcome.ts';
import { policyId } from '../../policy/policy-id.ts';
import type { Log } from '../log.ts';

/** Writes one line per review: names, paths and counts, no values of objects. */
export function logReview(log: Log, decision: Decision, path: string, microseconds: number): void {
  if (!log.isLevelEnabled('info')) return;
  const { uid, request, response, dryRun, outcomes, audited } = decision;
  const { kind, subresource, namespace, name, operation } = request;
  log.info(
    {
      uid,
      path,
      operation: operation ?? '',
      kind: subresource === '' ? kind.kind : `${kind.kind}/${subresource}`,
      namespace,
      name,
      dryRun: dryRun ? true : undefined,
      allowed: response.allowed,
      applied: response.auditAnnotations?.[appliedAnnotation] ?? '',
      failed: outcomes.some(isFailed) ? ruleNames(outcomes, 'failed') : undefined,
      reasons: outcomes.some(isFailed) ? outcomes.filter(isFailed).map(failureText) : undefined,
      audit: audited.length > 0 ? ruleNames(audited, 'applied') : undefined,
      µs: microseconds,
    },
    'review',
  );
}

function isFailed(outcome: Outcome): outcome is Extract<Outcome, { status: 'failed' }> {
  return outcome.status === 'failed';
}

function ruleNames(outcomes: readonly Outcome[], wanted: Outcome['status']): string {
  const names: string[] = [];
  for (const { status, policy, rule } of outcomes) {
    if (status === wanted) names.push(`${policyId(policy)}/${rule.name}`);
  }
  return names.join();
}
