import type { Json } from '../../json/value.ts';
import type { ReviewAnswerer } from './admission-routes.ts';
import type { PolicyScope } from './reviewer.ts';

type TriggerAnswerer = (body: Json, scope: PolicyScope, milliseconds: number) => Promise<object>;

const path = /^\/validate(?:\/(ignore|fail)(?:\/finegrained\/(.+))?)?$/;

/** `/validate`, `/validate/ignore`, `/validate/fail`, and below each of the two `/finegrained/[NAMESPACE/]POLICY`. */
export function triggerRoutes(answer: TriggerAnswerer): ReadonlyMap<string, ReviewAnswerer> {
  const handle: ReviewAnswerer = (body, milliseconds, url) => answer(body, scopeOf(url), milliseconds);
  const sets = ['ignore', 'fail'].flatMap((set) => [`/validate/${set}`, `/validate/${set}/finegrained/*`]);
  return new Map(['/validate', ...sets].map((route) => [route, handle]));
}

function scopeOf(url: string): PolicyScope {
  const [, set = 'all', policy] = path.exec(url) ?? [];
  const known = set === 'ignore' || set === 'fail' ? set : 'all';
  return policy === undefined ? { set: known } : { set: known, policy: decodeURIComponent(policy) };
}
