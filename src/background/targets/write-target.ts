import type { JsonObject } from '../../json/value.ts';
import type { Clock } from '../clock.ts';
import { pause } from '../clock.ts';
import { type ObjectStore, StoreError } from '../ports.ts';
import type { TargetResult } from './mutate-existing.ts';

export interface TargetWrite {
  readonly result: TargetResult;
  readonly outcome:
    | 'written'
    | 'unchanged'
    /** Preconditions, anchors: the rule left it alone. */
    | 'skipped'
    /** It was deleted meanwhile. */
    | 'gone'
    | 'failed'
    /** Somebody else does the work now. */
    | 'given up';
  /** As it was stored. */
  readonly stored?: JsonObject | undefined;
  readonly error?: StoreError | undefined;
}

export interface TargetWriter {
  readonly store: ObjectStore;
  readonly clock: Clock;
  /** What the rule makes of the target as it is now. */
  again(result: TargetResult, fresh: JsonObject): Promise<TargetResult>;
  isActive(): boolean;
  /** Told before each attempt: the request that a write causes may be here before its answer. */
  beforeWrite?(before: JsonObject | undefined, result: TargetResult): void;
  readonly random?: (() => number) | undefined;
}

const mostAttempts = 30;
const longestPauseMs = 500;

/**
 * Writes what a rule made of a target, provided that the target is still the one the rule saw; else the rule runs again on what is
 * there now. So nothing that others write meanwhile is lost.
 */
export async function writeTarget(first: TargetResult, writer: TargetWriter): Promise<TargetWrite> {
  const { store, clock, again, isActive, random = Math.random } = writer;
  let result = first;
  for (let attempt = 1; ; attempt++) {
    const { ref, before, after, outcome } = result;
    if (outcome.status === 'failed') return { result, outcome: 'failed' };
    if (after === undefined || before === after)
      return { result, outcome: outcome.status === 'skipped' ? 'skipped' : 'unchanged' };
    if (!isActive()) return { result, outcome: 'given up' };
    writer.beforeWrite?.(before, result);
    try {
      const stored = await store.update(after, ref.subresource, ref);
      return { result, outcome: 'written', stored };
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      if (error.reason === 'notFound') return { result, outcome: 'gone' };
      if (error.reason !== 'conflict' || attempt === mostAttempts)
        return { result, outcome: 'failed', error };
      await pause(clock, random() * Math.min(longestPauseMs, 10 * 2 ** attempt));
      const fresh = await store.get(ref);
      if (fresh === undefined) return { result, outcome: 'gone' };
      result = await again(result, fresh);
    }
  }
}
