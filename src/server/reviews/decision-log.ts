import type { Decision } from '../../admission/decision.ts';
import { failureText } from '../../admission/failure-text.ts';
import { modeOf } from '../../admission/policy-mode.ts';
import type { Outcome } from '../../engine/outcome.ts';
import type { PatchOperation } from '../../json/patch/operation.ts';
import type { Json } from '../../json/value.ts';

/** An answered review in `/debug/decisions`. */
export interface DecisionRecord {
  readonly time: string;
  readonly uid: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly operation: string;
  readonly dryRun: boolean;
  readonly allowed: boolean;
  readonly microseconds: number;
  readonly rules: readonly RuleRecord[];
}

interface RuleRecord {
  readonly policy: string;
  readonly rule: string;
  readonly mode: string;
  readonly status: string;
  readonly message: string;
  readonly patch?: Json | undefined;
}

const mask = '***';

/** The last decisions, oldest first. */
export interface DecisionLog {
  record(decision: Decision, microseconds: number, readsSecrets: boolean): void;
  records(): readonly DecisionRecord[];
}

export function createDecisionLog(size: number): DecisionLog {
  const kept: DecisionRecord[] = [];
  return {
    record(decision, microseconds, readsSecrets) {
      if (kept.length >= size) kept.shift();
      kept.push(recordOf(decision, microseconds, readsSecrets));
    },
    records: () => kept,
  };
}

function recordOf(decision: Decision, microseconds: number, readsSecrets: boolean): DecisionRecord {
  const { uid, request, response, dryRun } = decision;
  const isMasked = readsSecrets || request.kind.kind === 'Secret';
  return {
    time: new Date().toISOString(),
    uid,
    kind: request.kind.kind,
    namespace: request.namespace,
    name: request.name,
    operation: request.operation ?? '',
    dryRun,
    allowed: response.allowed,
    microseconds,
    rules: [...decision.outcomes, ...decision.audited].map((outcome) => ruleRecord(outcome, isMasked)),
  };
}

/** Masks values that come from Secrets, including annotations: one may contain a whole Secret. */
function ruleRecord(outcome: Outcome, isMasked: boolean): RuleRecord {
  const { policy, rule, status } = outcome;
  const common = { policy: policy.key, rule: rule.name, mode: modeOf(policy), status };
  if (status === 'failed') return { ...common, message: isMasked ? failureText(outcome) : outcome.message };
  if (status === 'skipped') return { ...common, message: isMasked ? outcome.reason.type : outcome.message };
  if (status === 'unchanged') return { ...common, message: outcome.message };
  const patch = outcome.patch.map((operation) => maskedOperation(operation, isMasked));
  return { ...common, message: outcome.message, patch };
}

function maskedOperation(operation: PatchOperation, isMasked: boolean): Json {
  if (!isMasked || !('value' in operation)) return { ...operation };
  return { ...operation, value: mask };
}
