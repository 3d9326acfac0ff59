/** One value of a metric, with its labels. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Counters by labels. */
export interface Counts {
  add(labels: Sample['labels'], count?: number): void;
  all(): readonly Sample[];
}

/** Label values come from policies. Beyond this number, series are counted together. */
const mostSeries = 1_000;

export function createCounts(): Counts {
  const series = new Map<string, { readonly labels: Sample['labels']; value: number }>();
  return {
    add(labels, count = 1) {
      const isFull = series.size >= mostSeries && !series.has(JSON.stringify(labels));
      const counted = isFull
        ? Object.fromEntries(Object.keys(labels).map((name) => [name, 'other']))
        : labels;
      const key = JSON.stringify(counted);
      const known = series.get(key) ?? { labels: counted, value: 0 };
      known.value += count;
      series.set(key, known);
    },
    all: () => [...series.values()],
  };
}
