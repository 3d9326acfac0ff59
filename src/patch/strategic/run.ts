import type { Observer } from '../../expression/scope.ts';
import type { Draft } from '../../json/draft.ts';
import { isArray, isObject, type Json, type PathToken, typeOf } from '../../json/value.ts';
import { type AnchorMiss, PatchError } from '../compiled-patch.ts';
import type { SchemaNode } from '../merge-schema.ts';
import type { AnchorTest, OverlayKey, OverlayNode, RunValues } from './tree.ts';

/** One application of an overlay to one object. */
export interface MergeRun extends RunValues {
  /** The current path in the object. */
  readonly path: PathToken[];
  misses: AnchorMiss[] | undefined;
  readonly observer: Observer | undefined;
  /** Absent where anchors can refuse a part after another has been changed, or compare it with the value before. */
  readonly draft: Draft | undefined;
}

/** A condition did not hold: the enclosing list item or, outside any list, the whole overlay is skipped. */
export const skipped: unique symbol = Symbol('skipped');
/** A global anchor did not hold: the whole overlay is skipped. */
export const dropped: unique symbol = Symbol('dropped');

export type Refusal = typeof skipped | typeof dropped;

/** The merged value, undefined for none, or the reason to skip. */
export type Merged = Json | undefined | Refusal;

/** The type alone decides, which costs less than to compare with each of them. */
export function isRefusal(merged: Merged): merged is Refusal {
  return typeof merged === 'symbol';
}

/** Merges a list item; passed in to avoid an import cycle. */
export type MergeNode = (
  node: OverlayNode,
  original: Json | undefined,
  current: Json | undefined,
  schema: SchemaNode | undefined,
  run: MergeRun,
) => Merged;

/** Enough for an explanation, also for lists with thousands of items. */
const mostMisses = 100;

export function recordMiss(run: MergeRun, test: AnchorTest, key: string, actual: Json | undefined): void {
  run.observer?.anchor(test.text, [...run.path, key], false);
  if (hasRoom(run))
    addMiss(run, { anchor: test.text, path: [...run.path, key], expected: test.expected(run), actual });
}

export function hasRoom({ misses }: MergeRun): boolean {
  return misses === undefined || misses.length < mostMisses;
}

export function addMiss(run: MergeRun, miss: AnchorMiss): void {
  run.misses ??= [];
  run.misses.push(miss);
}

export function keyText(key: OverlayKey, run: MergeRun): string {
  if (typeof key === 'string') return key;
  const value = run.slots[key.slot];
  if (typeof value === 'string') return value;
  throw new PatchError('KYM_PATCH_MISMATCH', [...run.path], 'a variable used as a key must be a string');
}

export function mismatch(run: MergeRun, patchHas: string, current: Json): PatchError {
  const there = isArray(current) ? 'list' : isObject(current) ? 'map' : typeOf(current);
  const location = run.path.length === 0 ? 'the object' : `'${run.path.join('.')}'`;
  return new PatchError(
    'KYM_PATCH_MISMATCH',
    [...run.path],
    `the patch has a ${patchHas} at ${location}, where the object has a ${there}`,
  );
}
