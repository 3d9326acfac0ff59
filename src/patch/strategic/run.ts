import type { Observer } from '../../expression/scope.ts';
import { isArray, isObject, type Json, type PathToken, typeOf } from '../../json/value.ts';
import { type AnchorMiss, PatchError } from '../compiled-patch.ts';
import type { SchemaNode } from '../merge-schema.ts';
import type { AnchorTest, OverlayKey, OverlayNode, RunValues } from './tree.ts';

/** One application of an overlay to one object. */
export interface MergeRun extends RunValues {
  /** Where in the object the walk stands. */
  readonly path: PathToken[];
  readonly misses: AnchorMiss[];
  readonly observer: Observer | undefined;
}

/** The list item around a failed condition is left out; outside any list, the whole overlay. */
export const skipped: unique symbol = Symbol('skipped');
/** A global anchor failed: the whole overlay is left out. */
export const dropped: unique symbol = Symbol('dropped');

/** The value to stand there, undefined for none, or why nothing is to be done. */
export type Merged = Json | undefined | typeof skipped | typeof dropped;

/** Lists hand their items back to the walk they belong to. */
export type MergeNode = (
  node: OverlayNode,
  original: Json | undefined,
  current: Json | undefined,
  schema: SchemaNode | undefined,
  run: MergeRun,
) => Merged;

/** Enough to explain; a list of thousands need not be told item by item. */
const mostMisses = 100;

export function recordMiss(run: MergeRun, test: AnchorTest, key: string, actual: Json | undefined): void {
  run.observer?.anchor(test.text, [...run.path, key], false);
  if (run.misses.length >= mostMisses) return;
  run.misses.push({ anchor: test.text, path: [...run.path, key], expected: test.expected(run), actual });
}

export function keyText(key: OverlayKey, run: MergeRun): string {
  if (typeof key === 'string') return key;
  const value = run.slots[key.slot];
  if (typeof value === 'string') return value;
  throw new PatchError('KYM_PATCH_MISMATCH', [...run.path], 'a variable used as a key must yield text');
}

export function mismatch(run: MergeRun, patchHas: string, current: Json): PatchError {
  const there = isArray(current) ? 'list' : isObject(current) ? 'map' : typeOf(current);
  const place = run.path.length === 0 ? 'the object' : `'${run.path.join('.')}'`;
  return new PatchError(
    'KYM_PATCH_MISMATCH',
    [...run.path],
    `the patch has a ${patchHas} at ${place}, where the object has a ${there}`,
  );
}
