// Measures the command line as a user meets it: a process of its own.
import { spawnSync } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../scripts/setup.mjs';

const kymera = join(root, 'bin', 'kymera');
const roundTrip = join(root, 'bench', 'round-trip.mjs');
const usage = join(root, '.cache', 'bench', 'usage.json');

/** Wall time and peak memory of `kymera ARGS > output`. */
export function measureCommand(args, output) {
  return measureScript([kymera, ...args], output);
}

/** The same for reading and writing a YAML file by js-yaml: the floor of every command that reads and prints objects. */
export function measureRoundTrip(file, output) {
  return measureScript([roundTrip, file], output);
}

/** Wall times of `node ARGS`, shortest first. */
export function measureStart(args, times) {
  const durations = Array.from({ length: times }, () => {
    const startedAt = performance.now();
    const result = spawnSync('node', args, { stdio: 'ignore' });
    if (result.status !== 0) throw new Error(`node ${args.join(' ')} failed`);
    return performance.now() - startedAt;
  });
  return durations.sort((a, b) => a - b);
}

function measureScript(args, output) {
  const stdout = openSync(output, 'w');
  const startedAt = performance.now();
  const result = spawnSync('node', ['--import', join(root, 'bench', 'report-usage.mjs'), ...args], {
    stdio: ['ignore', stdout, 'pipe'],
    encoding: 'utf8',
    env: { ...process.env, KYMERA_USAGE: usage },
  });
  const milliseconds = performance.now() - startedAt;
  closeSync(stdout);
  if (result.status !== 0)
    throw new Error(`node ${args.join(' ')} ended with ${result.status}: ${result.stderr}`);
  return { milliseconds, ...JSON.parse(readFileSync(usage, 'utf8')) };
}
