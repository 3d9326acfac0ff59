import type { Decision } from '../../admission/decision.ts';
import { failureText } from '../../admission/failure-text.ts';
import { modeOf } from '../../admission/policy-mode.ts';
import type { Outcome } from '../../engine/outcome.ts';
import { stringifyJson } from '../../json/json-text.ts';
import type { PatchOperation } from '../../json/patch/operation.ts';
import type { Json } from '../../json/value.ts';
import { maskPair } from '../../offline/output/mask-secrets.ts';
import { policyId } from '../../policy/policy-id.ts';

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
  /** The request as JSON, for the live view. Secrets are masked. */
  readonly request?: string | undefined;
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

/** In characters, for one request and for all that are kept. */
const longestRequest = 256 * 1024;
const keptRequests = 16 * 1024 * 1024;

export function createDecisionLog(
  size: number,
  { keepRequests = false }: { readonly keepRequests?: boolean | undefined } = {},
): DecisionLog {
  const kept: DecisionRecord[] = [];
  let characters = 0;
  const drop = () => {
    characters -= kept.shift()?.request?.length ?? 0;
  };
  return {
    record(decision, microseconds, readsSecrets) {
      const request = keepRequests ? requestText(decision) : undefined;
      characters += request?.length ?? 0;
      if (kept.length >= size) drop();
      while (characters > keptRequests) drop();
      kept.push({ ...recordOf(decision, microseconds, readsSecrets), request });
    },
    records: () => kept,
  };
}

function requestText({ request }: Decision): string | undefined {
  const [oldObject, object] = maskPair(request.oldObject ?? undefined, request.object ?? undefined);
  const text = stringifyJson({
    operation: request.operation ?? '',
    object: object ?? null,
    oldObject: oldObject ?? null,
    username: request.user?.info.username ?? '',
    groups: request.user?.info.groups ?? [],
    roles: request.user?.roles ?? [],
    clusterRoles: request.user?.clusterRoles ?? [],
  });
  return text.length > longestRequest ? undefined : text;
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
  const common = { policy: policyId(policy), rule: rule.name, mode: modeOf(policy), status };
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
