import { spendSize, spendSteps } from '../budget.ts';
import { equal } from '../equal.ts';
import { stringifyJson } from '../json-text.ts';
import type { Json, JsonArray } from '../value.ts';
import { cutPoints } from './align-cuts.ts';
import { haveSameIdentity, identityOf } from './item-identity.ts';

/** One step of the conversion of a list into another, in order. Indexes are those of the original lists. */
export type AlignStep =
  | { readonly type: 'keep'; readonly count: number }
  | { readonly type: 'change'; readonly before: number; readonly after: number }
  | { readonly type: 'remove' }
  | { readonly type: 'add'; readonly after: number };

/** A range of both lists, ends excluded. */
export interface Range {
  readonly beforeStart: number;
  readonly beforeEnd: number;
  readonly afterStart: number;
  readonly afterEnd: number;
}

export function keep(count: number, steps: AlignStep[]): void {
  if (count > 0) steps.push({ type: 'keep', count });
}

/** Pairs items by position; the remaining items are removed or added. */
export function pairByPosition(range: Range, steps: AlignStep[]): void {
  let { beforeStart, afterStart } = range;
  while (beforeStart < range.beforeEnd && afterStart < range.afterEnd) {
    steps.push({ type: 'change', before: beforeStart++, after: afterStart++ });
  }
  while (beforeStart++ < range.beforeEnd) steps.push({ type: 'remove' });
  while (afterStart < range.afterEnd) steps.push({ type: 'add', after: afterStart++ });
}

export function wholeRange(before: JsonArray, after: JsonArray): Range {
  return { beforeStart: 0, beforeEnd: before.length, afterStart: 0, afterEnd: after.length };
}

export function withoutEqualEnds(before: JsonArray, after: JsonArray, range: Range): Range {
  let { beforeStart, beforeEnd, afterStart, afterEnd } = range;
  while (
    beforeStart < beforeEnd &&
    afterStart < afterEnd &&
    equal(before[beforeStart] as Json, after[afterStart] as Json)
  ) {
    beforeStart++;
    afterStart++;
  }
  while (
    beforeStart < beforeEnd &&
    afterStart < afterEnd &&
    equal(before[beforeEnd - 1] as Json, after[afterEnd - 1] as Json)
  ) {
    beforeEnd--;
    afterEnd--;
  }
  return { beforeStart, beforeEnd, afterStart, afterEnd };
}

/** Whether items are only removed, only added, or changed in place. */
export function isPairedByPosition(before: JsonArray, after: JsonArray, range: Range): boolean {
  const removed = range.beforeEnd - range.beforeStart;
  const added = range.afterEnd - range.afterStart;
  return removed === 0 || added === 0 || (removed === added && itemsCorrespond(before, after, range));
}

/**
 * Determines which items are kept, changed, removed and added. Equal ends are trimmed first. A small remainder is
 * aligned at the least cost. A larger one is first cut at items of equal content, then at items of equal identity,
 * so the cost stays near linear.
 */
export function alignLists(before: JsonArray, after: JsonArray): AlignStep[] {
  spendSteps(before.length + after.length);
  const steps: AlignStep[] = [];
  align(before, after, wholeRange(before, after), cuts, steps);
  return steps;
}

/** The same for a range without equal ends. */
export function alignRange(before: JsonArray, after: JsonArray, range: Range): AlignStep[] {
  const steps: AlignStep[] = [];
  alignMiddle(before, after, range, cuts, steps);
  return steps;
}

const cuts: readonly ((item: Json) => string | undefined)[] = [contentOf, identityOf];

function contentOf(item: Json): string {
  spendSize(item);
  return stringifyJson(item);
}

// Cells of the least-cost table; a larger remainder is cut up first.
const largestTable = 4096;

function align(
  before: JsonArray,
  after: JsonArray,
  range: Range,
  keys: typeof cuts,
  steps: AlignStep[],
): void {
  const middle = withoutEqualEnds(before, after, range);
  keep(middle.beforeStart - range.beforeStart, steps);
  if (isPairedByPosition(before, after, middle)) pairByPosition(middle, steps);
  else alignMiddle(before, after, middle, keys, steps);
  keep(range.beforeEnd - middle.beforeEnd, steps);
}

function alignMiddle(
  before: JsonArray,
  after: JsonArray,
  range: Range,
  keys: typeof cuts,
  steps: AlignStep[],
): void {
  const cells = (range.beforeEnd - range.beforeStart) * (range.afterEnd - range.afterStart);
  if (cells <= largestTable) alignByCost(before, after, range, steps);
  else alignBetweenCuts(before, after, range, keys, steps);
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

/** The common case: the items at each position correspond. */
function itemsCorrespond(before: JsonArray, after: JsonArray, range: Range): boolean {
  if (range.beforeEnd - range.beforeStart === 1) return true;
  for (let i = range.beforeStart, j = range.afterStart; i < range.beforeEnd; i++, j++) {
    if (!haveSameIdentity(before[i] as Json, after[j] as Json)) return false;
  }
  return true;
}

const cost = { gap: 10, sameIdentity: 10, otherScalar: 12, other: 18 };

function pairCost(a: Json, b: Json): number {
  if (equal(a, b)) return 0;
  if (haveSameIdentity(a, b)) return cost.sameIdentity;
  const scalars = typeof a !== 'object' && typeof b !== 'object';
  return scalars ? cost.otherScalar : cost.other;
}

/** The alignment of least cost, from a table of all pairs. Only for small ranges. */
export function alignByCost(before: JsonArray, after: JsonArray, range: Range, steps: AlignStep[]): void {
  const rows = range.beforeEnd - range.beforeStart;
  const columns = range.afterEnd - range.afterStart;
  const width = columns + 1;
  spendSteps(rows * columns);
  // least[i, j]: the cost of aligning what follows i and j; filled from the end, then walked from the start.
  const least = new Uint32Array((rows + 1) * width);
  const pairs = new Uint8Array(rows * columns);
  const at = (i: number, j: number) => least[i * width + j] as number;
  for (let i = rows; i >= 0; i--) {
    for (let j = columns; j >= 0; j--) {
      if (i === rows || j === columns) {
        least[i * width + j] = (rows - i + columns - j) * cost.gap;
        continue;
      }
      const pair = pairCost(before[range.beforeStart + i] as Json, after[range.afterStart + j] as Json);
      pairs[i * columns + j] = pair;
      least[i * width + j] = Math.min(
        pair + at(i + 1, j + 1),
        cost.gap + Math.min(at(i + 1, j), at(i, j + 1)),
      );
    }
  }
  let i = 0;
  let j = 0;
  while (i < rows && j < columns) {
    const pair = pairs[i * columns + j] as number;
    if (at(i, j) === pair + at(i + 1, j + 1)) {
      if (pair === 0) keep(1, steps);
      else steps.push({ type: 'change', before: range.beforeStart + i, after: range.afterStart + j });
      i++;
      j++;
    } else if (at(i, j) === cost.gap + at(i + 1, j)) {
      steps.push({ type: 'remove' });
      i++;
    } else {
      steps.push({ type: 'add', after: range.afterStart + j });
      j++;
    }
  }
  const { beforeEnd, afterEnd } = range;
  pairByPosition(
    { beforeStart: range.beforeStart + i, beforeEnd, afterStart: range.afterStart + j, afterEnd },
    steps,
  );
}
