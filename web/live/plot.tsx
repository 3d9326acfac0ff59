const width = 240;
const height = 48;

/** A small line plot. Gaps are intervals without a value. */
export function Plot({ title, values }: { title: string; values: readonly (number | undefined)[] }) {
  const known = values.filter((value) => value !== undefined);
  const most = Math.max(...known, 0);
  const latest = values.at(-1);
  const step = width / Math.max(values.length - 1, 1);
  const points = values.map((value, index) =>
    value === undefined ? undefined : `${(index * step).toFixed(1)},${y(value, most).toFixed(1)}`,
  );
  return (
    <figure class="plot">
      <figcaption>
        {title} <strong>{latest === undefined ? '–' : format(latest)}</strong>
      </figcaption>
      <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={`${title}: at most ${format(most)}`}>
        {runsOf(points).map((run) => (
          <polyline key={run} points={run} fill="none" stroke="currentColor" stroke-width="1.5" />
        ))}
      </svg>
    </figure>
  );
}

function y(value: number, most: number): number {
  return most === 0 ? height - 2 : height - 2 - (value / most) * (height - 4);
}

function runsOf(points: readonly (string | undefined)[]): readonly string[] {
  const runs: string[][] = [[]];
  for (const point of points) {
    if (point === undefined) runs.push([]);
    else runs.at(-1)?.push(point);
  }
  return runs.filter((run) => run.length > 1).map((run) => run.join(' '));
}

function format(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toFixed(value >= 10 ? 1 : 2);
}
