import type { Metric, Registry } from 'prom-client';

/** Series beyond this number are counted together. */
const familyLimit = 10_000;
const otherValue = 'other';

export type LabelValues = Readonly<Record<string, string>>;

interface Series {
  readonly labels: LabelValues;
}

export interface CounterSeries extends Series {
  value: number;
}

/**
 * Series by a string key. The registry reads them only at a scrape: the counters of prom-client sort and join the labels on
 * every count, which costs more than the review itself.
 */
class Family<S extends Series> {
  readonly #create: (labels: LabelValues) => S;
  readonly #series = new Map<string, S>();

  constructor(create: (labels: LabelValues) => S) {
    this.#create = create;
  }

  series(key: string, labelsOf: () => LabelValues): S {
    const known = this.#series.get(key);
    if (known !== undefined) return known;
    const isFull = this.#series.size >= familyLimit;
    const labels = labelsOf();
    const series = this.#create(
      isFull ? Object.fromEntries(Object.keys(labels).map((name) => [name, otherValue])) : labels,
    );
    if (!isFull) {
      this.#series.set(key, series);
      return series;
    }
    const other = this.#series.get(otherValue) ?? series;
    this.#series.set(otherValue, other);
    return other;
  }

  clear(): void {
    this.#series.clear();
  }

  all(): Iterable<S> {
    return this.#series.values();
  }
}

export type CounterFamily = Family<CounterSeries>;

export interface FamilyOptions {
  readonly name: string;
  readonly help: string;
  readonly registry: Registry;
  /** Called before each scrape. */
  readonly refresh?: (() => void) | undefined;
}

export function createCounterFamily(
  options: FamilyOptions,
  type: 'counter' | 'gauge' = 'counter',
): CounterFamily {
  const family = new Family<CounterSeries>((labels) => ({ labels, value: 0 }));
  registerMetric(options, type, () => {
    options.refresh?.();
    return Array.from(family.all(), ({ labels, value }) => ({ labels, value }));
  });
  return family;
}

export interface HistogramSeries extends Series {
  /** Observations per bucket, the last for values above all bounds. Not cumulative. */
  readonly counts: number[];
  sum: number;
}

export type HistogramFamily = Family<HistogramSeries>;

/** Kyverno's buckets. */
const bounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 20, 25, 30];

export function createHistogramFamily(options: FamilyOptions): HistogramFamily {
  const family = new Family<HistogramSeries>((labels) => ({
    labels,
    counts: new Array<number>(bounds.length + 1).fill(0),
    sum: 0,
  }));
  registerMetric(options, 'histogram', () =>
    Array.from(family.all()).flatMap((series) => points(options, series)),
  );
  return family;
}

export function observe(series: HistogramSeries, seconds: number): void {
  let bucket = 0;
  while (bucket < bounds.length && seconds > (bounds[bucket] ?? 0)) bucket += 1;
  series.counts[bucket] = (series.counts[bucket] ?? 0) + 1;
  series.sum += seconds;
}

interface Point {
  readonly metricName?: string | undefined;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

function points({ name }: FamilyOptions, { labels, counts, sum }: HistogramSeries): Point[] {
  let count = 0;
  const buckets = counts.map((own, index) => {
    count += own;
    return {
      metricName: `${name}_bucket`,
      labels: { le: bounds[index] ?? '+Inf', ...labels },
      value: count,
    };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  ];
}

/** Registers a metric whose values are read at each scrape. */
export function registerMetric(
  { name, help, registry }: FamilyOptions,
  type: string,
  values: () => readonly Point[],
): void {
  const metric = {
    name,
    help,
    type,
    aggregator: 'sum',
    get: async () => ({ name, help, type, aggregator: 'sum', values: values() }),
  };
  registry.registerMetric(metric as unknown as Metric);
}
