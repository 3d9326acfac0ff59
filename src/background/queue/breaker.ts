import type { Clock } from '../clock.ts';
import type { UpdateRequest } from './update-request.ts';

/** `policy/rule` of every rule whose write triggered the next one, first to last. */
export type Chain = readonly string[];

export interface Breaker {
  /** The rules whose writes led to this request; empty for other users' requests. */
  chainOf(request: UpdateRequest): Chain;
  /** Why the rule may not write again: it has triggered itself too often. */
  refusal(rule: string, chain: Chain): string | undefined;
  /** Records a write over this version of an object; undefined for a new object. */
  wrote(rule: string, chain: Chain, uid: string, version: string | undefined): void;
}

export interface BreakerOptions {
  readonly clock: Clock;
  /** How often a rule may trigger itself, directly or through other rules. */
  readonly rounds?: number | undefined;
}

interface Written {
  readonly chain: Chain;
  readonly at: number;
}

const rememberedMs = 10 * 60_000;
const mostRemembered = 20_000;

/**
 * Rules with `skipBackgroundRequests: false` can trigger each other without end. The breaker recognises its own write in the
 * request that follows, by the object and the version it replaced. It knows the rules that led to a request and stops a
 * rule that keeps coming back.
 */
export function createBreaker({ clock, rounds = 5 }: BreakerOptions): Breaker {
  const written = new Map<string, Written>();

  function forgetOld(): void {
    for (const [key, { at }] of written) {
      if (written.size < mostRemembered && clock.now() - at < rememberedMs) return;
      written.delete(key);
    }
  }

  return {
    chainOf({ trigger, operation, oldVersion }) {
      if (trigger.uid === undefined) return [];
      const version = operation === 'CREATE' ? undefined : oldVersion;
      if (operation !== 'CREATE' && version === undefined) return [];
      return written.get(keyOf(trigger.uid, version))?.chain ?? [];
    },
    refusal(rule, chain) {
      if (chain.filter((each) => each === rule).length < rounds) return undefined;
      const others = [...new Set(chain)].filter((each) => each !== rule);
      const cause = others.length === 0 ? 'triggers itself' : `and ${others.join(', ')} trigger each other`;
      return `stopped: rule ${rule} ${cause} without end, ${rounds} rounds so far`;
    },
    wrote(rule, chain, uid, version) {
      forgetOld();
      const key = keyOf(uid, version);
      written.delete(key);
      written.set(key, { chain: [...chain, rule], at: clock.now() });
    },
  };
}

function keyOf(uid: string, version: string | undefined): string {
  return `${uid}@${version ?? ''}`;
}
