import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

interface Figure {
  readonly part: string;
  readonly name: string;
  readonly ratio?: number;
  readonly to?: string;
  readonly more?: boolean;
}

interface Report {
  readonly figures: readonly Figure[];
  figure(part: string, name: string, value: number, unit: string, options?: object): void;
  missed(): readonly string[];
}

// The benchmarks are plain JavaScript: they run before anything is built.
const { compareFigures, createReport } = (await script('bench/report.mjs')) as {
  compareFigures(
    former: readonly Figure[],
    current: readonly Figure[],
  ): { readonly compared: number; readonly worse: readonly string[] };
  createReport(print: (line: string) => void): Report;
};
const { exponent, median } = (await script('bench/measure.mjs')) as {
  exponent(points: readonly (readonly [number, number])[]): number;
  median(values: readonly number[]): number;
};
const { page, summary } = (await script('bench/pages.mjs')) as Record<
  'page' | 'summary',
  (machine: object, figures: readonly Figure[]) => string
>;
const { plot } = (await script('bench/plot.mjs')) as { plot(options: object): string };
const { replaceSection } = (await script('scripts/page-section.mjs')) as {
  replaceSection(text: string, name: string, content: string): string;
};

describe('figures of a run', () => {
  it('miss a bar by their value, by their ratio, or by a ratio that must be large', () => {
    const { figure, missed } = createReport(() => undefined);
    figure('Part', 'value met', 79, 'µs', { bar: { value: 80 } });
    figure('Part', 'value missed', 80, 'µs', { bar: { value: 80 } });
    figure('Part', 'ratio met', 5, 'µs', { ratio: 1.5, to: 'x', bar: { ratio: 1.5 } });
    figure('Part', 'ratio missed', 5, 'µs', { ratio: 1.6, to: 'x', bar: { ratio: 1.5 } });
    figure('Part', 'share met', 5, '/s', { ratio: 0.7, to: 'x', bar: { atLeast: 0.7 } });
    figure('Part', 'share missed', 5, '/s', { ratio: 0.69, to: 'x', bar: { atLeast: 0.7 } });
    expect(missed()).toEqual(['Part: value missed', 'Part: ratio missed', 'Part: share missed']);
  });

  it('are printed as they come, under the name of their part', () => {
    const lines: string[] = [];
    const { figure } = createReport((line) => lines.push(line));
    figure('Engine', 'one', 1234.5, 'µs', { ratio: 2, to: 'the floor' });
    figure('Engine', 'two', 0.012345, 's');
    expect(lines.map((line) => line.replace(/ {2,}/g, ' '))).toEqual([
      '\nEngine',
      ' one 1,235 µs 2 × the floor',
      ' two 0.0123 s',
    ]);
  });

  it('are compared by ratio: those that are more than a fifth worse are named', () => {
    const figure = (name: string, ratio: number, more = false) => ({
      part: 'P',
      name,
      ratio,
      to: 'floor',
      more,
    });
    const former = [figure('cost', 2), figure('share', 0.6, true), figure('gone', 1), figure('equal', 1)];
    const current = [figure('cost', 2.5), figure('share', 0.4, true), figure('new', 9), figure('equal', 1.2)];
    expect(compareFigures(former, current)).toEqual({
      compared: 3,
      worse: ['P: cost: 2.5 × floor, was 2 (25 % worse)', 'P: share: 0.4 × floor, was 0.6 (50 % worse)'],
    });
    expect(compareFigures(current, former)).toEqual({ compared: 3, worse: [] });
  });

  it('give the exponent of growth', () => {
    const powers = (power: number) => [1, 10, 100].map((x) => [x, 3 * x ** power] as const);
    expect(exponent(powers(1))).toBeCloseTo(1);
    expect(exponent(powers(2))).toBeCloseTo(2);
    expect(median([5, 1, 9])).toBe(5);
  });
});

describe('docs/benchmarks.md', () => {
  const { machine, figures } = JSON.parse(read('docs/benchmarks.json'));

  it('and the README show the figures of docs/benchmarks.json', () => {
    expect(read('docs/benchmarks.md')).toContain(page(machine, figures));
    expect(read('README.md')).toContain(summary(machine, figures));
  });

  it('has a ratio for every figure', () => {
    const without = (figures as readonly Figure[]).filter(
      ({ ratio, to }) => typeof ratio !== 'number' || !to,
    );
    expect(without).toEqual([]);
  });

  it('shows plots that follow the scheme of the reader and load nothing', () => {
    const names = [...read('docs/benchmarks.md').matchAll(/\]\((images\/[^)]+\.svg)\)/g)].map(
      ([, name]) => name,
    );
    expect(names.length).toBeGreaterThan(5);
    for (const name of names) {
      const svg = read(`docs/${name}`);
      expect(svg).toContain('prefers-color-scheme: dark');
      expect(svg.replace(/xmlns(?::xlink)?="[^"]*"/g, '')).not.toMatch(/https?:|<script/);
    }
  });
});

it('a plot draws its series, its legend and its limit', () => {
  const series = (name: string, limit?: number) => ({
    name,
    type: 'line',
    limit,
    points: [
      [1, 2],
      [10, 20],
    ],
  });
  const svg = plot({
    title: 'The title',
    x: { name: 'across', type: 'log' },
    y: { name: 'up', type: 'value' },
    series: [series('first', 15), series('second')],
  });
  for (const text of ['The title', 'across', 'up', 'first', 'second', 'stroke-dasharray']) {
    expect(svg).toContain(text);
  }
  expect(svg).toContain('fill="var(--ink)"');
  expect(svg).not.toMatch(/#010203|#030201/);
});

it('a limit above all values is in the plot, with round numbers at the axis', () => {
  const svg = plot({
    title: 'T',
    x: { name: 'x', type: 'value' },
    y: { name: 'y', type: 'value' },
    series: [
      {
        name: 'one',
        type: 'line',
        limit: 1.5,
        points: [
          [1, 1.01],
          [2, 1.02],
        ],
      },
    ],
  });
  expect(svg).toContain('stroke-dasharray');
  expect(svg).toMatch(/>2<\/text>/);
});

it('a section of a page is replaced, and a page without it is an error', () => {
  const text = 'a\n<!-- one: written by x -->\n\nold\n\n<!-- end of one -->\nb\n';
  expect(replaceSection(text, 'one', 'new $& text')).toBe(text.replace('old', () => 'new $& text'));
  expect(() => replaceSection(text, 'two', 'new')).toThrow('the page has no section two');
});

function script(path: string): Promise<unknown> {
  return import(join(root, path));
}
