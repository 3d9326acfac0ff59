// `npm run bench:server`: compares the built server with a webhook that only echoes, in alternating turns.
//   --seconds N     duration of a turn (default 5)      --rounds N   turns per server (default 2)
//   --warm-up N     seconds before the first turn (default 15): the first seconds are not typical of a server that runs for months
//   --count N       reviews for the measurement of memory (default 20,000; a million for the bar)
//   --workers N     processes of the server       --url URL    also measure this webhook [--ca FILE | --insecure]
//   --enforce       fail when a bar is missed
import { readFileSync } from 'node:fs';
import { fail, readOptions } from '../scripts/options.mjs';
import { ensureBuilt } from '../scripts/setup.mjs';
import { drive } from './load.mjs';
import { body, mean, residentMegabytes, startEcho, startKymera, takeTurns } from './webhooks.mjs';

const values = readOptions({
  seconds: { is: 'a positive number', default: 5 },
  rounds: { is: 'a positive whole number', default: 2 },
  'warm-up': { is: 'a number of at least 0', default: 15 },
  count: { is: 'a positive whole number', default: 20_000 },
  workers: { is: 'a positive whole number', default: 1 },
  url: {},
  ca: {},
  insecure: { type: 'boolean', default: false },
  enforce: { type: 'boolean', default: false },
});
const connections = 16;
const bars = { share: 0.7, p99: 25, megabytes: 200 };

const other = values.url === undefined ? [] : [await otherTarget(values)];
await ensureBuilt();
const server = await startKymera(values.workers);
const echo = await startEcho();
const targets = [echo, server, ...other];

try {
  await measure();
} finally {
  server.stop();
  echo.stop();
}

async function measure() {
  for (const target of targets) {
    await drive(target.url, { body, connections, seconds: values['warm-up'], ...target });
  }
  await takeTurns(targets, {
    connections,
    seconds: values.seconds,
    rounds: values.rounds,
  });
  console.log(
    `${connections} connections, keep-alive, TLS, ${values.rounds} × ${values.seconds} s each, in turns\n`,
  );
  for (const { name, rounds } of targets) {
    const text = (key, digits = 1) => mean(rounds, key).toFixed(digits);
    // The CPU time of a webhook that we did not start is not known.
    const processor = Number.isNaN(rounds[0].processor) ? '' : `   CPU ${text('processor')} µs per review`;
    console.log(
      `${name.padEnd(8)} ${text('perSecond', 0).padStart(7)} reviews/s   p50 ${text('p50')} ms   p99 ${text('p99')} ms${processor}`,
    );
  }
  const megabytes = await measureMemory(values.count);
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

/** Fails before anything is started if the webhook does not answer. */
async function otherTarget({ url, ca, insecure }) {
  try {
    const trust = ca === undefined ? { insecure } : { ca: readFileSync(ca) };
    if (new URL(url).protocol !== 'https:') throw new Error('webhooks are called over https');
    await drive(url, { body, connections: 1, count: 1, ...trust });
    return { name: 'other', url, rounds: [], ...trust };
  } catch (error) {
    return fail(`--url ${url}: ${error.message}`);
  }
}
