// `npm run bench`: what the engine costs on this machine, next to what it may cost. `--enforce` fails when a bar is missed.
import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { ensureBuilt, root } from '../scripts/setup.mjs';
import { benchBuild } from './build.mjs';
import { measureCommand, measureStart } from './command.mjs';
import { benchGrowth } from './growth.mjs';
import { assertAnswer, loadReviewer, measureCompile, measureReview, readPolicies } from './review.mjs';

const reviews = 20_000;
const data = join(root, 'bench', 'data');
const scratch = join(root, '.cache', 'bench');
const missed = [];

await ensureBuilt();
mkdirSync(scratch, { recursive: true });
console.log(
  `${cpus().length} × ${cpus()[0]?.model ?? 'unknown processor'}, node ${process.version}, ` +
    `load ${loadavg()[0]?.toFixed(1)} (above ${cpus().length} the clock also counts others' work)\n`,
);

await benchEngine();
await benchBulk();
benchBuild(scratch, report);
benchStart();

if (missed.length > 0) console.log(`\nover the bar: ${missed.join(', ')}`);
process.exit(missed.length > 0 && process.argv.includes('--enforce') ? 1 : 0);

async function benchEngine() {
  const { loadPolicies } = await import('../dist/index.js');
  const files = readPolicies(join(data, 'policies'));
  const compile = measureCompile(() => loadPolicies(...files), 50);
  report(`load ${files.length} policies, first time`, compile.first, 'ms');
  report(`load ${files.length} policies, warm`, compile.mean, 'ms');

  const bundle = await loadReviewer(root, scratch);
  const { reviewer } = bundle.createBenchPolicies(files);
  const text = readFileSync(join(data, 'review.json'), 'utf8');
  const review = JSON.parse(text);
  const answer = () => reviewer(review);
  await assertAnswer(answer);
  const parsed = await measureReview(answer, reviews);
  report('one review, parsed object in, JSON out', parsed.wall, 'µs', 80);
  report('  its processor time', parsed.cpu, 'µs');
  const { reviewer: celReviewer } = bundle.createBenchPolicies(readPolicies(join(data, 'policies-cel')));
  await assertAnswer(() => celReviewer(review));
  const cel = await measureReview(() => celReviewer(review), reviews);
  report('one review by equivalent MutatingPolicies', cel.wall, 'µs');
  report('  its processor time', cel.cpu, 'µs');
  const fromText = await measureReview(() => reviewer(JSON.parse(text)), reviews);
  report('one review, JSON in, JSON out', fromText.wall, 'µs');
  await benchGrowth(bundle, files, review, report);
}

async function benchBulk() {
  const { bulkCount, writeBulk } = await import('./make-bulk.mjs');
  const input = join(scratch, 'bulk.yaml');
  writeBulk(input);
  const megabytes = (statSync(input).size / 1e6).toFixed(1);
  const policies = join(data, 'policies-cli');
  const { milliseconds, peakMegabytes } = measureCommand(['apply', policies, '-r', input, '-o', 'yaml'], {
    output: join(scratch, 'bulk-out.yaml'),
    usage: join(scratch, 'usage.json'),
  });
  const printed = readFileSync(join(scratch, 'bulk-out.yaml'), 'utf8').match(/^kind: /gm)?.length ?? 0;
  if (printed !== bulkCount) throw new Error(`${printed} objects were printed, not ${bulkCount}`);
  report(`apply to ${bulkCount} objects (${megabytes} MB of YAML)`, milliseconds / 1000, 's', 3);
  report('  its peak memory', peakMegabytes, 'MB', 400);
}

function benchStart() {
  const bare = measureStart(['--eval', '0'], 10);
  report('node alone, median of 10', bare[5], 'ms');
  const durations = measureStart([join(root, 'bin', 'kymera'), '--version'], 10);
  report('kymera --version, best of 10', durations[0], 'ms');
  report('kymera --version, median of 10', durations[5], 'ms', 150);
}

function report(name, value, unit, bar) {
  const figure = `${value.toFixed(unit === 's' || value < 10 ? 2 : 1)} ${unit}`.padStart(12);
  const over = bar !== undefined && value >= bar;
  if (over) missed.push(name.trim());
  const verdict = bar === undefined ? '' : `   bar: under ${bar} ${unit}  ${over ? 'MISSED' : 'ok'}`;
  console.log(`${name.padEnd(62)}${figure}${verdict}`);
}
