/** One figure and what it is about. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Figures by labels, for whoever asks. */
export interface Counts {
  add(labels: Sample['labels'], count?: number): void;
  all(): readonly Sample[];
}

/** Names come from policies; past this many they are counted together. */
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
