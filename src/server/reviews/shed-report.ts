import type { Overloaded } from '../http-error.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { ReviewRoute } from './routes.ts';

const intervalMilliseconds = 10_000;

/** Counts reviews that are shed, and logs them at most once in ten seconds: an overloaded server must not write a line for each. */
export function createShedReport(
  metrics: Pick<Metrics, 'countShed'>,
  log: Log,
  now: () => number = () => performance.now(),
): (error: Overloaded, route: Pick<ReviewRoute, 'label' | 'path'>) => void {
  let sinceLastLine = 0;
  let nextLineAt = Number.NEGATIVE_INFINITY;
  return ({ reason, message }, { label, path }) => {
    metrics.countShed(label, reason);
    sinceLastLine += 1;
    if (now() < nextLineAt) return;
    log.warn({ path, reason: message, reviews: sinceLastLine }, 'reviews shed');
    sinceLastLine = 0;
    nextLineAt = now() + intervalMilliseconds;
  };
}
