import { equal } from '../equal.ts';
import type { Json, JsonArray } from '../value.ts';
import { type AlignStep, keep, pairByPosition, type Range } from './align-step.ts';
import { identityOf } from './item-identity.ts';

const cost = { gap: 10, sameIdentity: 10, otherScalar: 12, other: 18 };

function pairCost(a: Json, b: Json): number {
  if (equal(a, b)) return 0;
  const identity = identityOf(a);
  if (identity !== undefined && identity === identityOf(b)) return cost.sameIdentity;
  const scalars = typeof a !== 'object' && typeof b !== 'object';
  return scalars ? cost.otherScalar : cost.other;
}

/** The alignment of least cost, by a table of all pairs: for small stretches only. */
export function alignByCost(before: JsonArray, after: JsonArray, range: Range, steps: AlignStep[]): void {
  const rows = range.beforeEnd - range.beforeStart;
  const columns = range.afterEnd - range.afterStart;
  const width = columns + 1;
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
