// Writes the figures of a run to docs/benchmarks.md and the README, their plots, and docs/benchmarks.json for `--compare`.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeSection } from '../scripts/page-section.mjs';
import { root } from '../scripts/setup.mjs';
import { plot } from './plot.mjs';
import { barText, round } from './report.mjs';

const category = (name) => ({ name, type: 'category' });

/** One plot for each name that figures give; it stands before the table of the first part that has such figures. */
const plots = {
  throughput: {
    title: 'Reviews per second',
    alt: 'Reviews per second by the number of connections, next to a server that only echoes',
    x: category('connections'),
    y: { name: 'reviews per second', type: 'value' },
    type: 'bar',
  },
  latency: {
    title: 'Latency with one worker',
    alt: 'p50, p99 and p99.9 by the number of connections',
    x: category('connections'),
    y: { name: 'milliseconds', type: 'log' },
    type: 'bar',
  },
  feature: {
    title: 'CPU time of one review with one policy',
    alt: 'CPU time of one review by the feature that its policy uses',
    x: category(''),
    y: { name: 'microseconds', type: 'value' },
    type: 'bar',
  },
  policies: {
    title: 'Ten matching policies among others',
    alt: 'Cost of ten matching policies among up to 10,000 others, relative to the ten alone',
    x: { name: 'policies', type: 'log' },
    y: { name: 'times the cost of the ten alone', type: 'value' },
    type: 'line',
    value: ({ ratio }) => ratio,
    limit: 1.5,
  },
  size: {
    title: 'One review by the size of the object',
    alt: 'CPU time of one review by the size of the object',
    x: { name: 'KB', type: 'log' },
    y: { name: 'microseconds', type: 'log' },
    type: 'line',
  },
  list: {
    title: 'One review by the length of a list',
    alt: 'CPU time of one review by the length of the list that a rule changes',
    x: { name: 'items', type: 'log' },
    y: { name: 'microseconds', type: 'log' },
    type: 'line',
  },
  build: {
    title: 'kymera build',
    alt: 'Seconds for a build by the number of resources',
    x: { name: 'resources', type: 'value' },
    y: { name: 'seconds', type: 'value' },
    type: 'line',
  },
};

export function writePages(machine, figures) {
  for (const [name, { alt, ...shape }] of Object.entries(plots)) {
    const own = figures.filter((figure) => figure.plot === name);
    if (own.length > 0) writeFileSync(join(root, 'docs', 'images', fileOf(name)), draw(shape, own));
  }
  writeFileSync(
    join(root, 'docs', 'benchmarks.json'),
    `${JSON.stringify({ machine, figures }, undefined, 1)}\n`,
  );
  writeSection('docs/benchmarks.md', 'figures', page(machine, figures));
  writeSection('README.md', 'figures', summary(machine, figures));
}

/** The tables and plots of the page, as Markdown. */
export function page(machine, figures) {
  const parts = [...new Set(figures.map(({ part }) => part))];
  const shown = new Set();
  const sections = parts.map((part) => {
    const own = figures.filter((figure) => figure.part === part);
    const names = [...new Set(own.flatMap((figure) => figure.plot ?? []))].filter((name) => !shown.has(name));
    for (const name of names) shown.add(name);
    const images = names.map((name) => `![${plots[name].alt}](images/${fileOf(name)})\n\n`).join('');
    return `## ${part}\n\n${images}${table(own)}`;
  });
  return `${measured(machine)}\n\n${sections.join('\n\n')}`;
}

/** One plot and the three figures that matter most. */
export function summary(machine, figures) {
  const find = (part, name) => {
    const figure = figures.find((each) => each.part === part && each.name === name);
    if (figure === undefined) throw new Error(`the run has no figure ${part}: ${name}`);
    return figure;
  };
  const throughput = find('Server, 16 connections', 'one worker: reviews per second');
  const p99 = find('Server, 16 connections', 'one worker: p99');
  const memory = find('Server, 16 connections', 'one worker: memory');
  const lines = [
    `**${round(throughput.value)} reviews per second** through ten policies in one process: ${round(throughput.ratio * 100)} % of what a server does that only echoes.`,
    `**p99 of ${round(p99.value)} ms** at that load, with 16 connections over TLS.`,
    `**${round(memory.value)} MB of memory** after it.`,
  ];
  const { title, alt } = plots.throughput;
  return [
    `![${alt}](docs/images/${fileOf('throughput')} "${title}")`,
    lines.map((line) => `- ${line}`).join('\n'),
    `\`npm run bench\` makes these figures. ${measured(machine)} [All figures](docs/benchmarks.md).`,
  ].join('\n\n');
}

function measured({ date, node, cores, processor, load }) {
  return `Measured on ${date} with Node ${node} on ${cores} cores (${processor}) that the clients share, at a load of ${load.toFixed(1)} before the run.`;
}

function table(figures) {
  const rows = figures.map(
    ({ name, value, unit, ratio, to, bar, missed }) =>
      `| ${name} | ${`${round(value)} ${unit}`.trim()} | ${ratio === undefined ? '' : `${round(ratio)} × ${to}`} | ${bar === undefined ? '' : `${barText(bar, unit)}: ${missed ? '**missed**' : 'met'}`} |`,
  );
  return ['| | measured | ratio | bar |', '|---|---|---|---|', ...rows].join('\n');
}

function fileOf(name) {
  return `benchmark-${name}.svg`;
}

function draw({ title, x, y, type, limit, value = (figure) => figure.value }, figures) {
  const names = [...new Set(figures.map(({ series }) => series))];
  const values = [...new Set(figures.map((figure) => figure.x))];
  const isCategory = x.type === 'category';
  return plot({
    title,
    x: isCategory ? { ...x, values } : x,
    y,
    series: names.map((name, index) => {
      const own = figures.filter(({ series }) => series === name);
      const points = isCategory
        ? values.map((at) => own.filter((figure) => figure.x === at).map(value)[0] ?? null)
        : own.map((figure) => [figure.x, value(figure)]);
      return { name, type, points, limit: index === 0 ? limit : undefined };
    }),
  });
}
