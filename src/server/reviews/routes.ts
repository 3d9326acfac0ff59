import createRouter from 'find-my-way';
import { timeToAnswer } from '../../admission/deadline.ts';
import type { Steps } from '../../engine/steps.ts';
import type { Json } from '../../json/value.ts';

/** The policies that a path selects: all, those of one failure policy, or a single one. */
export interface PolicyScope {
  readonly set: 'all' | 'ignore' | 'fail';
  /** The `policyId` of a policy, or a group of policies. */
  readonly policy?: string | undefined;
}

/** Answers the AdmissionReview in a body as JSON in ASCII. Throws MalformedReview for any other body. */
export type Review = (
  body: Json,
  scope: PolicyScope,
  milliseconds: number,
  path: string,
) => Steps<string> | Promise<string>;

export interface Webhooks {
  /** `/mutate`: mutates objects. */
  readonly mutate: Review;
  /** `/validate`: records triggers of background rules. */
  readonly validate?: Review | undefined;
  /** `/policyvalidate`: checks policies. */
  readonly policyvalidate?: Review | undefined;
}

/** What the URL of a request selects. */
export interface ReviewRoute {
  readonly review: Review;
  readonly scope: PolicyScope;
  /** The path in metrics: without the token, and with parameters instead of names. */
  readonly label: string;
  /** The path without the token. */
  readonly path: string;
  /** The first segment of the path; undefined when paths have no token. */
  readonly token: string | undefined;
  /** The milliseconds for the answer; undefined when the stated timeout is not a duration. */
  readonly milliseconds: number | undefined;
  /**
   * Whether the caller should call again if the review is shed. Under `Ignore`, a mutation is not worth the wait, but a trigger
   * that is not recorded is lost.
   */
  readonly isWorthWaiting: boolean;
}

/** Returns the route of a URL; undefined for a URL that belongs to no webhook. */
export type RouteTable = (url: string) => ReviewRoute | undefined;

/** Longer than the name of any object. */
const longestName = 300;
/** API servers use a few URLs over and over. Any caller can add others, so the cache is cleared at this size. */
const rememberedUrls = 1_000;

interface RouteParameters {
  readonly token?: string;
  readonly namespace?: string;
  readonly policy?: string;
}

type RouteOf = (parameters: RouteParameters, milliseconds: number | undefined) => ReviewRoute;

/**
 * The paths of all webhooks: `/policyvalidate`, and for `mutate` and `validate` `/WEBHOOK`, `/WEBHOOK/ignore`,
 * `/WEBHOOK/fail`, and below the last two `/finegrained/[NAMESPACE/]POLICY`, `/mpol/POLICY`, `/nmpol/NAMESPACE/POLICY` and
 * `/mpols/GROUP`. The router is that of fastify, so that both
 * read a URL alike.
 */
export function createRouteTable(webhooks: Webhooks, hasTokens: boolean): RouteTable {
  const router = createRouter({ maxParamLength: longestName });
  const known = new Map<string, ReviewRoute>();

  function add(label: string, review: Review | undefined, set: PolicyScope['set'], prefix = ''): void {
    if (review === undefined) return;
    const base = label.split(':', 1)[0] ?? '';
    const isWorthWaiting = set !== 'ignore' || review === webhooks.validate;
    const routeOf: RouteOf = ({ token, namespace, policy }, milliseconds) => {
      const name = namespace === undefined ? policy : `${namespace}/${policy}`;
      const scope: PolicyScope = name === undefined ? { set } : { set, policy: prefix + name };
      return { review, scope, label, path: base + (name ?? ''), token, milliseconds, isWorthWaiting };
    };
    router.on('POST', `${hasTokens ? '/:token' : ''}${label}`, () => undefined, routeOf);
  }

  add('/policyvalidate', webhooks.policyvalidate, 'all');
  for (const webhook of ['mutate', 'validate'] as const) {
    add(`/${webhook}`, webhooks[webhook], 'all');
    for (const set of ['ignore', 'fail'] as const) {
      const base = `/${webhook}/${set}`;
      add(base, webhooks[webhook], set);
      add(`${base}/finegrained/:policy`, webhooks[webhook], set);
      add(`${base}/finegrained/:namespace/:policy`, webhooks[webhook], set);
      add(`${base}/mpol/:policy`, webhooks[webhook], set, 'mpol:');
      add(`${base}/mpols/:policy`, webhooks[webhook], set, 'mpols:');
      add(`${base}/nmpol/:namespace/:policy`, webhooks[webhook], set, 'nmpol:');
    }
  }

  return (url) => {
    const remembered = known.get(url);
    if (remembered !== undefined) return remembered;
    const found = router.find('POST', url);
    if (found === null) return undefined;
    const { timeout } = found.searchParams as { readonly timeout?: string | readonly string[] };
    const stated = typeof timeout === 'object' ? timeout[0] : timeout;
    const route = (found.store as RouteOf)(found.params as RouteParameters, timeToAnswer(stated));
    if (known.size >= rememberedUrls) known.clear();
    known.set(url, route);
    return route;
  };
}
