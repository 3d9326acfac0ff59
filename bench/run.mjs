// `npm run bench`: measures the engine, the server and the commands, and writes docs/benchmarks.md with its plots.
//   --only PART      engine, growth, server, commands or build; several times; the page is not written
//   --compare FILE   names every ratio that is more than a fifth worse than in FILE (docs/benchmarks.json of another run); then exits with 1
//   --enforce        exits with 1 when a bar is missed
//   --seconds N      duration of a turn of the server (default 3)   --rounds N   turns per server (default 3)
//   --warm-up N      seconds before the first turn (default 8)
import { mkdirSync, readFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { fail, readJson, readOptions } from '../scripts/options.mjs';
import { ensureBuilt, root } from '../scripts/setup.mjs';
import { compareFigures, createReport } from './report.mjs';

const values = readOptions({
  only: { multiple: true },
  compare: {},
  enforce: { type: 'boolean', default: false },
  seconds: { is: 'a positive number', default: 3 },
  rounds: { is: 'a positive whole number', default: 3 },
  'warm-up': { is: 'a number of at least 0', default: 8 },
});
const scratch = join(root, '.cache', 'bench');
const data = join(root, 'bench', 'data');
const report = createReport();
const parts = { engine, growth, server, commands, build };
const unknown = values.only?.find((name) => !Object.hasOwn(parts, name));
if (unknown !== undefined) fail(`--only ${unknown}: choose one of ${Object.keys(parts).join(', ')}`);
// Read first: the run may overwrite the file.
const former = values.compare === undefined ? undefined : readJson('compare', values.compare)?.figures;
if (values.compare !== undefined && !Array.isArray(former))
  fail(
    `--compare ${values.compare}: the file has no figures; npm run bench writes them to docs/benchmarks.json`,
  );

await ensureBuilt();
mkdirSync(scratch, { recursive: true });
const machine = {
  date: new Date().toISOString().slice(0, 10),
  cores: cpus().length,
  processor: cpus()[0]?.model ?? 'unknown processor',
  node: process.versions.node,
  load: loadavg()[0],
};
console.log(
  `${machine.cores} × ${machine.processor}, Node ${machine.node}, load ${machine.load.toFixed(1)} (above ${machine.cores} the clock also counts others' work)`,
);

const chosen = Object.keys(parts).filter((name) => values.only?.includes(name) ?? true);
for (const [index, name] of chosen.entries()) {
  console.error(`\n[${index + 1}/${chosen.length}] ${name} …`);
  await parts[name]();
}
if (values.only === undefined) {
  const { writePages } = await import('./pages.mjs');
  writePages(machine, report.figures);
  console.log('\nwrote docs/benchmarks.md, its plots, and the figures of the README');
}
const missed = report.missed();
if (missed.length > 0) console.log(`\nover the bar:\n${missed.map((name) => `  ${name}`).join('\n')}`);
const { compared, worse } = compareFigures(former ?? [], report.figures);
if (former !== undefined) {
  console.log(
    compared === 0
      ? `\nno ratio of this run is in ${values.compare}`
      : worse.length === 0
        ? `\nno ratio of ${compared} is more than a fifth worse than in ${values.compare}`
        : `\n${worse.length} of ${compared} ratios are more than a fifth worse than in ${values.compare}:`,
  );
  for (const line of worse) console.log(`  ${line}`);
}
process.exit(worse.length > 0 || (missed.length > 0 && values.enforce) ? 1 : 0);

async function engine() {
  const { benchEngine } = await import('./engine.mjs');
  await benchEngine(await reviewerBundle(), report);
}

async function growth() {
  const [{ benchGrowth }, { readPolicies }] = await Promise.all([
    import('./growth.mjs'),
    import('./review.mjs'),
  ]);
  const review = JSON.parse(readFileSync(join(data, 'review.json'), 'utf8'));
  await benchGrowth(await reviewerBundle(), readPolicies(join(data, 'policies')), review, report);
}

async function server() {
  const { benchServing } = await import('./serving.mjs');
  await benchServing(report, {
    seconds: values.seconds,
    rounds: values.rounds,
    warmUp: values['warm-up'],
  });
}

async function commands() {
  const { benchApply, benchStart } = await import('./commands.mjs');
  await benchStart(report);
  await benchApply(scratch, report);
}

async function build() {
  const { benchBuild } = await import('./build.mjs');
  await benchBuild(scratch, report);
}

async function reviewerBundle() {
  const { loadReviewer } = await import('./review.mjs');
  return loadReviewer(root, scratch);
}
