// The server's real code path over TLS, next to the floor: 1, 16 and 128 connections, one worker and one per core.
import { availableParallelism } from 'node:os';
import { drive } from './load.mjs';
import {
  body,
  mean,
  residentMegabytes,
  startEcho,
  startKymera,
  takeTurns,
  workerMicroseconds,
} from './webhooks.mjs';

const connectionCounts = [1, 16, 128];
/** The part of the throughput of one worker at which several are compared with it. */
const sharedRate = 0.7;
/** How much more CPU a review may cost with several workers. */
const mostPerWorker = 1.15;
const cores = availableParallelism();

export async function benchServing({ figure }, { seconds, warmUp, rounds }) {
  const alone = await startKymera(1);
  const echo = await startEcho();
  const several = cores > 1 ? await startKymera(cores) : undefined;
  const severalEchoes = cores > 1 ? await startEcho(cores) : undefined;
  const webhooks = [echo, alone, several, severalEchoes].filter((webhook) => webhook !== undefined);
  try {
    for (const { name, url, ca } of webhooks) {
      console.error(`  warming up ${name} …`);
      await drive(url, { body, ca, connections: 16, seconds: warmUp });
    }
    for (const connections of connectionCounts) {
      console.error(`  ${connections} connections: ${webhooks.length * rounds} turns of ${seconds} s …`);
      for (const webhook of webhooks) webhook.rounds = [];
      const before = several === undefined ? [] : workerMicroseconds(several.pid);
      await takeTurns(webhooks, { connections, seconds, rounds });
      report(figure, connections, { echo, alone, several });
      if (severalEchoes !== undefined)
        reportEchoes(figure, connections, { echo, alone, several, severalEchoes });
      if (several !== undefined) reportShares(figure, connections, before, workerMicroseconds(several.pid));
      if (several !== undefined && connections === 16)
        await compareAtOneRate(figure, alone, several, { seconds, rounds });
      reportMemory(figure, connections, { echo, alone, several });
    }
  } finally {
    for (const { stop } of webhooks) stop();
  }
}

function partOf(connections) {
  return `Server, ${connections} connection${connections === 1 ? '' : 's'}`;
}

function report(figure, connections, { echo, alone, several }) {
  const part = partOf(connections);
  const servers = [
    { name: 'one worker', rounds: alone.rounds },
    ...(several === undefined ? [] : [{ name: `${cores} workers`, rounds: several.rounds }]),
  ];
  const floor = (key) => mean(echo.rounds, key);
  figure(part, 'echo: reviews per second', floor('perSecond'), '/s', {
    ratio: 1,
    to: 'itself',
    more: true,
    plot: 'throughput',
    series: 'echo (floor)',
    x: connections,
  });
  for (const { name, rounds } of servers) {
    const value = (key) => mean(rounds, key);
    const ratio = (key) => value(key) / floor(key);
    figure(part, `${name}: reviews per second`, value('perSecond'), '/s', {
      ratio: ratio('perSecond'),
      to: 'the echo server',
      more: true,
      plot: 'throughput',
      series: name,
      x: connections,
      ...(name === 'one worker' && connections === 16 ? { bar: { atLeast: 0.7 } } : {}),
    });
    for (const key of ['p50', 'p99', 'p999']) {
      figure(part, `${name}: ${key.replace('999', '99.9')}`, value(key), 'ms', {
        ratio: ratio(key),
        to: 'the echo server',
        ...(name === 'one worker'
          ? { plot: 'latency', series: key.replace('999', '99.9'), x: connections }
          : {}),
      });
    }
    const isOne = name === 'one worker';
    figure(part, `${name}: CPU per review`, value('processor'), 'µs', {
      ratio: isOne ? ratio('processor') : value('processor') / mean(alone.rounds, 'processor'),
      to: isOne ? 'the echo server' : 'one worker',
      ...(!isOne && connections === 16 ? { bar: { ratio: mostPerWorker } } : {}),
    });
  }
}

/**
 * The CPU time of the same reviews by one worker and by several. At full speed the workers and the client compete for the
 * cores, and each process is slower than alone; what several workers cost shows at a rate that one of them can answer.
 */
async function compareAtOneRate(figure, alone, several, { seconds, rounds }) {
  const perSecond = mean(alone.rounds, 'perSecond') * sharedRate;
  for (const webhook of [alone, several]) webhook.rounds = [];
  await takeTurns([alone, several], { connections: 16, seconds, rounds, perSecond });
  const [one, each] = [alone, several].map(({ rounds }) => mean(rounds, 'processor'));
  const name = `${cores} workers: CPU per review at ${sharedRate * 100} % of the rate of one`;
  figure(partOf(16), name, each, 'µs', {
    ratio: each / one,
    to: 'one worker at this rate',
    bar: { ratio: mostPerWorker },
  });
}

/** What several processes cost on this machine, whatever they do, and what our workers cost beyond that. */
function reportEchoes(figure, connections, { echo, alone, several, severalEchoes }) {
  const cost = ({ rounds }) => mean(rounds, 'processor');
  const ofEcho = cost(severalEchoes) / cost(echo);
  figure(partOf(connections), `echo, ${cores} workers: CPU per review`, cost(severalEchoes), 'µs', {
    ratio: ofEcho,
    to: 'one echo server',
  });
  const own = cost(several) / cost(alone);
  figure(partOf(connections), `${cores} workers: growth of CPU per review`, (own - 1) * 100, '%', {
    ratio: own / ofEcho,
    to: `the growth with ${cores} echo servers`,
    ...(connections === 16 ? { bar: { ratio: mostPerWorker } } : {}),
  });
}

/** How evenly the workers share the reviews, judged by their CPU time: the reviews are alike. With one connection there is nothing to share. */
function reportShares(figure, connections, before, after) {
  if (connections < cores) return;
  const spent = after.map((value, index) => value - (before[index] ?? 0));
  const total = spent.reduce((sum, value) => sum + value, 0);
  const busiest = Math.max(...spent) / total;
  figure(partOf(connections), `${cores} workers: CPU share of the busiest`, busiest * 100, '%', {
    ratio: busiest * cores,
    to: 'an equal share',
    bar: { ratio: 1.2 },
  });
}

/** After the load. */
function reportMemory(figure, connections, { echo, alone, several }) {
  const floor = residentMegabytes(echo.pid);
  const named = [['one worker', alone], ...(several === undefined ? [] : [[`${cores} workers`, several]])];
  for (const [name, { pid }] of named) {
    const value = residentMegabytes(pid);
    figure(partOf(connections), `${name}: memory`, value, 'MB', {
      ratio: value / floor,
      to: 'the echo server',
      bar: { value: name === 'one worker' ? 200 : 200 * cores },
    });
  }
}
