/** Totals since the start of the processes. The page computes rates and percentiles from their differences. */
export interface MetricsSummary {
  readonly allowed: number;
  readonly denied: number;
  /** Reviews that took at most so many seconds, by bound; cumulative. */
  readonly durations: Readonly<Record<string, number>>;
  /** Gauges of background work, by name; empty if another process does it. */
  readonly background: Readonly<Record<string, number>>;
}

const backgroundGauges: Readonly<Record<string, string>> = {
  kymera_triggers_waiting: 'triggers waiting',
  kymera_update_requests: 'UpdateRequests',
  kymera_background_queue: 'waiting',
  kymera_background_running: 'running',
};

/** Reads metrics in the text format of Prometheus, which is also what several processes combine. */
export function summarizeMetrics(text: string): MetricsSummary {
  const requests = { true: 0, false: 0 };
  const durations: Record<string, number> = {};
  const background: Record<string, number> = {};
  for (const line of text.split('\n')) {
    const [, name = '', labels = '', value = ''] = /^(\w+)(?:\{(.*)\})? (\S+)/.exec(line) ?? [];
    if (name === 'kyverno_admission_requests_total') {
      requests[label(labels, 'request_allowed') === 'true' ? 'true' : 'false'] += Number(value);
    } else if (name === 'kyverno_admission_review_duration_seconds_bucket') {
      const bound = label(labels, 'le');
      durations[bound] = (durations[bound] ?? 0) + Number(value);
    } else if (Object.hasOwn(backgroundGauges, name)) {
      const state = label(labels, 'state');
      const title = `${backgroundGauges[name]}${state === '' ? '' : `, ${state}`}`;
      background[title] = (background[title] ?? 0) + Number(value);
    }
  }
  return { allowed: requests.true, denied: requests.false, durations, background };
}

function label(labels: string, name: string): string {
  return new RegExp(`(?:^|,)${name}="([^"]*)"`).exec(labels)?.[1] ?? '';
}
