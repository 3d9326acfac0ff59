import type { Json, JsonArray } from '../value.ts';
import type { Range } from './align.ts';

/** Pairs of items with the same key, in increasing order on both sides. */
export function cutPoints(
  before: JsonArray,
  after: JsonArray,
  range: Range,
  keyOf: (item: Json) => string | undefined,
): [number, number][] {
  const places = new Map<string, number[]>();
  for (let j = range.afterEnd - 1; j >= range.afterStart; j--) {
    const key = keyOf(after[j] as Json);
    if (key === undefined) continue;
    const list = places.get(key);
    if (list) list.push(j);
    else places.set(key, [j]);
  }
  const pairs: [number, number][] = [];
  for (let i = range.beforeStart; i < range.beforeEnd; i++) {
    const key = keyOf(before[i] as Json);
    const j = key === undefined ? undefined : places.get(key)?.pop();
    if (j !== undefined) pairs.push([i, j]);
  }
  return longestIncreasing(pairs);
}

/** The longest run of pairs whose second indexes increase (the first ones already do). */
function longestIncreasing(pairs: readonly [number, number][]): [number, number][] {
  // tails[n]: the pair that ends the best run of length n + 1; previous[k]: the pair before k in its run.
  const tails: number[] = [];
  const previous: number[] = [];
  const second = (place: number | undefined) => pairs[place ?? -1]?.[1] ?? -1;
  for (let k = 0; k < pairs.length; k++) {
    let low = 0;
    let high = tails.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (second(tails[middle]) < second(k)) low = middle + 1;
      else high = middle;
    }
    previous[k] = tails[low - 1] ?? -1;
    tails[low] = k;
  }
  const run: [number, number][] = [];
  for (let k = tails.at(-1) ?? -1; k >= 0; k = previous[k] ?? -1) run.push(pairs[k] as [number, number]);
  return run.reverse();
}
