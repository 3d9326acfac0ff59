// The part of docs/reliability.md about load, and its plots.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { plot } from '../../bench/plot.mjs';
import { root } from '../../scripts/setup.mjs';
import { measuredOn } from '../measured-on.mjs';

/** Each promise, what was measured, and whether it was kept. */
export function promisesOf({ soak, overload }) {
  return [
    ...(soak === undefined ? [] : promisesOfSoak(soak)),
    ...(overload === undefined ? [] : promisesOfOverload(overload)),
  ];
}

function promisesOfSoak({
  answered,
  shed,
  failed,
  loopDelayMs,
  worstLoopDelayMs,
  slowWindows,
  memory,
  requests,
}) {
  const refused = Object.entries(requests ?? {}).filter(([result]) => result !== 'changed');
  return [
    {
      promise: 'No review fails or is lost.',
      measured: `${failed} failed and ${shed} shed of ${whole(answered + shed + failed)}${requests === undefined ? '' : `; ${total(refused)} of ${whole(total(Object.entries(requests)))} requests through the API server`}`,
      isKept: failed + shed + total(refused) === 0,
    },
    {
      promise: 'The p99 of the event loop delay is under 50 ms.',
      measured: `${loopDelayMs.toFixed(0)} ms in the median of all 5 s, ${worstLoopDelayMs.toFixed(0)} ms at worst; 50 ms or more in ${(slowWindows * 100).toFixed(1)} % of them`,
      isKept: slowWindows <= 0.01,
    },
    ...(memory === undefined
      ? []
      : [
          {
            promise: 'Memory is flat: it grows by less than 1 MB per minute.',
            measured: `${memory.slope.toFixed(2)} ± ${memory.plusMinus.toFixed(2)} MB per minute (95 % confidence)`,
            isKept: memory.slope - memory.plusMinus < 1,
          },
        ]),
  ];
}

function promisesOfOverload({
  answered,
  shed,
  failed,
  longest,
  shedP99,
  worstShedP99,
  queue,
  recoverySeconds,
  requests,
}) {
  const unchanged = requests?.['stored unchanged'] ?? 0;
  return [
    {
      promise:
        'Every review is answered or shed; no object is stored without the change of a policy with `failurePolicy: Fail`.',
      measured: `${whole(answered)} answered, ${whole(shed)} shed, ${failed} failed; ${unchanged} stored unchanged`,
      isKept: failed + unchanged === 0,
    },
    {
      promise: 'Reviews that are answered are answered within a second.',
      measured: `${(longest / 1_000).toFixed(2)} s at most`,
      isKept: longest < 1_000,
    },
    {
      promise: 'The queue is bounded, and what does not fit is shed within a second.',
      measured: `at most ${queue} in the queue; p99 until shed ${shedP99.toFixed(0)} ms in the median of all seconds, ${worstShedP99.toFixed(0)} ms at worst`,
      isKept: queue <= 1_000 && worstShedP99 < 1_000,
    },
    ...(recoverySeconds === undefined
      ? []
      : [
          {
            promise: 'The server recovers within five seconds.',
            measured: `${recoverySeconds.toFixed(1)} s from the end of the overload until the last review that was not answered; then half of the capacity`,
            isKept: recoverySeconds < 5,
          },
        ]),
  ];
}

/** Writes the plots, and returns the text. */
export function drawPart(figures) {
  const { soak, overload, capacity, share, perSecond, samples } = figures;
  const line = (name, list, field) => ({
    name,
    type: 'line',
    points: list.map((sample) => [sample.seconds / (list === samples.soak ? 60 : 1), sample[field]]),
  });
  const save = (name, options) =>
    writeFileSync(join(root, 'docs', 'images', `soak-${name}.svg`), plot(options));
  const x = { name: 'minutes', type: 'value' };
  const images = [];
  if (samples.soak.length > 1) {
    save('latency', {
      title: `Latency at ${whole(perSecond)} reviews per second`,
      x,
      y: { name: 'ms', type: 'log' },
      series: [line('p50', samples.soak, 'p50'), line('p99', samples.soak, 'p99')],
    });
    save('process', {
      title: 'The process',
      x,
      y: { name: 'MB, ms', type: 'value' },
      series: [
        line('resident memory, MB', samples.soak, 'residentMegabytes'),
        { ...line('event loop delay p99, ms', samples.soak, 'loopDelayMs'), limit: 50 },
      ],
    });
    images.push(
      '![p50 and p99 of the latency over the time of the soak](images/soak-latency.svg)',
      '![Resident memory and event loop delay over the time of the soak](images/soak-process.svg)',
    );
  }
  if (samples.overload.length > 1) {
    save('overload', {
      title: 'Ten times the capacity, then half of it',
      x: { name: 'seconds', type: 'value' },
      y: { name: 'per second, ms', type: 'log' },
      series: [
        line('answered', samples.overload, 'answered'),
        line(
          'shed',
          samples.overload.filter(({ shed }) => shed > 0),
          'shed',
        ),
        line('longest answer, ms', samples.overload, 'longest'),
      ],
    });
    images.push(
      '![Reviews answered and shed per second during overload and after it](images/soak-overload.svg)',
    );
  }
  const changes = soak?.changes;
  return [
    `${measuredOn()}${interruption(figures)}`,
    '',
    ...(soak === undefined
      ? []
      : [
          `The server answers ${whole(capacity)} reviews per second when each of 32 clients waits for its answer. For ${(soak.seconds / 60).toFixed(1)} minutes, ${whole(perSecond)} per second were due, ${(share * 100).toFixed(0)} % of them; the client sent ${whole(soak.sentPerSecond)}.${
            changes === undefined
              ? ''
              : ` Meanwhile policies changed ${changes.policies} times, all connections to the API server were cut ${changes.watches ?? 0} times, the serving certificate was replaced ${changes.certificates ?? 0} times, the token of the service account ${changes.accountTokens ?? 0} times, and the token in the webhook paths ${changes.pathTokens ?? 0} times.`
          } The p99 of the latency was ${soak.p99.toFixed(0)} ms in the median of all 5 s, the longest answer took ${soak.longest.toFixed(0)} ms, and the process had at most ${soak.residentMegabytes.toFixed(0)} MB.`,
          '',
        ]),
    ...(overload?.capacity === undefined
      ? []
      : [
          `The overload consists of slow reviews, of which the server answers ${whole(overload.capacity)} per second. For ${overload.seconds.toFixed(0)} s, ${whole(overload.perSecond)} per second were due; the client sent ${whole(overload.sentPerSecond)}, ${(overload.sentPerSecond / overload.capacity).toFixed(1)} times the capacity, half of them for policies with \`failurePolicy: Ignore\`.`,
          '',
        ]),
    '| promise | measured | kept |',
    '|---|---|---|',
    ...promisesOf(figures).map(
      ({ promise, measured, isKept }) => `| ${promise} | ${measured} | ${isKept ? 'yes' : '**no**'} |`,
    ),
    '',
    ...images.flatMap((image) => [image, '']),
  ].join('\n');
}

function interruption({ soak, overload, minutes }) {
  if (soak !== undefined && !soak.isComplete)
    return ` The run ended after ${(soak.seconds / 60).toFixed(1)} of ${minutes} minutes.`;
  return overload?.isComplete ? '' : ' The run ended before the recovery from the overload was measured.';
}

function whole(value) {
  return Math.round(value ?? 0).toLocaleString('en');
}

function total(entries) {
  return entries.reduce((sum, [, count]) => sum + count, 0);
}
