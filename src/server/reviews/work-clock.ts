export interface WorkClockOptions {
  /** Milliseconds since some moment. */
  readonly now?: (() => number) | undefined;
  /** Milliseconds of processor time that the process has used. */
  readonly processorTime?: (() => number) | undefined;
}

/** Time counts as up to so many times the processor time: a process may get half of a core for good. */
const mostPerProcessorTime = 2;
/** The processor time is read so often at most. A pause that is shorter does not matter. */
const measuredMilliseconds = 5;

/**
 * A clock of the milliseconds in which the process could work. It stops while the process waits for a processor: such a pause
 * delays reviews, but says nothing about how long the next ones take.
 */
export function createWorkClock({
  now = () => performance.now(),
  processorTime = processorMilliseconds,
}: WorkClockOptions = {}): () => number {
  let time = 0;
  let measuredAt = now();
  let usedThen = processorTime();
  return () => {
    const elapsed = now() - measuredAt;
    if (elapsed < measuredMilliseconds) return time + elapsed;
    const used = processorTime();
    // Not less than what was returned before.
    time += Math.max(measuredMilliseconds, Math.min(elapsed, mostPerProcessorTime * (used - usedThen)));
    measuredAt += elapsed;
    usedThen = used;
    return time;
  };
}

function processorMilliseconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
