import { Registry } from 'prom-client';
import type { Decision } from '../../admission/decision.ts';
import type { PolicyProvider } from '../../admission/policy-provider.ts';
import { stringifyJson } from '../../json/json-text.ts';
import type { CompiledPolicy } from '../../policy/compiled.ts';
import { policyId } from '../../policy/policy-id.ts';
import {
  type CounterSeries,
  createCounterFamily,
  createHistogramFamily,
  type HistogramSeries,
  observe,
  registerMetric,
} from './metric-family.ts';
import { registerProcessMetrics } from './process-metrics.ts';
import { createReviewCounters, policyLabels } from './review-metrics.ts';

export interface Metrics {
  readonly registry: Registry;
  countReview(decision: Decision, seconds: number): void;
  countHttp(method: string, route: string, status: number, seconds: number): void;
  /** Counts a review that was refused because the server is overloaded. */
  countShed(route: string, reason: string): void;
  /** How many reviews wait, read at each scrape. */
  measureQueue(length: () => number): void;
  /** Updates the metrics of policies after a change. */
  countPolicies(before: readonly CompiledPolicy[], after: readonly CompiledPolicy[]): void;
  setCertificateExpiry(at: Date): void;
}

/** The series of a method and a route. Both come from fixed sets, so there are few. */
interface RequestSeries {
  readonly answers: Map<number, CounterSeries>;
  readonly durations: HistogramSeries;
}

/** Creates metrics with Kyverno's names and labels. Label values are names of policies, rules, kinds and namespaces; their number is bounded. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const family = (name: string, help: string) => ({ name: `kyverno_${name}`, help, registry });
  const reviews = createReviewCounters(registry);
  let loaded: readonly CompiledPolicy[] = [];
  let isOutdated = false;
  // Filled at a scrape: with thousands of policies, this takes longer than all other work after a change.
  const rules = createCounterFamily(
    { ...family('policy_rule_info_total', 'Rules loaded.'), refresh: () => countRules() },
    'gauge',
  );
  const changes = createCounterFamily(family('policy_changes_total', 'Policies added, changed and removed.'));
  const http = createCounterFamily(family('http_requests_total', 'HTTP requests.'));
  const httpDurations = createHistogramFamily(
    family('http_requests_duration_seconds', 'Duration of HTTP requests.'),
  );
  const certificate = createCounterFamily(
    {
      name: 'kymera_certificate_expiry_timestamp_seconds',
      help: 'When the serving certificate expires.',
      registry,
    },
    'gauge',
  );
  const shed = createCounterFamily({
    name: 'kymera_reviews_shed_total',
    help: 'Reviews refused because the server is overloaded.',
    registry,
  });
  registerProcessMetrics(registry);
  const requests = new Map<string, Map<string, RequestSeries>>();

  function seriesOf(method: string, route: string): RequestSeries {
    const known = requests.get(method)?.get(route);
    if (known !== undefined) return known;
    const durations = httpDurations.series(`${method} ${route}`, () => ({
      http_method: method,
      http_url: route,
    }));
    const series = { answers: new Map(), durations };
    requests.set(method, (requests.get(method) ?? new Map<string, RequestSeries>()).set(route, series));
    return series;
  }

  function countRules(): void {
    if (!isOutdated) return;
    isOutdated = false;
    rules.clear();
    for (const policy of loaded) {
      for (const [type, list] of [
        ['mutate', policy.rules],
        ['generate', policy.generateRules],
      ] as const) {
        for (const { name } of list) {
          rules.series(`${policyId(policy)} ${name}`, () => ({
            status_ready: 'true',
            ...policyLabels(policy),
            rule_name: name,
            rule_type: type,
          })).value = 1;
        }
      }
    }
  }

  return {
    registry,
    countReview: reviews.count,
    countHttp(method, route, status, seconds) {
      const { answers, durations } = seriesOf(method, route);
      let count = answers.get(status);
      if (count === undefined) {
        count = http.series(`${method} ${route} ${status}`, () => ({
          http_method: method,
          http_url: route,
          http_status: String(status),
        }));
        answers.set(status, count);
      }
      count.value += 1;
      observe(durations, seconds);
    },
    countShed(route, reason) {
      shed.series(`${route} ${reason}`, () => ({ http_url: route, reason })).value += 1;
    },
    measureQueue(length) {
      registerMetric(
        { name: 'kymera_review_queue', help: 'Reviews that wait to be answered.', registry },
        'gauge',
        () => [{ labels: {}, value: length() }],
      );
    },
    countPolicies(before, after) {
      reviews.forget();
      loaded = after;
      isOutdated = true;
      for (const [policy, change] of changesBetween(before, after)) {
        changes.series(`${policyId(policy)} ${change}`, () => ({
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

/** Updates rule gauges and change counters whenever the policies change. */
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

/** Both lists have the same order, so that a change of one policy among thousands leaves equal ends to skip. */
function changesBetween(
  before: readonly CompiledPolicy[],
  after: readonly CompiledPolicy[],
): [CompiledPolicy, 'created' | 'updated' | 'deleted'][] {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start++;
  let rest = 0;
  while (rest < shorter - start && before.at(-1 - rest) === after.at(-1 - rest)) rest++;
  const old = new Map(
    before.slice(start, before.length - rest).map((policy) => [policyId(policy), policy] as const),
  );
  const changes: [CompiledPolicy, 'created' | 'updated' | 'deleted'][] = [];
  for (const policy of after.slice(start, after.length - rest)) {
    const id = policyId(policy);
    const known = old.get(id);
    old.delete(id);
    if (known === undefined) changes.push([policy, 'created']);
    else if (known !== policy && stringifyJson(known.document) !== stringifyJson(policy.document))
      changes.push([policy, 'updated']);
  }
  for (const policy of old.values()) changes.push([policy, 'deleted']);
  return changes;
}
