import type { KindTable } from '../api/discovery.ts';
import type { HttpRequest } from '../api/transport.ts';
import { createCounts, type Sample } from './counts.ts';
import { createQueryCounts } from './query-counts.ts';

/** Kyverno's names, where a controller does the same work. */
export type ControllerName =
  | 'webhook-controller'
  | 'certmanager-controller'
  | 'policycache-controller'
  | 'policy-status-controller'
  | 'admissionpolicy-generator'
  | 'discovery-controller'
  | 'policy-update-controller'
  | 'update-request-controller';

/** Counts the queries to the API server and the runs of controllers. */
export interface ClusterMetrics {
  queried(request: HttpRequest): void;
  /** Counts runs of a controller, given the number of consecutive failures. A failed run is repeated. */
  endOf(controller: ControllerName): (failures: number) => void;
  /** A controller failed and will not try again. */
  gaveUp(controller: ControllerName): void;
  report(kinds: KindTable, droppedEvents: number): ClusterMetricsReport;
}

export interface ClusterMetricsReport {
  readonly queries: readonly Sample[];
  readonly reconciles: readonly Sample[];
  readonly requeues: readonly Sample[];
  readonly drops: readonly Sample[];
  readonly droppedEvents: number;
}

/** Some of our controllers retry without limit; Kyverno's stop after this number. */
const mostRequeues = 10;

export function createClusterMetrics(ownNamespace: string): ClusterMetrics {
  const queries = createQueryCounts(ownNamespace);
  const reconciles = createCounts();
  const requeues = createCounts();
  const drops = createCounts();
  return {
    queried: queries.add,
    endOf: (controller_name) => (failures) => {
      reconciles.add({ controller_name });
      if (failures > 0)
        requeues.add({ controller_name, num_requeues: String(Math.min(failures, mostRequeues)) });
    },
    gaveUp(controller_name) {
      reconciles.add({ controller_name });
      drops.add({ controller_name });
    },
    report: (kinds, droppedEvents) => ({
      queries: queries.all(kinds),
      reconciles: reconciles.all(),
      requeues: requeues.all(),
      drops: drops.all(),
      droppedEvents,
    }),
  };
}
