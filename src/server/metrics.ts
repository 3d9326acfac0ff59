import { Registry } from 'prom-client';
import type { Decision } from '../admission/decision.ts';
import { modeOf } from '../admission/policy-mode.ts';
import type { PolicyProvider } from '../admission/policy-provider.ts';
import type { Outcome } from '../engine/outcome.ts';
import type { CompiledPolicy } from '../policy/compiled.ts';
import {
  type CounterSeries,
  createCounterFamily,
  createHistogramFamily,
  type LabelValues,
  observe,
} from './metric-family.ts';
import { registerProcessMetrics } from './process-metrics.ts';

export interface Metrics {
  readonly registry: Registry;
  countReview(decision: Decision, seconds: number): void;
  countHttp(method: string, route: string, status: number, seconds: number): void;
  /** Policies came, went or changed. */
  countPolicies(before: readonly CompiledPolicy[], after: readonly CompiledPolicy[]): void;
  setCertificateExpiry(at: Date): void;
}

const ruleResults: Readonly<Record<Outcome['status'], string>> = {
  applied: 'pass',
  unchanged: 'skip',
  skipped: 'skip',
  failed: 'error',
};

/** Kyverno's names and labels. Label values are names of policies, rules, kinds and namespaces; their number is bounded. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const family = (name: string, help: string) => ({ name: `kyverno_${name}`, help, registry });
  const requests = createCounterFamily(family('admission_requests_total', 'Admission requests answered.'));
  const durations = createHistogramFamily(
    family('admission_review_duration_seconds', 'Time taken to answer admission requests.'),
  );
  const results = createCounterFamily(family('policy_results_total', 'What became of rules.'));
  const audited = createCounterFamily({
    name: 'kymera_audit_changes_total',
    help: 'Objects that a rule in audit mode would have changed.',
    registry,
  });
  const rules = createCounterFamily(family('policy_rule_info_total', 'Rules loaded.'), 'gauge');
  const changes = createCounterFamily(family('policy_changes_total', 'Policies added, changed and removed.'));
  const http = createCounterFamily(family('http_requests_total', 'HTTP requests answered.'));
  const httpDurations = createHistogramFamily(
    family('http_requests_duration_seconds', 'Time taken to answer HTTP requests.'),
  );
  const certificate = createCounterFamily(
    {
      name: 'kymera_certificate_expiry_timestamp_seconds',
      help: 'When the serving certificate ends.',
      registry,
    },
    'gauge',
  );
  registerProcessMetrics(registry);
  const ruleCounters = new Map<Outcome['rule'], Map<string, CounterSeries>>();

  function countOutcome(outcome: Outcome, decision: Decision, decisionKey: string): void {
    const key = `${outcome.status} ${decisionKey}`;
    let counters = ruleCounters.get(outcome.rule);
    if (counters === undefined) {
      counters = new Map();
      ruleCounters.set(outcome.rule, counters);
    }
    let series = counters.get(key);
    if (series === undefined) {
      const { policy, rule } = outcome;
      series = results.series(`${policy.key} ${rule.name} ${key}`, () => outcomeLabels(outcome, decision));
      // Names of namespaces come from requests.
      if (counters.size < 1_000) counters.set(key, series);
    }
    series.value += 1;
  }

  return {
    registry,
    countReview(decision, seconds) {
      const { request, response, dryRun } = decision;
      const about = `${request.kind.kind} ${request.operation} ${response.allowed}`;
      const key = `${about} ${request.namespace}`;
      requests.series(key, () => requestLabels(decision)).value += 1;
      observe(
        durations.series(about, () => durationLabels(decision)),
        seconds,
      );
      const decisionKey = `${request.kind.kind} ${request.operation} ${request.namespace} ${dryRun}`;
      for (const outcome of decision.outcomes) countOutcome(outcome, decision, decisionKey);
      for (const outcome of decision.audited) {
        countOutcome(outcome, decision, decisionKey);
        if (outcome.status !== 'applied') continue;
        const labels = () => ({
          ...policyLabels(outcome.policy),
          rule_name: outcome.rule.name,
          resource_kind: request.kind.kind,
        });
        audited.series(`${outcome.policy.key} ${outcome.rule.name} ${request.kind.kind}`, labels).value += 1;
      }
    },
    countHttp(method, route, status, seconds) {
      const key = `${method} ${route} ${status}`;
      http.series(key, () => ({
        http_method: method,
        http_url: route,
        http_status: String(status),
      })).value += 1;
      observe(
        httpDurations.series(`${method} ${route}`, () => ({ http_method: method, http_url: route })),
        seconds,
      );
    },
    countPolicies(before, after) {
      ruleCounters.clear();
      rules.clear();
      for (const policy of after) {
        for (const rule of policy.rules) {
          rules.series(`${policy.key} ${rule.name}`, () => ({
            status_ready: 'true',
            ...policyLabels(policy),
            rule_name: rule.name,
            rule_type: 'mutate',
          })).value = 1;
        }
      }
      for (const [policy, change] of changesBetween(before, after)) {
        changes.series(`${policy.key} ${change}`, () => ({
          ...policyLabels(policy),
          policy_change_type: change,
        })).value += 1;
      }
    },
    setCertificateExpiry(at) {
      certificate.series('', () => ({})).value = Math.floor(at.getTime() / 1000);
    },
  };
}

/** Keeps rule gauges and change counters in step with the policies. */
export function followPolicies(metrics: Metrics, provider: PolicyProvider): () => void {
  let known: readonly CompiledPolicy[] = [];
  const follow = () => {
    const { policies } = provider.current().all;
    metrics.countPolicies(known, policies);
    known = policies;
  };
  follow();
  return provider.onChange(follow);
}

