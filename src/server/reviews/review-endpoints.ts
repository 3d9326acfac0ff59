import { reviewText } from '../../admission/review-response.ts';
import type { Json } from '../../json/value.ts';
import type { HttpCount, Metrics } from '../metrics/metrics.ts';
import type { ReviewAnswerer } from './admission-routes.ts';
import type { PolicyScope, Reviewer } from './reviewer.ts';

export interface EndpointOptions {
  readonly reviewer: Reviewer;
  /** Other webhooks, by path. */
  readonly others: ReadonlyMap<string, ReviewAnswerer>;
  readonly metrics: Metrics;
}

/** What is asked for by a path. */
export interface Endpoint {
  readonly path: string;
  /** As metrics name it. */
  readonly route: string;
  readonly answer: (body: Json, milliseconds: number) => Promise<string>;
  readonly countAnswered: HttpCount;
}

const mostEndpoints = 1_000;
const ofOnePolicy = /^\/mutate\/(ignore|fail)\/finegrained\/((?:[\w.-]+\/)?[\w.-]+)$/;

/** The paths of the framework's routes. An API server sends to all of them on the same connections. */
export function createEndpoints({
  reviewer,
  others,
  metrics,
}: EndpointOptions): (path: string) => Endpoint | undefined {
  const known = new Map<string, Endpoint>();
  const add = (path: string, route: string, answer: Endpoint['answer']): Endpoint => {
    const endpoint = { path, route, answer, countAnswered: metrics.httpCount('POST', route, 200) };
    known.set(path, endpoint);
    return endpoint;
  };
  const addReviews = (path: string, route: string, scope: PolicyScope) =>
    add(path, route, async (body, milliseconds) =>
      reviewText(await reviewer(body, scope, milliseconds, path)),
    );
  addReviews('/mutate', '/mutate', { set: 'all' });
  for (const set of ['ignore', 'fail'] as const) addReviews(`/mutate/${set}`, `/mutate/${set}`, { set });
  for (const [path, answer] of others) {
    add(path, path, async (body, milliseconds) => JSON.stringify(await answer(body, milliseconds, path)));
  }
  return (path) => {
    const endpoint = known.get(path);
    if (endpoint !== undefined) return endpoint;
    const [, set, policy] = ofOnePolicy.exec(path) ?? [];
    if (policy === undefined || known.size >= mostEndpoints) return undefined;
    const route = `/mutate/${set}/finegrained/${policy.includes('/') ? ':namespace/:policy' : ':policy'}`;
    return addReviews(path, route, { set: set === 'ignore' ? 'ignore' : 'fail', policy });
  };
}
