import { equal } from '../equal.ts';
import type { Json, JsonArray } from '../value.ts';
import { alignByCost } from './align-by-cost.ts';
import { cutPoints } from './align-cuts.ts';
import { type AlignStep, keep, pairByPosition, type Range } from './align-step.ts';
import { identityOf } from './item-identity.ts';

/**
 * Which items stay, change in place, go and come. Equal ends are trimmed first; what remains is aligned at the least
 * cost when it is small. Larger remainders are first cut at items of equal content, then at items of
 * equal identity, so the cost stays near linear.
 */
export function alignLists(before: JsonArray, after: JsonArray): AlignStep[] {
  const steps: AlignStep[] = [];
  const whole = { beforeStart: 0, beforeEnd: before.length, afterStart: 0, afterEnd: after.length };
  align(before, after, whole, cuts, steps);
  return steps;
}

const cuts: readonly ((item: Json) => string | undefined)[] = [(item) => JSON.stringify(item), identityOf];

// Cells of the least-cost table; a larger remainder is cut up first.
const largestTable = 4096;

function align(
  before: JsonArray,
  after: JsonArray,
  range: Range,
  keys: typeof cuts,
  steps: AlignStep[],
): void {
  let { beforeStart, beforeEnd, afterStart, afterEnd } = range;
  const same = (i: number, j: number) => equal(before[i] as Json, after[j] as Json);
  while (beforeStart < beforeEnd && afterStart < afterEnd && same(beforeStart, afterStart)) {
    beforeStart++;
    afterStart++;
  }
  keep(beforeStart - range.beforeStart, steps);
  while (beforeStart < beforeEnd && afterStart < afterEnd && same(beforeEnd - 1, afterEnd - 1)) {
    beforeEnd--;
    afterEnd--;
  }
  alignMiddle(before, after, { beforeStart, beforeEnd, afterStart, afterEnd }, keys, steps);
  keep(range.beforeEnd - beforeEnd, steps);
}

function alignMiddle(
  before: JsonArray,
  after: JsonArray,
  range: Range,
  keys: typeof cuts,
  steps: AlignStep[],
): void {
  const removed = range.beforeEnd - range.beforeStart;
  const added = range.afterEnd - range.afterStart;
  if (removed === 0 || added === 0 || (removed === added && itemsCorrespond(before, after, range))) {
    pairByPosition(range, steps);
  } else if (removed * added <= largestTable) {
    alignByCost(before, after, range, steps);
  } else {
    alignBetweenCuts(before, after, range, keys, steps);
  }
}

function alignBetweenCuts(
  before: JsonArray,
  after: JsonArray,
  range: Range,
  keys: typeof cuts,
  steps: AlignStep[],
): void {
  const [key, ...rest] = keys;
  if (key === undefined) {
    pairByPosition(range, steps);
    return;
  }
  let { beforeStart, afterStart } = range;
  for (const [i, j] of cutPoints(before, after, range, key)) {
    align(before, after, { beforeStart, beforeEnd: i, afterStart, afterEnd: j }, rest, steps);
    if (equal(before[i] as Json, after[j] as Json)) keep(1, steps);
    else steps.push({ type: 'change', before: i, after: j });
    beforeStart = i + 1;
    afterStart = j + 1;
  }
  align(before, after, { ...range, beforeStart, afterStart }, rest, steps);
}

/** The common case: each item is the changed form of the one at its place. */
function itemsCorrespond(before: JsonArray, after: JsonArray, range: Range): boolean {
  if (range.beforeEnd - range.beforeStart === 1) return true;
  for (let i = range.beforeStart, j = range.afterStart; i < range.beforeEnd; i++, j++) {
    const identity = identityOf(before[i] as Json);
    if (identity === undefined || identity !== identityOf(after[j] as Json)) return false;
  }
  return true;
}
