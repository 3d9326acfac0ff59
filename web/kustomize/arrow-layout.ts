import type { FieldEnd, ShownReplacement } from '../engine/evaluation.ts';

/** An arrow in the gutter left of the lines. */
export interface Arrow {
  /** The index of the replacement. */
  readonly of: number;
  readonly from: number;
  readonly to: number;
  /** From the right, so that arrows that overlap do not cover each other. */
  readonly lane: number;
}

export const gutterWidth = 44;
const lanes = 5;
const laneWidth = 7;
/** More arrows would be a thicket; the list has them all. */
const mostArrows = 200;

/** Places the arrows of one replacement in one lane. Short ones are nearer to the lines. */
export function layOut(
  replacements: readonly ShownReplacement[],
  middleOf: (end: FieldEnd) => number | undefined,
): readonly Arrow[] {
  const spans = replacements.flatMap(({ source, targets }, of) => {
    const from = source === undefined ? undefined : middleOf(source);
    const to = targets.flatMap((target) => middleOf(target) ?? []);
    if (from === undefined || to.length === 0) return [];
    return [{ of, from, to, top: Math.min(from, ...to), bottom: Math.max(from, ...to) }];
  });
  spans.sort((left, right) => left.bottom - left.top - (right.bottom - right.top));
  const taken: { readonly top: number; readonly bottom: number; readonly lane: number }[] = [];
  return spans
    .flatMap(({ of, from, to, top, bottom }) => {
      const used = new Set(
        taken.filter((other) => other.top <= bottom && top <= other.bottom).map(({ lane }) => lane),
      );
      let lane = 0;
      while (used.has(lane) && lane < lanes - 1) lane++;
      taken.push({ top, bottom, lane });
      return to.map((end) => ({ of, from, to: end, lane }));
    })
    .slice(0, mostArrows);
}

/** From the source line out into the lane, along it, and back to the target line. */
export function arrowPath({ from, to, lane }: Arrow): string {
  const start = gutterWidth - 4;
  const x = start - 7 - lane * laneWidth;
  if (from === to) return `M${start},${from} H${x}`;
  const down = to > from ? 1 : -1;
  const radius = Math.min(6, Math.abs(to - from) / 2);
  return [
    `M${start},${from}`,
    `H${x + radius}`,
    `Q${x},${from} ${x},${from + down * radius}`,
    `V${to - down * radius}`,
    `Q${x},${to} ${x + radius},${to}`,
    `H${gutterWidth - 5}`,
  ].join(' ');
}
