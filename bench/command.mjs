// Measures programs as a user meets them: each in a process of its own.
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../scripts/setup.mjs';

const kymera = join(root, 'bin', 'kymera');
const roundTrip = join(root, 'bench', 'round-trip.mjs');
const usage = join(root, '.cache', 'bench', 'usage.json');

/** An interrupted run leaves no process behind. */
const running = new Set();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(130));

/** Wall time and peak memory of `kymera ARGS > output`. */
export function measureCommand(args, output) {
  return measureScript([kymera, ...args], output);
}

/** The same for reading and writing a YAML file by js-yaml: the floor of every command that reads and prints objects. */
export function measureRoundTrip(file, output) {
  return measureScript([roundTrip, file], output);
}

/** Wall times of `node ARGS`, shortest first. */
export async function measureStart(args, times) {
  const durations = [];
  for (let count = 0; count < times; count += 1) durations.push(await measureProgram('node', args));
  return durations.sort((a, b) => a - b);
}

/** Wall time of `command ARGS > output`, in milliseconds. Undefined if there is no such program. */
export async function measureProgram(command, args, output, env = process.env) {
  const stdout = output === undefined ? 'ignore' : openSync(output, 'w');
  const startedAt = performance.now();
  try {
    const { status, stderr } = await ended(spawn(command, args, { stdio: ['ignore', stdout, 'pipe'], env }));
    if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}: ${stderr}`);
    return performance.now() - startedAt;
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  } finally {
    if (output !== undefined) closeSync(stdout);
  }
}

async function measureScript(args, output) {
  const milliseconds = await measureProgram(
    'node',
    ['--import', join(root, 'bench', 'report-usage.mjs'), ...args],
    output,
    { ...process.env, KYMERA_USAGE: usage },
  );
  return { milliseconds, ...JSON.parse(readFileSync(usage, 'utf8')) };
}

function ended(child) {
  running.add(child);
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    stderr += chunk;
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (status, signal) => resolve({ status: status ?? signal, stderr }));
  }).finally(() => running.delete(child));
}
