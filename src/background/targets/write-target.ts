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
    /** Skipped by preconditions or anchors. */
    | 'skipped'
    /** Deleted in the meantime. */
    | 'deleted'
    | 'failed'
    /** Another replica has become the leader. */
    | 'abandoned';
  /** The object as stored. */
  readonly stored?: JsonObject | undefined;
  readonly error?: StoreError | undefined;
}

export interface TargetWriter {
  readonly store: ObjectStore;
  readonly clock: Clock;
  /** Evaluates the rule on the current state of the target. */
  again(result: TargetResult, fresh: JsonObject): Promise<TargetResult>;
  isActive(): boolean;
  /** Called before each attempt: the admission request of a write may arrive before its response. */
  beforeWrite?(before: JsonObject | undefined, result: TargetResult): void;
  readonly random?: (() => number) | undefined;
}

const maxAttempts = 30;
const maxPauseMs = 500;

/**
 * Writes a changed target if it still has the version that the rule saw. Otherwise the rule runs again on the current
 * version, so that concurrent writes are not lost.
 */
export async function writeTarget(first: TargetResult, writer: TargetWriter): Promise<TargetWrite> {
  const { store, clock, again, isActive, random = Math.random } = writer;
  let result = first;
  for (let attempt = 1; ; attempt++) {
    const { ref, before, after, outcome } = result;
    if (outcome.status === 'failed') return { result, outcome: 'failed' };
    if (before === undefined || after === undefined || before === after)
      return { result, outcome: outcome.status === 'skipped' ? 'skipped' : 'unchanged' };
    if (!isActive()) return { result, outcome: 'abandoned' };
    writer.beforeWrite?.(before, result);
    try {
      const stored = await store.update(before, after, ref);
      return { result, outcome: 'written', stored };
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      if (error.reason === 'notFound') return { result, outcome: 'deleted' };
      if (error.reason !== 'conflict' || attempt === maxAttempts) return { result, outcome: 'failed', error };
      await pause(clock, random() * Math.min(maxPauseMs, 10 * 2 ** attempt));
      const fresh = await store.get(ref);
      if (fresh === undefined) return { result, outcome: 'deleted' };
      result = await again(result, fresh);
    }
  }
}
