// `npm run bench:server`: compares the built server with a webhook that only echoes, in alternating turns.
//   --seconds N     duration of a turn (default 5)      --rounds N   turns per server (default 2)
//   --warm-up N     seconds before the first turn (default 15): the first seconds are not typical of a server that runs for months
//   --count N       reviews for the measurement of memory (default 20,000; a million for the bar)
//   --workers N     processes of the server       --url URL    also measure this webhook [--ca FILE | --insecure]
//   --enforce       fail when a bar is missed
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { ensureBuilt } from '../scripts/setup.mjs';
import { drive } from './load.mjs';
import { body, mean, residentMegabytes, startEcho, startKymera, takeTurns } from './webhooks.mjs';

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
const bars = { share: 2 / 3, p99: 25, megabytes: 200 };

await ensureBuilt();
const server = await startKymera(values.workers);
const echo = await startEcho();
const targets = [echo, server, ...(values.url === undefined ? [] : [otherTarget()])];

try {
  await measure();
} finally {
  server.stop();
  echo.stop();
}

async function measure() {
  for (const target of targets) {
    await drive(target.url, { body, connections, seconds: Number(values['warm-up']), ...target });
  }
  await takeTurns(targets, {
    connections,
    seconds: Number(values.seconds),
    rounds: Number(values.rounds),
  });
  console.log(
    `${connections} connections, keep-alive, TLS, ${values.rounds} × ${values.seconds} s each, in turns\n`,
  );
  for (const { name, rounds } of targets) {
    const best = (key) => Math.max(...rounds.map((round) => round[key])).toFixed(key === 'perSecond' ? 0 : 1);
    console.log(
      `${name.padEnd(8)} ${best('perSecond').padStart(7)} reviews/s   p50 ${best('p50')} ms   p99 ${best('p99')} ms   CPU ${best('processor')} µs per review`,
    );
  }
  const megabytes = await measureMemory(Number(values.count));
  const p99 = Math.max(...server.rounds.map((round) => round.p99));
  const share = mean(server.rounds, 'perSecond') / mean(echo.rounds, 'perSecond');
  const missed = [
    verdict('share of the echo', share, (value) => value >= bars.share, `at least ${bars.share.toFixed(2)}`),
    verdict('p99, ms', p99, (value) => value < bars.p99, `under ${bars.p99}`),
    verdict('resident, MB', megabytes, (value) => value < bars.megabytes, `under ${bars.megabytes}`),
  ].filter((isMet) => !isMet).length;
  process.exitCode = missed > 0 && values.enforce ? 1 : 0;
}

/** Sends the given number of reviews and prints the resident memory of the server after each tenth. */
async function measureMemory(count) {
  const parts = 10;
  console.log(`\nmemory over ${count} further reviews:`);
  let megabytes = residentMegabytes(server.pid);
  for (let part = 1; part <= parts; part += 1) {
    const share = Math.ceil(count / parts);
    const { p99, perSecond } = await drive(server.url, {
      body,
      connections,
      seconds: 1_800,
      count: share,
      ca: server.ca,
    });
    megabytes = residentMegabytes(server.pid);
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
  return { name: 'other', url: values.url, rounds: [], ...trust };
}
