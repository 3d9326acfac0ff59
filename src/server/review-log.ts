import type { Decision } from '../admission/decision.ts';
import { appliedAnnotation } from '../admission/review-response.ts';
import type { Outcome } from '../engine/outcome.ts';

/** The part of a logger that the server uses: pino's. */
export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  isLevelEnabled(level: string): boolean;
}

/** One line a review: names, paths and counts, no values of objects. */
export function logReview(log: Log, decision: Decision, path: string, microseconds: number): void {
  if (!log.isLevelEnabled('info')) return;
  const { uid, request, response, dryRun, outcomes, audited } = decision;
  const { kind, subresource, namespace, name, operation } = request;
  log.info(
    {
      uid,
      path,
      operation,
      kind: subresource === '' ? kind.kind : `${kind.kind}/${subresource}`,
      namespace,
      name,
      ...(dryRun ? { dryRun } : {}),
      allowed: response.allowed,
      applied: response.auditAnnotations?.[appliedAnnotation] ?? '',
      ...(outcomes.some(isFailed) ? { failed: named(outcomes, 'failed') } : {}),
      ...(audited.length > 0 ? { audit: named(audited, 'applied') } : {}),
      µs: microseconds,
    },
    'review',
  );
}

function isFailed({ status }: Outcome): boolean {
  return status === 'failed';
}

function named(outcomes: readonly Outcome[], wanted: Outcome['status']): string {
  const names: string[] = [];
  for (const { status, policy, rule } of outcomes) {
    if (status === wanted) names.push(`${policy.key}/${rule.name}`);
  }
  return names.join();
}
