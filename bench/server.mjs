// `npm run bench:server`: compares the built server with a webhook that only echoes, in alternating turns.
//   --seconds N     duration of a turn (default 5)      --rounds N   turns per server (default 2)
//   --warm-up N     seconds before the first turn (default 15): the first seconds are not typical of a server that runs for months
//   --count N       reviews for the measurement of memory (default 20,000; a million for the bar)
//   --workers N     processes of the server       --url URL    also measure this webhook [--ca FILE | --insecure]
//   --enforce       fail when a bar is missed
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureBuilt, root } from '../scripts/setup.mjs';
import { drive } from './load.mjs';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '2' },
    'warm-up': { type: 'string', default: '15' },
    count: { type: 'string', default: '20000' },
    workers: { type: 'string', default: '1' },
    url: { type: 'string' },
    ca: { type: 'string' },
    insecure: { type: 'boolean', default: false },
    enforce: { type: 'boolean', default: false },
  },
});
const connections = 16;
const body = readFileSync(join(root, 'bench', 'data', 'review.json'));
const state = join(root, '.cache', 'bench', 'serve');
const bars = { share: 2 / 3, p99: 25, megabytes: 200 };

await ensureBuilt();
mkdirSync(state, { recursive: true });
const server = await start(
  [
    '--expose-gc',
    'bin/kymera',
    'serve',
    '--policies',
    'bench/data/policies',
    '--state-dir',
    state,
    '--port',
    '0',
    '--workers',
    values.workers,
  ],
  /https:\/\/127\.0\.0\.1:(\d+)\/mutate/,
);
const ca = readFileSync(join(state, 'ca.crt'));
const echo = await start(['bench/echo.mjs', join(state, 'tls.crt'), join(state, 'tls.key')], /port (\d+)/);
const targets = [
  { name: 'echo', url: `https://127.0.0.1:${echo.port}/mutate`, ca, pid: echo.child.pid },
  { name: 'kymera', url: `https://127.0.0.1:${server.port}/mutate`, ca, pid: server.child.pid },
  ...(values.url === undefined ? [] : [otherTarget()]),
].map((target) => ({ ...target, rounds: [] }));

try {
  await measure();
} finally {
  server.child.kill('SIGTERM');
  echo.child.kill('SIGTERM');
}

async function measure() {
  for (const target of targets) {
    await drive(target.url, { body, connections, seconds: Number(values['warm-up']), ...target });
  }
  for (let round = 0; round < Number(values.rounds); round += 1) {
    for (const target of targets) {
      const before = processorMicroseconds(target.pid);
      const round = await drive(target.url, {
        body,
        connections,
        seconds: Number(values.seconds),
        ...target,
      });
      const processor = (processorMicroseconds(target.pid) - before) / round.reviews;
      target.rounds.push({ ...round, processor });
    }
  }
  console.log(
    `${connections} connections, keep-alive, TLS, ${values.rounds} × ${values.seconds} s each, in turns\n`,
  );
  for (const { name, rounds } of targets) {
    const best = (key) => Math.max(...rounds.map((round) => round[key])).toFixed(key === 'perSecond' ? 0 : 1);
    console.log(
      `${name.padEnd(8)} ${best('perSecond').padStart(7)} reviews/s   p50 ${best('p50')} ms   p99 ${best('p99')} ms   CPU ${best('processor')} µs per review`,
    );
  }
  const mean = (name) => {
    const { rounds } = targets.find((target) => target.name === name);
    return rounds.reduce((sum, { perSecond }) => sum + perSecond, 0) / rounds.length;
  };
  const megabytes = await measureMemory(Number(values.count));
  const p99 = Math.max(...targets[1].rounds.map((round) => round.p99));
  const missed = [
    verdict(
      'share of the echo',
      mean('kymera') / mean('echo'),
      (value) => value >= bars.share,
      `at least ${bars.share.toFixed(2)}`,
    ),
    verdict('p99, ms', p99, (value) => value < bars.p99, `under ${bars.p99}`),
    verdict('resident, MB', megabytes, (value) => value < bars.megabytes, `under ${bars.megabytes}`),
  ].filter((isMet) => !isMet).length;
  process.exitCode = missed > 0 && values.enforce ? 1 : 0;
}

/** Sends the given number of reviews and prints the resident memory of the server after each tenth. */
async function measureMemory(count) {
  const parts = 10;
  console.log(`\nmemory over ${count} further reviews:`);
  let megabytes = residentMegabytes(server.child.pid);
  for (let part = 1; part <= parts; part += 1) {
    const share = Math.ceil(count / parts);
    const { p99, perSecond } = await drive(targets[1].url, {
      body,
      connections,
      seconds: 1_800,
      count: share,
      ca,
    });
    megabytes = residentMegabytes(server.child.pid);
    console.log(
      `${String(part * share).padStart(9)}   ${megabytes.toFixed(0).padStart(4)} MB resident   ${perSecond.toFixed(0)} reviews/s   p99 ${p99.toFixed(1)} ms`,
    );
  }
  return megabytes;
}

function verdict(name, value, isMet, bar) {
  const met = isMet(value);
  console.log(`${name.padEnd(20)} ${value.toFixed(2).padStart(8)}   bar: ${bar}  ${met ? 'ok' : 'MISSED'}`);
  return met;
}

function otherTarget() {
  const trust = values.ca === undefined ? { insecure: values.insecure } : { ca: readFileSync(values.ca) };
  return { name: 'other', url: values.url, ...trust };
}

/** CPU time of all threads of a process. It depends less on other processes than the throughput does. */
function processorMicroseconds(pid) {
  if (pid === undefined) return Number.NaN;
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}

/** As the kernel counts it. */
function residentMegabytes(pid) {
  const [, kilobytes] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes ?? 0) / 1024;
}

function start(args, ready) {
  const child = spawn('node', args, { cwd: root, stdio: ['ignore', 'pipe', 'ignore'] });
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += chunk;
      const match = ready.exec(text);
      if (match !== null) resolve({ child, port: match[1] });
    });
    child.once('exit', (status) => reject(new Error(`node ${args.join(' ')} ended with ${status}`)));
  });
}
