// Measures functions of this process by their processor time, which depends less on other processes than the clock does.

/**
 * Mean microseconds of processor time of `run` and of `baseline`, and the ratio.
 * They take turns, so that both are measured on an equally busy machine, and the median of the rounds counts.
 */
export async function measurePair(run, baseline, { times = 2_000, rounds = 7 } = {}) {
  const each = { run: [], baseline: [], ratio: [] };
  for (let round = 0; round < rounds; round += 1) {
    const floor = await processorTime(baseline, times);
    const cost = await processorTime(run, times);
    each.baseline.push(floor);
    each.run.push(cost);
    each.ratio.push(cost / floor);
  }
  return { cost: median(each.run), floor: median(each.baseline), ratio: median(each.ratio) };
}

/** Mean microseconds of processor time of one call, after half as many to warm up. */
export async function processorTime(run, times) {
  for (let i = 0; i < times / 2; i += 1) await run();
  const before = process.cpuUsage();
  for (let i = 0; i < times; i += 1) await run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / times;
}

/** Median milliseconds of processor time of some calls. */
export function medianTime(times, run) {
  return median(
    Array.from({ length: times }, () => {
      const before = process.cpuUsage();
      run();
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1000;
    }),
  );
}

export function median(values) {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)];
}

/** The exponent of growth: the slope of a straight line through the logarithms. 1 is linear. */
export function exponent(points) {
  const logs = points.map(([x, y]) => [Math.log(x), Math.log(y)]);
  const mean = (index) => logs.reduce((sum, log) => sum + log[index], 0) / logs.length;
  const [meanX, meanY] = [mean(0), mean(1)];
  const covariance = logs.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0);
  return covariance / logs.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
}
