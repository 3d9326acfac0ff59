/** Totals since the start of the server, as `/live` reports them. */
export interface MetricsSummary {
  readonly allowed: number;
  readonly denied: number;
  /** Reviews that took at most so many seconds, by bound; cumulative. */
  readonly durations: Readonly<Record<string, number>>;
  readonly background: Readonly<Record<string, number>>;
}

/** Totals of a moment, in milliseconds of the server's clock. */
export interface Reading {
  readonly time: number;
  readonly metrics: MetricsSummary;
}

/** What happened between two readings. Durations are in milliseconds; undefined if no review was answered. */
export interface Interval {
  readonly reviewsPerSecond: number;
  readonly deniedPerSecond: number;
  readonly p50: number | undefined;
  readonly p99: number | undefined;
}

/** A server that was restarted counts from zero. */
export function intervalBetween(before: Reading, after: Reading): Interval {
  const seconds = Math.max((after.time - before.time) / 1000, 0.001);
  const isRestarted =
    after.metrics.allowed < before.metrics.allowed || after.metrics.denied < before.metrics.denied;
  const since: MetricsSummary = isRestarted
    ? { allowed: 0, denied: 0, durations: {}, background: {} }
    : before.metrics;
  const allowed = after.metrics.allowed - since.allowed;
  const denied = after.metrics.denied - since.denied;
  const counts = Object.entries(after.metrics.durations)
    .map(([bound, count]) => ({
      bound: bound === '+Inf' ? Number.POSITIVE_INFINITY : Number(bound),
      count: count - (since.durations[bound] ?? 0),
    }))
    .sort((left, right) => left.bound - right.bound);
  return {
    reviewsPerSecond: (allowed + denied) / seconds,
    deniedPerSecond: denied / seconds,
    p50: quantile(counts, 0.5),
    p99: quantile(counts, 0.99),
  };
}

interface Bucket {
  readonly bound: number;
  /** Cumulative. */
  readonly count: number;
}

/** Linear within a bucket, as Prometheus computes it. */
function quantile(buckets: readonly Bucket[], share: number): number | undefined {
  const total = buckets.at(-1)?.count ?? 0;
  if (total === 0) return undefined;
  const rank = share * total;
  let [lower, below] = [0, 0];
  for (const { bound, count } of buckets) {
    if (count >= rank) {
      if (bound === Number.POSITIVE_INFINITY) return lower * 1000;
      const part = count === below ? 1 : (rank - below) / (count - below);
      return (lower + (bound - lower) * part) * 1000;
    }
    [lower, below] = [bound, count];
  }
  return lower * 1000;
}
