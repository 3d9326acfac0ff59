// The webhooks that are measured, each a process of its own: the built server, and one that only echoes.
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../scripts/setup.mjs';
import { drive } from './load.mjs';

const state = join(root, '.cache', 'bench', 'serve');
export const body = readFileSync(join(root, 'bench', 'data', 'review.json'));

/** An interrupted run leaves no process behind. */
const children = new Set();
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(130));

/** Starts the server with the ten policies. */
export async function startKymera(workers) {
  mkdirSync(state, { recursive: true });
  const args = ['--expose-gc', 'bin/kymera', 'serve', '--policies', 'bench/data/policies'];
  const { child, port } = await start(
    [...args, '--state-dir', state, '--port', '0', '--workers', String(workers)],
    /https:\/\/127\.0\.0\.1:(\d+)\/mutate/,
  );
  return webhook('kymera', child, port);
}

/** Starts the floor. It uses the certificate that the server made, so start the server first. */
export async function startEcho(workers = 1) {
  const { child, port } = await start(
    ['bench/echo.mjs', join(state, 'tls.crt'), join(state, 'tls.key'), String(workers)],
    /port (\d+)/,
  );
  return webhook('echo', child, port);
}

/** Runs the load against each webhook in turns, and adds each result to its rounds. */
export async function takeTurns(webhooks, { connections, seconds, rounds, perSecond }) {
  for (let round = 0; round < rounds; round += 1) {
    for (const target of webhooks) {
      const before = processorMicroseconds(target.pid);
      const result = await drive(target.url, { body, connections, seconds, perSecond, ...target });
      const processor = (processorMicroseconds(target.pid) - before) / result.reviews;
      target.rounds.push({ ...result, processor });
    }
  }
}

export function mean(rounds, key) {
  return rounds.reduce((sum, round) => sum + round[key], 0) / rounds.length;
}

/** Resident memory of a process and of its children, as the kernel counts it. */
export function residentMegabytes(pid) {
  return processTree(pid).reduce((sum, each) => {
    const [, kilobytes] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${each}/status`, 'utf8')) ?? [];
    return sum + Number(kilobytes ?? 0) / 1024;
  }, 0);
}

/** CPU time of each child of a process. */
export function workerMicroseconds(pid) {
  return processTree(pid).slice(1).map(processorTimeOf);
}

/** CPU time of all threads of a process and of its children. It depends less on other processes than the throughput does. */
function processorMicroseconds(pid) {
  if (pid === undefined) return Number.NaN;
  return processTree(pid).reduce((sum, each) => sum + processorTimeOf(each), 0);
}

function processorTimeOf(pid) {
  const { fields } = statOf(pid);
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}

/** The process first, then its children. */
function processTree(pid) {
  const children = readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && statOf(name).fields[1] === String(pid);
    } catch {
      // The process has ended in the meantime.
      return false;
    }
  });
  return [String(pid), ...children];
}

function statOf(pid) {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return { fields: text.replace(/^.*\) /, '').split(' ') };
}

function webhook(name, child, port) {
  const ca = readFileSync(join(state, 'ca.crt'));
  const url = `https://127.0.0.1:${port}/mutate`;
  return { name, url, ca, pid: child.pid, rounds: [], stop: () => child.kill('SIGTERM') };
}

function start(args, ready) {
  const child = spawn('node', args, { cwd: root, stdio: ['ignore', 'pipe', 'ignore'] });
  children.add(child);
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += chunk;
      const match = ready.exec(text);
      if (match !== null) resolve({ child, port: match[1] });
    });
    child.once('exit', (status) =>
      reject(new Error(`node ${args.join(' ')} ended with ${status}: run it alone to see why`)),
    );
  });
}
