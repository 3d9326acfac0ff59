// What the samples of `npm run soak` show.
import { median } from '../../bench/measure.mjs';

/** The lines of a result file. A run that is interrupted may cut off the last one. */
export function readEntries(text) {
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

/** Figures of a run, from the lines of its result file; also of a run that was interrupted. */
export function figuresOf(entries) {
  const samples = (phase) => entries.filter((entry) => entry.phase === phase);
  const result = (name) => entries.find((entry) => entry.result === name);
  const [soak, overload, recovery] = ['soak', 'overload', 'recovery'].map(samples);
  const { capacity, share, perSecond, minutes } = entries.find((entry) => entry.minutes !== undefined) ?? {};
  // The first samples show a server that warms up.
  const settled = soak.slice(Math.ceil(soak.length / 5));
  return {
    capacity,
    share,
    perSecond,
    minutes,
    soak:
      soak.length === 0
        ? undefined
        : {
            seconds: soak.at(-1).seconds,
            isComplete: result('soak') !== undefined,
            ...totals(soak),
            sentPerSecond: rateOf(soak),
            p50: median(soak.map(({ p50 }) => p50)),
            p99: median(soak.map(({ p99 }) => p99)),
            longest: Math.max(...soak.map(({ longest }) => longest)),
            loopDelayMs: median(soak.map(({ loopDelayMs }) => loopDelayMs)),
            worstLoopDelayMs: Math.max(...soak.map(({ loopDelayMs }) => loopDelayMs)),
            slowWindows: soak.filter(({ loopDelayMs }) => loopDelayMs >= 50).length / soak.length,
            residentMegabytes: Math.max(...soak.map(({ residentMegabytes }) => residentMegabytes)),
            memory:
              settled.length < 3
                ? undefined
                : slopeOf(settled.map(({ seconds, residentMegabytes }) => [seconds / 60, residentMegabytes])),
            changes: result('soak')?.changes,
            requests: result('soak')?.requests,
          },
    overload:
      overload.length === 0
        ? undefined
        : {
            capacity: result('overload')?.capacity,
            perSecond: result('overload')?.perSecond,
            seconds: overload.at(-1).seconds,
            isComplete: result('recovery') !== undefined,
            ...totals(overload),
            sentPerSecond: rateOf(overload),
            longest: Math.max(...overload.map(({ longest }) => longest)),
            shedP99: median(overload.map(({ shedP99 }) => shedP99)),
            worstShedP99: Math.max(...overload.map(({ shedP99 }) => shedP99)),
            queue: Math.max(...overload.map(({ queue }) => queue)),
            requests: result('overload')?.requests,
            recoverySeconds: recoveryOf(result('overload'), result('recovery')),
          },
    samples: { soak, overload: [...overload, ...shifted(recovery, overload.at(-1)?.seconds ?? 0)] },
  };
}

/** The slope of a line through points by least squares, and half of its 95 % confidence interval. */
export function slopeOf(points) {
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [meanX, meanY] = [mean(points.map(([x]) => x)), mean(points.map(([, y]) => y))];
  const spread = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  const slope = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0) / spread;
  const residual = points.reduce((sum, [x, y]) => sum + (y - meanY - slope * (x - meanX)) ** 2, 0);
  const error = Math.sqrt(residual / Math.max(1, points.length - 2) / spread);
  return { slope, plusMinus: 1.96 * error };
}

function totals(samples) {
  const sum = (field) => samples.reduce((total, sample) => total + sample[field], 0);
  return { answered: sum('answered'), shed: sum('shed'), failed: sum('failed') };
}

/** Reviews per second that were sent: fewer than were due, if the client found no free connection for some. */
function rateOf(samples) {
  const { answered, shed, failed } = totals(samples);
  return (answered + shed + failed) / samples.at(-1).seconds;
}

/** From the end of the overload until the last review that was not answered, those sent before included. */
function recoveryOf(overload, recovery) {
  if (overload === undefined || recovery === undefined) return undefined;
  const lastAt = Math.max(overload.lastFailureAt, recovery.lastFailureAt);
  return Math.max(0, lastAt - overload.sentUntil) / 1_000;
}

function shifted(samples, seconds) {
  return samples.map((sample) => ({ ...sample, seconds: sample.seconds + seconds }));
}
