import type { Clock } from '../clock.ts';
import type { UpdateRequest } from './update-request.ts';

/** `policy/rule` of every rule whose write set off the next, first to last. */
export type Chain = readonly string[];

export interface Breaker {
  /** The rules whose writes led to this request; none for a request of somebody else. */
  chainOf(request: UpdateRequest): Chain;
  /** Why a rule must not write once more: it has come round too often. */
  refusal(rule: string, chain: Chain): string | undefined;
  /** A rule changed the object that had this version; undefined for one that it created. */
  wrote(rule: string, chain: Chain, uid: string, version: string | undefined): void;
}

export interface BreakerOptions {
  readonly clock: Clock;
  /** So often a rule may set itself off, alone or by way of others. */
  readonly rounds?: number | undefined;
}

interface Written {
  readonly chain: Chain;
  readonly at: number;
}

const rememberedMs = 10 * 60_000;
const mostRemembered = 20_000;

/**
 * Rules with `skipBackgroundRequests: false` can set each other off for ever. A write is recognised in the request that it causes by
 * the object and the version that it replaced; so the rules that led to a request are known, and the one that comes round
 * again and again is stopped.
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
      const cause = others.length === 0 ? 'sets itself off' : `and ${others.join(', ')} set each other off`;
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