function changesBetween(
  before: readonly CompiledPolicy[],
  after: readonly CompiledPolicy[],
): [CompiledPolicy, 'created' | 'updated' | 'deleted'][] {
  const old = new Map(before.map((policy) => [policy.key, policy]));
  const changes: [CompiledPolicy, 'created' | 'updated' | 'deleted'][] = [];
  for (const policy of after) {
    const known = old.get(policy.key);
    old.delete(policy.key);
    if (known === undefined) changes.push([policy, 'created']);
    else if (known !== policy && JSON.stringify(known.document) !== JSON.stringify(policy.document))
      changes.push([policy, 'updated']);
  }
  for (const policy of old.values()) changes.push([policy, 'deleted']);
  return changes;
}

function durationLabels({ request, response }: Decision): LabelValues {
  return {
    resource_kind: request.kind.kind,
    resource_request_operation: (request.operation ?? '').toLowerCase(),
    request_allowed: String(response.allowed),
    request_webhook: 'MutatingWebhookConfiguration',
  };
}

function requestLabels(decision: Decision): LabelValues {
  return { ...durationLabels(decision), resource_namespace: decision.request.namespace };
}

function policyLabels(policy: CompiledPolicy): LabelValues {
  return {
    policy_validation_mode: modeOf(policy),
    policy_type: policy.namespace === undefined ? 'cluster' : 'namespaced',
    policy_background_mode: 'true',
    policy_namespace: policy.namespace ?? '-',
    policy_name: policy.name,
  };
}

function outcomeLabels(outcome: Outcome, { request, dryRun }: Decision): LabelValues {
  return {
    ...policyLabels(outcome.policy),
    resource_kind: request.kind.kind,
    resource_namespace: request.namespace,
    resource_request_operation: (request.operation ?? '').toLowerCase(),
    rule_name: outcome.rule.name,
    rule_result: ruleResults[outcome.status],
    rule_type: 'mutate',
    rule_execution_cause: 'admission_request',
    dry_run: String(dryRun),
  };
}
