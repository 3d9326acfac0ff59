import type { Decision } from '../../admission/decision.ts';
import { failureText } from '../../admission/failure-text.ts';
import { appliedJson } from '../../admission/review-response.ts';
import type { Outcome } from '../../engine/outcome.ts';
import { jsonText } from '../../json/json-text.ts';
import { policyId } from '../../policy/policy-id.ts';
import type { Log } from '../log.ts';

/**
 * Writes one line per review: names, paths and counts, no values of objects. The fields are written as JSON here: pino takes
 * longer for this line than a rule takes for the object.
 */
export function logReview(log: Log, decision: Decision, path: string, microseconds: number): void {
  if (!log.isLevelEnabled('info')) return;
  const { uid, request, response, dryRun, outcomes, audited } = decision;
  const { kind, subresource, namespace, name, operation } = request;
  const fields = [
    `"uid":${jsonText(uid)},"path":${jsonText(path)},"operation":"${operation ?? ''}"`,
    `"kind":${jsonText(subresource === '' ? kind.kind : `${kind.kind}/${subresource}`)}`,
    `"namespace":${jsonText(namespace)},"name":${jsonText(name)}${dryRun ? ',"dryRun":true' : ''}`,
    `"allowed":${response.allowed},"applied":${appliedJson(response)}`,
  ];
  const failed = outcomes.filter(isFailed);
  if (failed.length > 0) {
    fields.push(`"failed":${jsonText(ruleNames(failed))},"reasons":${jsonText(failed.map(failureText))}`);
  }
  if (audited.length > 0) fields.push(`"audit":${jsonText(ruleNames(audited.filter(isApplied)))}`);
  fields.push(`"µs":${microseconds}`);
  log.infoText(fields.join(), 'review');
}

function isFailed(outcome: Outcome): outcome is Extract<Outcome, { status: 'failed' }> {
  return outcome.status === 'failed';
}

function isApplied({ status }: Outcome): boolean {
  return status === 'applied';
}

function ruleNames(outcomes: readonly Outcome[]): string {
  return outcomes.map(({ policy, rule }) => `${policyId(policy)}/${rule.name}`).join();
}
