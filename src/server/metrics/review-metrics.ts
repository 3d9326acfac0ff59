import type { Registry } from 'prom-client';
import type { Decision } from '../../admission/decision.ts';
import { modeOf } from '../../admission/policy-mode.ts';
import type { Outcome } from '../../engine/outcome.ts';
import { readBoolean, readObject } from '../../json/read-field.ts';
import type { JsonObject } from '../../json/value.ts';
import type { CompiledPolicy, CompiledRule, Operation } from '../../policy/compiled.ts';
import { isMutatingPolicy } from '../../policy/policy-id.ts';
import {
  type CounterSeries,
  createCounterFamily,
  createHistogramFamily,
  type HistogramSeries,
  type LabelValues,
  observe,
} from './metric-family.ts';

export interface ReviewCounters {
  count(decision: Decision, seconds: number): void;
  /** Releases policies that may have been deleted; their counts stay. */
  forget(): void;
}

/** The series of reviews with equal labels: one look-up per review instead of one per metric. */
interface ReviewSeries {
  readonly requests: CounterSeries;
  readonly duration: HistogramSeries;
  readonly rules: Map<CompiledRule, Partial<Record<Outcome['status'], RuleSeries>>>;
}

/** Reviews mostly have the labels of the one before: comparing them is faster than a look-up. */
interface LastReview {
  readonly kind: string;
  readonly operation: Operation | undefined;
  readonly allowed: boolean;
  readonly dryRun: boolean;
  readonly namespace: string;
  readonly series: ReviewSeries;
}

interface RuleSeries {
  readonly results: CounterSeries;
  readonly duration: HistogramSeries;
}

/** Namespaces come from requests, so the number of remembered series is limited. */
const rememberedLimit = 1_000;

const ruleResults: Readonly<Record<Outcome['status'], string>> = {
  applied: 'pass',
  unchanged: 'skip',
  skipped: 'skip',
  failed: 'error',
};

export function createReviewCounters(registry: Registry): ReviewCounters {
  const family = (name: string, help: string) => ({ name, help, registry });
  const requests = createCounterFamily(family('kyverno_admission_requests_total', 'Admission requests.'));
  const durations = createHistogramFamily(
    family('kyverno_admission_review_duration_seconds', 'Duration of admission requests.'),
  );
  const results = createCounterFamily(family('kyverno_policy_results_total', 'Results of rules.'));
  const executions = createHistogramFamily(
    family('kyverno_policy_execution_duration_seconds', 'Duration of rules.'),
  );
  const changes = createCounterFamily(
    family('kymera_audit_changes_total', 'Objects that a rule in audit mode would have changed.'),
  );
  const remembered = new Map<string, ReviewSeries>();
  let last: LastReview | undefined;

  function seriesOf(decision: Decision): ReviewSeries {
    const { request, response, dryRun } = decision;
    const { operation, namespace, kind } = request;
    if (
      last?.kind === kind.kind &&
      last.operation === operation &&
      last.allowed === response.allowed &&
      last.dryRun === dryRun &&
      last.namespace === namespace
    )
      return last.series;
    const { allowed } = response;
    last = { kind: kind.kind, operation, allowed, dryRun, namespace, series: findSeries(decision) };
    return last.series;
  }

  function findSeries(decision: Decision): ReviewSeries {
    const { request, response, dryRun } = decision;
    const key = `${request.kind.kind} ${request.operation} ${response.allowed} ${dryRun} ${request.namespace}`;
    const known = remembered.get(key);
    if (known !== undefined) return known;
    if (remembered.size >= rememberedLimit) remembered.clear();
    const about = `${request.kind.kind} ${request.operation} ${response.allowed}`;
    const found = {
      requests: requests.series(`${about} ${request.namespace}`, () => requestLabels(decision)),
      duration: durations.series(about, () => durationLabels(decision)),
      rules: new Map(),
    };
    remembered.set(key, found);
    return found;
  }

  function ruleSeries(outcome: Outcome, decision: Decision, { rules }: ReviewSeries): RuleSeries {
    let byStatus = rules.get(outcome.rule);
    if (byStatus === undefined) {
      byStatus = {};
      rules.set(outcome.rule, byStatus);
    }
    let series = byStatus[outcome.status];
    if (series === undefined) {
      const labels = outcomeLabels(outcome, decision);
      // Namespaces and operations would multiply the buckets. Kyverno's chart also omits them.
      const { resource_namespace: _, resource_request_operation: __, ...fewer } = labels;
      series = {
        results: results.series(Object.values(labels).join(' '), () => labels),
        duration: executions.series(Object.values(fewer).join(' '), () => fewer),
      };
      byStatus[outcome.status] = series;
    }
    return series;
  }

  function countRules(
    decision: Decision,
    reviews: ReviewSeries,
    outcomes: readonly Outcome[],
    durations: readonly number[],
  ): void {
    for (let index = 0; index < outcomes.length; index += 1) {
      const series = ruleSeries(outcomes[index] as Outcome, decision, reviews);
      series.results.value += 1;
      observe(series.duration, (durations[index] ?? 0) / 1000);
    }
  }

  return {
    count(decision, seconds) {
      const reviews = seriesOf(decision);
      reviews.requests.value += 1;
      observe(reviews.duration, seconds);
      countRules(decision, reviews, decision.outcomes, decision.durations);
      countRules(decision, reviews, decision.audited, decision.auditedDurations);
      for (const outcome of decision.audited) {
        if (outcome.status !== 'applied') continue;
        const labels = auditLabels(outcome, decision);
        changes.series(Object.values(labels).join(' '), () => labels).value += 1;
      }
    },
    forget() {
      remembered.clear();
      last = undefined;
    },
  };
}

export function policyLabels(policy: CompiledPolicy): LabelValues {
  return {
    policy_validation_mode: modeOf(policy),
    policy_kind: policy.kind,
    policy_type: policy.namespace === undefined ? 'cluster' : 'namespaced',
    policy_background_mode: String(isInBackground(policy)),
    policy_namespace: policy.namespace ?? '-',
    policy_name: policy.name,
  };
}

function isInBackground(policy: CompiledPolicy): boolean {
  const spec = specOf(policy);
  if (!isMutatingPolicy(policy)) return readBoolean(spec, 'background') ?? true;
  const background = readObject(readObject(spec, 'evaluation') ?? {}, 'background') ?? {};
  return readBoolean(background, 'enabled') ?? true;
}

function specOf({ document }: CompiledPolicy): JsonObject {
  return readObject(document, 'spec') ?? {};
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

function auditLabels({ policy, rule }: Outcome, { request }: Decision): LabelValues {
  return { ...policyLabels(policy), rule_name: rule.name, resource_kind: request.kind.kind };
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
